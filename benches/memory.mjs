// The peak memory of one scan of a large text, in a process of its own:
//   node benches/memory.mjs MEGABYTES SIDE TYPE PARAMS_AS_JSON
// Prints one JSON object, in MB: what the process took when it had the text, and at most.
import { mixedTexts } from "./corpus.mjs";

const [megabytes, side, type, params] = process.argv.slice(2);
const [piece] = mixedTexts(2 ** 20, 1, 20_000);
// A flat string, as from a request, not a rope of repetitions.
const text = Buffer.from(piece.repeat(Number(megabytes))).toString();
const peak = () => process.resourceUsage().maxRSS / 1024;

const { createScanner } = await import("../dist/index.js");
const before = peak();
const start = performance.now();
const { isValid } = await createScanner(side, type, JSON.parse(params)).scan(text);
console.log(JSON.stringify({ before, peak: peak(), seconds: (performance.now() - start) / 1000, isValid }));
