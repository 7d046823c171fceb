// Measures how many disguised texts PromptInjection flags.
import { createHash } from "node:crypto";
import { random } from "../texts/random.mjs";
import { TRANSFORMS } from "./transforms.mjs";

/** How many texts are scanned at the same time. */
const CONCURRENCY = 4;

/**
 * Scans every text with every transform and every scanner.
 *
 * @param {object} task
 * @param {{ text: string, label: string }[]} task.rows texts; those with the label `injection` are attacks, the others are benign
 * @param {Record<string, any>} task.scanners PromptInjection scanners by name
 * @param {Function} task.scanConversation `scanConversation` of guard
 * @param {string[]} [task.names] names of transforms; default: all
 * @param {number} [task.seed]
 * @param {() => void} [task.onText] called after each text
 * @returns {Promise<{ transform: string, attacks: number, benign: number, recall: Record<string, number>,
 *   falsePositives: Record<string, number> }[]>} shares (0..1) of the texts to which the transform applies
 */
export async function measure({ rows, scanners, scanConversation, names = Object.keys(TRANSFORMS), seed = 1, onText }) {
  const results = [];
  for (const transform of names) {
    const counts = { attacks: 0, benign: 0 };
    const flagged = Object.fromEntries(Object.keys(scanners).map((name) => [name, { attacks: 0, benign: 0 }]));
    let next = 0;
    const scanNext = async () => {
      while (next < rows.length) {
        const { text, label } = rows[next++];
        const kind = label === "injection" ? "attacks" : "benign";
        const disguised = TRANSFORMS[transform](text, randomFor(seed, transform, text));
        if (disguised !== null) {
          counts[kind] += 1;
          // The scanners run at the same time, so that the model computes equal inputs only once.
          const scans = Object.entries(scanners).map(async ([name, scanner]) => {
            if (!(await passes(disguised, scanner, scanConversation))) flagged[name][kind] += 1;
          });
          await Promise.all(scans);
        }
        onText?.();
      }
    };
    await Promise.all(Array.from({ length: CONCURRENCY }, scanNext));
    const shares = (kind) =>
      Object.fromEntries(Object.entries(flagged).map(([name, sums]) => [name, sums[kind] / counts[kind]]));
    results.push({ transform, ...counts, recall: shares("attacks"), falsePositives: shares("benign") });
  }
  return results;
}

/** A generator of random numbers that depends only on the seed, the transform and the text. */
function randomFor(seed, transform, text) {
  return random(createHash("sha256").update(`${seed} ${transform} ${text}`).digest().readUInt32LE());
}

/** Whether a text passes. A list contains the turns of a user; the conversation must pass at every turn. */
async function passes(disguised, scanner, scanConversation) {
  if (typeof disguised === "string") return (await scanner.scan(disguised)).isValid;
  const messages = [];
  for (const turn of disguised) {
    messages.push({ role: "user", content: turn });
    if (!(await scanConversation([scanner], messages)).isValid) return false;
    messages.push({ role: "assistant", content: "Go on, please." });
  }
  return true;
}
