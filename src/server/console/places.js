// Assigns the findings of a reply to the texts of its request.
import { lengthOf } from "./segments.js";

/**
 * @typedef {import("./session.js").Finding} Finding
 * @typedef {import("./session.js").Subject} Subject
 * @typedef {import("./segments.js").Placed} Placed
 * @typedef {{ title: string, text: string, placed: Placed[] }} Block A text of a request with its findings.
 */

const WINDOW = "[window]";
const RISK = "ConversationRisk";

/**
 * Returns the texts of a request with the findings of its reply.
 *
 * @param {Exclude<Subject, { kind: "documents" }>} subject
 * @param {Readonly<Record<string, readonly Finding[]>>} findings by scanner.
 * @param {number} window number of user messages that the server scans together.
 * @returns {{ blocks: Block[], unplaced: Placed[] }} `unplaced` are findings in none of the texts, such as in strings of tool calls.
 */
export function blocksOf(subject, findings, window) {
  const all = Object.entries(findings).flatMap(([scanner, found]) =>
    found.map((finding) => ({ scanner, finding, start: finding.start, end: finding.end })),
  );
  switch (subject.kind) {
    case "prompt":
      return { blocks: [{ title: "Prompt", text: subject.prompt, placed: all }], unplaced: [] };
    case "output":
      return {
        blocks: [
          { title: "Prompt", text: subject.prompt, placed: [] },
          { title: "Answer", text: subject.output, placed: all },
        ],
        unplaced: [],
      };
    case "conversation":
      return conversationBlocks(subject.messages, all, window);
  }
}

/**
 * @param {readonly { role: string, content: string }[]} messages
 * @param {readonly Placed[]} all
 * @param {number} window
 */
function conversationBlocks(messages, all, window) {
  const blocks = messages.map(({ role, content }, index) => ({
    title: `Message ${index + 1}: ${role}`,
    text: content,
    placed: /** @type {Placed[]} */ ([]),
  }));
  const userBlocks = blocks.filter((_, index) => messages[index]?.role === "user");
  /** @type {Placed[]} */
  const unplaced = [];
  for (const item of all) {
    if (item.scanner.endsWith(WINDOW)) {
      placeInJoined(item, userBlocks.slice(-window));
      continue;
    }
    const block = item.scanner === RISK ? riskyBlock(item.finding, userBlocks) : blockOf(item.finding, blocks);
    if (block) block.placed.push(item);
    else unplaced.push(item);
  }
  return { blocks, unplaced };
}

/**
 * @param {Finding} finding
 * @param {readonly Block[]} blocks
 */
function blockOf({ message = -1, path }, blocks) {
  return path === undefined || path === `messages/${message}/content` ? blocks[message] : undefined;
}

/**
 * @param {Finding} finding with a label such as `user message 2`.
 * @param {readonly Block[]} userBlocks
 */
function riskyBlock({ label = "" }, userBlocks) {
  return userBlocks[Number(/\d+$/.exec(label)?.[0]) - 1];
}

/**
 * Places a finding in texts that were joined by line breaks. It may cover several of them.
 *
 * @param {Placed} item
 * @param {readonly Block[]} blocks
 */
function placeInJoined(item, blocks) {
  let offset = 0;
  for (const block of blocks) {
    const length = lengthOf(block.text);
    const start = Math.max(0, item.start - offset);
    const end = Math.min(length, item.end - offset);
    if (start < end) block.placed.push({ ...item, start, end });
    offset += length + 1;
  }
}
