// Measures how many labelled texts PromptInjection flags when they are disguised.
import { createHash } from "node:crypto";
import { random } from "../texts/random.mjs";
import { TRANSFORMS } from "./transforms.mjs";

/** The number of texts that are scanned at the same time. */
const CONCURRENCY = 4;

/**
 * Scans every text under every transform with every scanner.
 *
 * @param {object} task
 * @param {{ text: string, label: string }[]} task.rows texts; those with the label `injection` should be flagged, the others not
 * @param {Record<string, any>} task.scanners PromptInjection scanners by the name of a column
 * @param {Function} task.scanConversation `scanConversation` of guard
 * @param {string[]} [task.names] transforms; default: all
 * @param {number} [task.seed]
 * @param {() => void} [task.onText] called after each text
 * @returns {Promise<{ transform: string, attacks: number, benign: number, recall: Record<string, number>,
 *   falsePositives: Record<string, number> }[]>} shares, 0..1, of the texts to which the transform applies
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
          // Both scan at the same time, so that the model computes equal questions only once.
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

/** Random numbers that depend on the seed, the transform and the text only, not on what else is measured. */
function randomFor(seed, transform, text) {
  return random(createHash("sha256").update(`${seed} ${transform} ${text}`).digest().readUInt32LE());
}

/** Whether a text passes. A list is taken as the turns of a user, and the conversation must pass at every turn. */
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
