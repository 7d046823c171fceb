// Measures whether a verdict of PromptInjection depends on what surrounds a text.
import { random } from "../texts/random.mjs";
import { FORMATS } from "./formats.mjs";
import { padding } from "./padding.mjs";

/** The bytes of harmless text around an attack. */
export const SIZES = [1_000, 10_000, 100_000];
/** How many texts are scored at the same time. */
export const BATCHES = [2, 8, 32];

/** Where texts of tools come from. */
const DATA = { source: "tool" };

/** Scans a text as the result of a tool. */
async function scan(scanner, text) {
  const { isValid, probability = 0 } = await scanner.scan(text, DATA);
  return { isFlagged: !isValid, probability };
}

/**
 * The same sentence in every format. For each pair: the probabilities of its fact by format, and whether its attack is found.
 *
 * @returns {Promise<{ lang: string, fact: Record<string, number>, flagged: string[], attack: Record<string, number>, found: string[] }[]>}
 */
export async function measureFormats(scanner, pairs) {
  const results = [];
  for (const { lang, fact, attack } of pairs) {
    const result = { lang, fact: {}, flagged: [], attack: {}, found: [] };
    for (const [format, write] of Object.entries(FORMATS)) {
      const [harmless, harmful] = [await scan(scanner, write(fact)), await scan(scanner, write(attack))];
      result.fact[format] = harmless.probability;
      result.attack[format] = harmful.probability;
      if (harmless.isFlagged) result.flagged.push(format);
      if (harmful.isFlagged) result.found.push(format);
    }
    results.push(result);
  }
  return results;
}

/**
 * Each attack, and the fact in its place, alone and at a random place of harmless text, as a sentence among others.
 *
 * @returns {Promise<Record<string, { attacks: number, found: number, flagged: number, lost: number }>>} counts by the size of the text.
 *   `lost` are the attacks that are found alone only.
 */
export async function measurePadding(scanner, pairs, { sizes = SIZES, seed = 1, onText } = {}) {
  const counts = {};
  const foundAlone = new Set();
  for (const size of [0, ...sizes]) {
    const count = { attacks: pairs.length, found: 0, flagged: 0, lost: 0 };
    for (const [index, { fact, attack }] of pairs.entries()) {
      const next = random(seed * 1000 + index);
      const sentences = padding(size, next);
      const at = Math.floor(next() * (sentences.length + 1));
      const within = (text) => sentences.toSpliced(at, 0, text).join(" ");
      const { isFlagged: isFound } = await scan(scanner, within(attack));
      const { isFlagged } = await scan(scanner, within(fact));
      count.found += Number(isFound);
      count.flagged += Number(isFlagged);
      if (size === 0 && isFound) foundAlone.add(index);
      count.lost += Number(foundAlone.has(index) && !isFound);
      onText?.();
    }
    counts[size] = count;
  }
  return counts;
}

/**
 * Each text alone, and at the same time as others.
 *
 * @returns {Promise<Record<string, { texts: number, different: number, greatest: number }>>} by the number of texts: how many have another
 *   probability than alone, and the greatest difference.
 */
export async function measureBatches(scanner, pairs, { batches = BATCHES } = {}) {
  const formats = Object.values(FORMATS);
  const texts = pairs.flatMap(({ fact, attack }, index) => [fact, formats[index % formats.length](attack)]);
  const alone = [];
  for (const text of texts) alone.push((await scan(scanner, text)).probability);
  const counts = {};
  for (const size of batches) {
    const count = { texts: texts.length, different: 0, greatest: 0 };
    for (let start = 0; start < texts.length; start += size) {
      const batch = texts.slice(start, start + size);
      const scored = await Promise.all(batch.map((text) => scan(scanner, text)));
      for (const [index, { probability }] of scored.entries()) {
        const difference = Math.abs(probability - alone[start + index]);
        count.different += Number(difference !== 0);
        count.greatest = Math.max(count.greatest, difference);
      }
    }
    counts[size] = count;
  }
  return counts;
}
