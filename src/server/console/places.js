// Tells which text of a request each finding of its reply is in.
import { lengthOf } from "./segments.js";

/**
 * @typedef {import("./client.js").Finding} Finding
 * @typedef {import("./client.js").Subject} Subject
 * @typedef {import("./segments.js").Placed} Placed
 * @typedef {{ title: string, text: string, placed: Placed[] }} Block A text of a request and what was found in it.
 */

const WINDOW = "[window]";
const TOOL = "[tool]";
const RISK = "ConversationRisk";

/**
 * The texts of a request, with the findings of a reply that rewrote nothing: its offsets are those of the texts that were sent.
 *
 * @param {Subject} subject
 * @param {Readonly<Record<string, readonly Finding[]>>} findings by scanner.
 * @param {number} window how many user messages the server looks at together.
 * @returns {{ blocks: Block[], unplaced: number }} `unplaced` is the number of findings that cannot be shown in a text: the
 *   reply does not say which of several tool results they are in.
 */
export function blocksOf(subject, findings, window) {
  const all = Object.entries(findings).flatMap(([scanner, found]) =>
    found.map((finding) => ({ scanner, finding, start: finding.start, end: finding.end })),
  );
  switch (subject.kind) {
    case "prompt":
      return { blocks: [{ title: "Prompt", text: subject.prompt, placed: all }], unplaced: 0 };
    case "output":
      return {
        blocks: [
          { title: "Prompt", text: subject.prompt, placed: [] },
          { title: "Output", text: subject.output, placed: all },
        ],
        unplaced: 0,
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
  const latest = userBlocks.at(-1);
  const since = latest ? blocks.indexOf(latest) : -1;
  // The server reads the tool results that come after the latest user message.
  const toolBlocks = blocks.filter((_, index) => index > since && messages[index]?.role === "tool");
  let unplaced = 0;
  for (const item of all) {
    if (item.scanner.endsWith(WINDOW)) {
      placeInJoined(item, userBlocks.slice(-window));
      continue;
    }
    const block = item.scanner.endsWith(TOOL)
      ? toolBlocks.find(({ text }) => toolBlocks.length === 1 || holds(text, item.finding))
      : item.scanner === RISK
        ? userBlocks[Number(/\d+$/.exec(item.finding.label ?? "")?.[0]) - 1]
        : latest;
    if (block) block.placed.push(item);
    else unplaced++;
  }
  return { blocks, unplaced };
}

/**
 * Places a finding whose offsets count in several texts joined by line breaks. It may lie in several of these texts.
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

/**
 * Tells whether a text contains the finding's text at the finding's offsets.
 *
 * @param {string} text
 * @param {Finding} finding
 */
function holds(text, { start, end, text: found }) {
  return found !== undefined && Array.from(text).slice(start, end).join("") === found;
}
