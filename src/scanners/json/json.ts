import { z } from "zod";
import { addon, native } from "../../native.ts";
import type { Edit } from "../../scan/edits.ts";
import { type Finding, type Verdict, wholeText } from "../../scan/scanner.ts";
import { FAILED, PASSED } from "../../scan/score.ts";
import { shortenPath } from "../../support/shorten-path.ts";
import { TimeSlice } from "../../support/time-slice.ts";
import { mapRowsInSlices } from "../../text/rows.ts";
import type { Span } from "../../text/span.ts";
import { defineScanner } from "../definition.ts";
import { JsonSchema, patternDeadline } from "../parts/json-schema.ts";
import { withEdits } from "../parts/redaction.ts";
import { repairJson } from "./json-repair.ts";

/** A piece of JSON in a text. */
interface Piece extends Span {
  problem?: Finding;
}

// The class is exported as JSON. This constant has another name so that it does not hide the global object JSON.
export const JSONScanner = defineScanner({
  type: "JSON",
  summary:
    "Fails outputs with broken JSON that can not be repaired, with less JSON than required, or with JSON that a schema forbids.",
  description: `JSON are the outermost objects and arrays of the text, in prose and in code fences, by RFC 8259 and nested at most 1000 deep.
The text around them and what is valid stays as it is; broken JSON is repaired where it stands, by the library jsonrepair.

What llm-guard 0.3.16 does differently:

- It does not see arrays, nor braces in strings (\`{"a": "}"}\` is broken to it), nor JSON that was cut off: that passes.
- It takes everything between braces for broken JSON and "repairs" it: \`Hello {name}\` becomes \`Hello {}\` and the body of a
  function is lost. Here broken JSON is only what is clearly meant as JSON: in a fence tagged as JSON every object and array; elsewhere
  an object whose first key is in quotes and followed by a colon, and an array of such objects; and an answer that is one object or array as
  a whole, also with keys without quotes if its values are those of JSON. Templates, programs, style sheets, types and sets are left
  alone.
- A blank answer passes it, whatever \`required_elements\` says.
- Its repair writes all of the JSON anew, drops duplicate keys and makes large numbers \`Infinity\`; \`NaN\` is valid to it.`,
  sides: { output: {} },
  options: () => ({
    requiredElements: z
      .number()
      .int()
      .min(0)
      .default(0)
      .describe("How many valid objects and arrays there have to be."),
    repair: z.boolean().default(true).describe("Repairs broken JSON in the text."),
    schema: z
      .union([z.record(z.string(), z.unknown()), z.boolean()])
      .optional()
      .describe(
        "A JSON Schema (2020-12) that every object and array has to match. Its patterns have no look-around and no back-references.",
      ),
  }),
  differences: [
    {
      text:
        "Broken JSON is checked as one value, and what is not clearly meant as JSON, such as code or templates in braces, is left alone. " +
        "A blank answer fails `required_elements`.",
    },
  ],
  findings: [
    { type: "json", label: "What is wrong with broken JSON, and where." },
    { type: "json-schema", label: "Where the JSON breaks the schema, and how." },
    { type: "json-missing", label: "How many valid pieces of JSON there are of those that are required." },
  ],
  examples: {
    passes: [
      '{"name": "Ada", "born": 1815}',
      "No JSON at all.",
      { text: '{"name": "Ada", "born": 1815', sanitized: '{"name": "Ada", "born": 1815}' },
    ],
    fails: [
      { options: { requiredElements: 1 }, text: "No JSON at all." },
      { options: { repair: false }, text: '{"name": "Ada", "born": 1815' },
    ],
  },
  create({ options: { requiredElements, repair, schema: given } }) {
    const schema = given === undefined ? undefined : new JsonSchema(given);
    const verdict = (text: string, pieces: readonly Piece[], edits: readonly Edit[]): Verdict => {
      const problems: Finding[] = [];
      for (const { problem } of pieces) if (problem) problems.push(problem);
      const valid = pieces.length - problems.length;
      if (valid < requiredElements) {
        const label = `${valid} of ${requiredElements} required elements`;
        problems.push({ start: 0, end: text.length, type: "json-missing", score: 1, label });
      }
      const isValid = problems.length === 0;
      return {
        isValid,
        score: isValid ? PASSED : FAILED,
        ...withEdits(edits),
        findings: problems,
        coverage: wholeText(text),
      };
    };
    return {
      sanitizes: repair,
      // What cannot be repaired, and what is missing, is not taken out.
      leavesFindings: true,
      // llm-guard passes a blank answer, whatever is required of it.
      checksEmpty: requiredElements > 0,
      check(text, { signal }) {
        // Most answers hold no JSON, and to see that takes less than to call the addon.
        if (!text.includes("{") && !text.includes("[")) return verdict(text, [], []);
        return readPieces(text, { repair, schema, signal }).then(({ pieces, edits }) => verdict(text, pieces, edits));
      },
    };
  },
});

/** The settings that say how the JSON in a text is read. */
interface ReadSettings {
  repair: boolean;
  schema: JsonSchema | undefined;
  signal: AbortSignal | undefined;
}

/** Returns the pieces of JSON in a text, which it checked, and the edits that repair those that were broken. */
async function readPieces(
  text: string,
  { repair, schema, signal }: ReadSettings,
): Promise<{ pieces: Piece[]; edits: Edit[] }> {
  const { pieces, messages } = await native(() => addon.findJson(text), { signal });
  const slice = new TimeSlice(signal);
  const candidate = (column: (index: number) => number) => ({
    ...{ start: column(0), end: column(1), at: column(2) },
    ...{ message: messages[column(3)], repairable: column(4) > 0 },
  });
  const candidates = await mapRowsInSlices(pieces, 5, candidate, slice);
  const broken = repair ? candidates.filter(({ repairable }) => repairable) : [];
  const repairs = broken.length === 0 ? [] : await repairJson(text, broken, signal);
  let tried = 0;
  const until = patternDeadline(text.length);
  const read: Piece[] = [];
  const edits: Edit[] = [];
  for (const candidate of candidates) {
    if (slice.isOver) await slice.next();
    const replacement = candidate === broken[tried] ? repairs[tried++] : undefined;
    read.push(checked(candidate, replacement));
    if (replacement !== undefined) edits.push({ start: candidate.start, end: candidate.end, replacement });
  }
  return { pieces: read, edits };

  function checked({ start, end, message, at }: (typeof candidates)[number], repaired: string | undefined): Piece {
    const json = repaired ?? text.slice(start, end);
    if (message !== undefined && repaired === undefined) {
      const label = `${message} at offset ${at}`;
      return { start, end, problem: { start, end, type: "json", text: json, score: 1, label } };
    }
    const problem = schema?.check(json, until);
    if (!problem) return { start, end };
    const label = `${shortenPath(problem.pointer) || "(root)"} ${problem.message}`;
    return { start, end, problem: { start, end, type: "json-schema", text: text.slice(start, end), score: 1, label } };
  }
}
