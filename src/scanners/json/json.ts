import { z } from "zod";
import { addon, native } from "../../native.ts";
import type { Edit } from "../../scan/edits.ts";
import { type Finding, type Verdict, wholeText } from "../../scan/scanner.ts";
import { FAILED, PASSED } from "../../scan/score.ts";
import { shortenPath } from "../../support/shorten-path.ts";
import { TimeSlice } from "../../support/time-slice.ts";
import { mapRowsInSlices } from "../../text/rows.ts";
import type { Span } from "../../text/span.ts";
import { defineScanner } from "../define-scanner.ts";
import { JsonSchema, patternDeadline } from "../parts/json-schema.ts";
import { withEdits } from "../parts/redaction.ts";

/** A piece of JSON in a text. */
interface Piece extends Span {
  problem?: Finding;
}

// The class is exported as JSON. This constant has another name so that it does not hide the global object JSON.
export const JSONScanner = defineScanner({
  type: "JSON",
  summary:
    "Fails outputs with broken JSON that cannot be repaired, with less JSON than required, or with JSON that violates a schema.",
  description: `The scanner reads the outermost objects and arrays of a text, in prose and in code fences, by RFC 8259 and nested up to 1000
levels. It repairs broken JSON in place: it adds missing brackets, quotes and commas, removes comments and trailing commas, and replaces
\`True\`, \`None\` and single quotes. Valid JSON, the text around it and the content of every string stay unchanged. Where two readings
exist, the JSON stays broken and the output fails: \`"C:\\dir\\new"\` (a line break, or a folder), \`"It is 70", a lot"\` (the end of the string), \`1; 2\`, \`007\`, \`NaN\`.

What llm-guard 0.3.16 does differently:

- It ignores arrays, braces in strings (so \`{"a": "}"}\` counts as broken) and truncated JSON, which passes.
- It takes everything between braces for broken JSON and "repairs" it: \`Hello {name}\` becomes \`Hello {}\`, and the body of a function is
  lost. Here only text that is clearly meant as JSON counts as broken JSON: in a fence tagged as JSON, every object and array; elsewhere,
  an object whose first key is in quotes and followed by a colon, and an array of such objects; and an answer that is one object or
  array, even with keys without quotes, if its values are JSON values. Templates, programs, style sheets, types and sets are ignored.
- It passes a blank answer, whatever \`required_elements\` says.
- Its repair rewrites all JSON, drops duplicate keys and turns large numbers into \`Infinity\`. It accepts \`NaN\`.`,
  sides: { output: {} },
  options: () => ({
    requiredElements: z
      .number()
      .int()
      .min(0)
      .default(0)
      .describe("The fewest valid objects and arrays that an output must contain."),
    repair: z.boolean().default(true).describe("Repairs broken JSON in the text."),
    schema: z
      .union([z.record(z.string(), z.unknown()), z.boolean()])
      .optional()
      .describe(
        "A JSON Schema (2020-12) that every object and array must match. Its patterns must not use look-around or back-references.",
      ),
  }),
  differences: [
    {
      text:
        "Broken JSON is checked as one value, and text that is not clearly meant as JSON, such as code or templates in braces, is ignored. " +
        "A blank answer fails `required_elements`.",
    },
  ],
  findings: [
    { type: "json", label: "The error of broken JSON, and its offset." },
    { type: "json-schema", label: "The path of the value that violates the schema, and the violation." },
    { type: "json-missing", label: "How many valid pieces of JSON there are, and how many are required." },
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
      // JSON that cannot be repaired stays in the text.
      leavesFindings: true,
      // llm-guard passes a blank answer, whatever is required.
      checksEmpty: requiredElements > 0,
      check(text, { signal }) {
        // Most answers contain no JSON. This check is faster than a call of the addon.
        if (!text.includes("{") && !text.includes("[")) return verdict(text, [], []);
        if (!schema && isShortJson(text)) return verdict(text, [{ start: 0, end: text.length }], []);
        return readPieces(text, { repair, schema, signal }).then(({ pieces, edits }) => verdict(text, pieces, edits));
      },
    };
  },
});

/** The maximum length of texts that {@link isShortJson} accepts. Their nesting is below the limit of the addon. */
const MAX_SHORT_LENGTH = 1000;

/** Returns whether a text is one short valid object or array. For such texts, a call of the addon takes longer than parsing. */
function isShortJson(text: string): boolean {
  if (text.length > MAX_SHORT_LENGTH || !/^\s*[{[]/.test(text)) return false;
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** How many pieces are repaired at once, because the addon copies them on the event loop. */
const BATCH_SIZE = 1000;

/** Returns the repaired text of each piece, or null if it has no reading, or two. */
async function repairAll(
  text: string,
  broken: readonly Span[],
  slice: TimeSlice,
  signal: AbortSignal | undefined,
): Promise<(string | null | undefined)[]> {
  const repaired: (string | null | undefined)[] = [];
  for (let at = 0; at < broken.length; at += BATCH_SIZE) {
    if (at > 0) await slice.next();
    const pieces = broken.slice(at, at + BATCH_SIZE).map(({ start, end }) => text.slice(start, end));
    repaired.push(...(await native(() => addon.repairJson(pieces), { signal })));
  }
  return repaired;
}

interface ReadOptions {
  repair: boolean;
  schema: JsonSchema | undefined;
  signal: AbortSignal | undefined;
}

/** Returns the checked pieces of JSON in a text, and the edits that repair broken pieces. */
async function readPieces(
  text: string,
  { repair, schema, signal }: ReadOptions,
): Promise<{ pieces: Piece[]; edits: Edit[] }> {
  const { pieces, messages } = await native(() => addon.findJson(text), { signal });
  const slice = new TimeSlice(signal);
  const candidate = (column: (index: number) => number) => ({
    ...{ start: column(0), end: column(1), at: column(2) },
    ...{ message: messages[column(3)], repairable: column(4) > 0 },
  });
  const candidates = await mapRowsInSlices(pieces, 5, candidate, slice);
  const broken = repair ? candidates.filter(({ repairable }) => repairable) : [];
  const repairs = await repairAll(text, broken, slice, signal);
  let tried = 0;
  const until = patternDeadline(text.length);
  const read: Piece[] = [];
  const edits: Edit[] = [];
  for (const candidate of candidates) {
    if (slice.isOver) await slice.next();
    const replacement = candidate === broken[tried] ? (repairs[tried++] ?? undefined) : undefined;
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
