// A custom scanner. Any object of this shape works in a list with guard's scanners.
//   node examples/custom-scanner.mjs
import { scanPrompt } from "guard-scan";
import { Regex } from "guard-scan/input-scanners";

/** Fails a prompt if more than half of its letters are capitals. */
const shouting = {
  type: "Shouting",
  name: "Shouting",
  // A scanner that never changes the text may run in parallel with others.
  sanitizes: false,
  async scan(text) {
    const letters = text.match(/\p{L}/gu) ?? [];
    const capitals = text.match(/\p{Lu}/gu) ?? [];
    const probability = letters.length === 0 ? 0 : capitals.length / letters.length;
    const isValid = probability <= 0.5;
    return {
      isValid,
      score: isValid ? -1 : 1,
      probability,
      findings: isValid ? [] : [{ start: 0, end: text.length, type: "shouting", score: probability }],
      coverage: { chars: text.length, scannedChars: text.length, truncated: false, windows: 1 },
    };
  },
};

const scanners = [new Regex({ patterns: ["\\bEMP-\\d{6}\\b"] }), shouting];
for (const prompt of ["Where is EMP-123456?", "WHERE IS MY PARCEL?", "Where is my parcel?"]) {
  const { isValid, resultsScore } = await scanPrompt(scanners, prompt);
  console.log(isValid, resultsScore);
}

// Prints:
//   false { Regex: 1, Shouting: 1 }
//   false { Regex: -1, Shouting: 1 }
//   true { Regex: -1, Shouting: -1 }
