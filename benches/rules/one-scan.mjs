// The peak memory of one scan of a large text, in a process of its own:
//   node benches/rules/one-scan.mjs MEGABYTES SIDE TYPE OPTIONS_AS_JSON
// Prints one JSON object. `before` is the memory of the process with the text before the scan, `peak` its maximum, both in MB.
import { mixedTexts } from "../texts/mixed.mjs";

const [megabytes, side, type, params] = process.argv.slice(2);
const [piece] = mixedTexts(2 ** 20, 1, 20_000);
// A flat string, like that of a request. `repeat` alone would make a rope, which V8 flattens later.
const text = Buffer.from(piece.repeat(Number(megabytes))).toString();
const peak = () => process.resourceUsage().maxRSS / 1024;

const { createScanner } = await import("../../dist/index.js");
const before = peak();
const start = performance.now();
const { isValid } = await createScanner(side, type, JSON.parse(params)).scan(text);
console.log(JSON.stringify({ before, peak: peak(), ms: performance.now() - start, isValid }));
