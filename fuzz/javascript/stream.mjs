// Answers in pieces: the output is that for the whole answer, wherever the answer is split.
import assert from "node:assert/strict";
import fc from "fast-check";
import { output, scanOutput, scanOutputStream, Vault } from "../../dist/index.js";
import { InvisibleText } from "../../dist/scanners/generated/input-scanners.js";
import { Deanonymize } from "../../dist/scanners/generated/output-scanners.js";

const scanners = [
  new Deanonymize(),
  new output.Secrets(),
  new InvisibleText(),
  new output.Sensitive({ redact: true, recognizerConf: [] }),
];
const VAULT = [["[REDACTED_PERSON_1]", "Ann Lee"]];
// A value that is a secret only because of a name after it was already output when the name arrives, so the parts have
// no such value.
const parts = fc.oneof(
  fc.string({ unit: "grapheme" }),
  fc.constantFrom(
    "[REDACTED_PERSON_1]",
    "[REDACTED_",
    "ann@example.org",
    'password = "k7Qz2mXw9LrT4vBn"',
    "4111 1111 1111 1111",
  ),
  fc.constantFrom(
    "\u200b",
    "\u{e0041}\u{e0042}",
    "😀",
    ". ",
    "\n\n",
    "ghp_",
    "A".repeat(40),
    "The sun is warm today. ",
    "\ud83d",
  ),
);

export const property = fc.asyncProperty(
  fc.array(parts, { maxLength: 20 }),
  fc.array(fc.nat(), { maxLength: 12 }),
  async (list, cuts) => {
    const text = list.join("").toWellFormed?.() ?? list.join("");
    const whole = await scanOutput(scanners, "", text, { vault: new Vault(VAULT) });
    const at = [0, ...cuts.map((cut) => cut % (text.length + 1)), text.length].sort((a, b) => a - b);
    const pieces = at.slice(1).map((end, index) => text.slice(at[index], end));
    const masking = ["Secrets", "Sensitive", "InvisibleText"];
    const scanned = scanOutputStream(scanners, "", pieces, { vault: new Vault(VAULT), masking });
    let out = "";
    for await (const piece of scanned) out += piece;
    const report = await scanned.report;
    assert.equal(out, whole.sanitizedOutput);
    assert.deepEqual(report.resultsValid, whole.resultsValid);
    assert.deepEqual(report.findings, whole.findings);
  },
);
