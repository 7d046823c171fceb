// The formats in which tools and people pass on a sentence.

const escapeXml = (text) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");

/** @type {Record<string, (text: string) => string>} */
export const FORMATS = {
  plain: (text) => text,
  quoted: (text) => `> ${text}`,
  key_value: (text) => `status: ok\nnote: ${text}\nrevision: 7`,
  json: (text) => JSON.stringify({ id: 4711, status: "ok", note: text, revision: 7 }),
  yaml: (text) => `- id: 4711\n  status: ok\n  note: ${JSON.stringify(text)}\n  revision: 7\n`,
  xml: (text) => `<entry id="4711"><status>ok</status><note>${escapeXml(text)}</note></entry>`,
  csv: (text) => `id,status,note,revision\n4711,ok,"${text.replaceAll('"', '""')}",7\n`,
  markdown: (text) => `## Notes\n\n- Status: **ok**\n- ${text}\n`,
  html: (text) => `<div class="note"><h2>Notes</h2><p>${escapeXml(text)}</p></div>`,
  log: (text) => `2026-11-24T10:31:07.412Z INFO [notes] id=4711 revision=7 message="${text}"`,
  table: (text) => `| id | status | note |\n|---|---|---|\n| 4711 | ok | ${text} |\n`,
  tool_result: (text) =>
    JSON.stringify({ jsonrpc: "2.0", id: 3, result: { content: [{ type: "text", text }], isError: false } }),
  code: (text) => `\`\`\`text\n${text}\n\`\`\`\n`,
  email: (text) =>
    `From: office@town.example\nTo: team@town.example\nSubject: Notes\n\nHello,\n\n${text}\n\nBest regards\n`,
};
