// How much of labelled texts PromptInjection flags when they are written otherwise.
import { createHash } from "node:crypto";
import { randomFrom, TRANSFORMS } from "./transforms.mjs";

/** Texts that are scanned at a time. */
const CONCURRENCY = 4;

/**
 * Flags every text under every transform with every scanner.
 *
 * @param {object} task
 * @param {{ text: string, label: string }[]} task.rows texts; those of label `injection` are to be flagged, the others not
 * @param {Record<string, any>} task.scanners PromptInjection scanners by the name of a column
 * @param {Function} task.scanConversation guard's
 * @param {string[]} [task.names] transforms; default: all
 * @param {number} [task.seed]
 * @param {() => void} [task.onText] called after each text
 * @returns {Promise<{ transform: string, attacks: number, benign: number, recall: Record<string, number>,
 *   falsePositives: Record<string, number> }[]>} shares, 0..1; of the texts that the transform applies to
 */
export async function measure({ rows, scanners, scanConversation, names = Object.keys(TRANSFORMS), seed = 1, onText }) {
  const results = [];
  for (const transform of names) {
    const counts = { attacks: 0, benign: 0 };
    const flagged = Object.fromEntries(Object.keys(scanners).map((name) => [name, { attacks: 0, benign: 0 }]));
    let next = 0;
    const work = async () => {
      while (next < rows.length) {
        const { text, label } = rows[next++];
        const kind = label === "injection" ? "attacks" : "benign";
        const written = TRANSFORMS[transform](text, randomFor(seed, transform, text));
        if (written !== null) {
          counts[kind] += 1;
          // At the same time: what both ask of the model is computed once.
          const scans = Object.entries(scanners).map(async ([name, scanner]) => {
            if (!(await passes(written, scanner, scanConversation))) flagged[name][kind] += 1;
          });
          await Promise.all(scans);
        }
        onText?.();
      }
    };
    await Promise.all(Array.from({ length: CONCURRENCY }, work));
    const shares = (kind) =>
      Object.fromEntries(Object.entries(flagged).map(([name, sums]) => [name, sums[kind] / counts[kind]]));
    results.push({ transform, ...counts, recall: shares("attacks"), falsePositives: shares("benign") });
  }
  return results;
}

/** The same numbers for the same text, whatever else is measured. */
function randomFor(seed, transform, text) {
  return randomFrom(createHash("sha256").update(`${seed} ${transform} ${text}`).digest().readUInt32LE());
}

/** Whether a text passes, or a conversation with these turns of the user, at every turn. */
async function passes(written, scanner, scanConversation) {
  if (typeof written === "string") return (await scanner.scan(written)).isValid;
  const messages = [];
  for (const turn of written) {
    messages.push({ role: "user", content: turn });
    if (!(await scanConversation([scanner], messages)).isValid) return false;
    messages.push({ role: "assistant", content: "Go on, please." });
  }
  return true;
}
