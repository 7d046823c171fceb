import { z } from "zod";
import { addon, native, SHORT_TEXT } from "../../native.ts";
import { commonOptions } from "../../options.ts";
import { BaseScanner, type Finding, passed, type ScanContext, type Verdict, wholeText } from "../../scanner.ts";
import { FAILED, PASSED } from "../../score.ts";
import { repairJson } from "./json-repair.ts";
import { JsonSchema, patternDeadline } from "./json-schema.ts";

const schema = z.strictObject({
  ...commonOptions,
  requiredElements: z.number().int().min(0).default(0).describe("How many valid objects and arrays there have to be."),
  repair: z.boolean().default(true).describe("Repairs broken JSON in the text."),
  schema: z
    .union([z.record(z.string(), z.unknown()), z.boolean()])
    .optional()
    .describe(
      "A JSON Schema (2020-12) that every object and array has to match. Its patterns have no look-around and no back-references.",
    ),
});

/** A piece of JSON in a text; `json` is its text after a repair. */
interface Piece {
  start: number;
  end: number;
  json: string;
  repaired: boolean;
  problem?: Finding;
}

/**
 * Fails outputs with broken JSON that can not be repaired, with less JSON than required, or with JSON that a schema forbids.
 *
 * JSON are the outermost objects and arrays of the text, in prose and in code fences, by RFC 8259 and nested at most 1000 deep.
 * The text around them and what is valid stays as it is; broken JSON is repaired where it stands, by the library jsonrepair.
 *
 * What llm-guard 0.3.16 does differently:
 *
 * - It does not see arrays, nor braces in strings (`{"a": "}"}` is broken to it), nor JSON that was cut off: that passes.
 * - It takes everything between braces for broken JSON and "repairs" it: `Hello {name}` becomes `Hello {}` and the body of a
 *   function is lost. Here broken JSON has to begin like JSON.
 * - Its repair writes all of the JSON anew, drops duplicate keys and makes large numbers `Infinity`; `NaN` is valid to it.
 */
export class JSONScanner extends BaseScanner<typeof schema> {
  static readonly type = "JSON";
  static readonly options = schema;
  readonly #schema: JsonSchema | undefined;

  /** @throws GuardValidationError for bad options, with the path `schema` for a schema that is not valid. */
  constructor(options: z.input<typeof schema> = {}) {
    super(JSONScanner.type, schema, options);
    if (this.options.schema !== undefined) this.#schema = new JsonSchema(this.options.schema);
  }

  get sanitizes(): boolean {
    return this.options.repair;
  }

  protected async check(text: string, { signal }: ScanContext): Promise<Verdict> {
    // As in llm-guard, a blank text passes whatever is required.
    if (text.trim() === "") return passed(text);
    const pieces = await this.#read(text, signal);
    const problems = pieces.flatMap(({ problem }) => problem ?? []);
    const valid = pieces.length - problems.length;
    const { requiredElements } = this.options;
    if (valid < requiredElements) {
      const label = `${valid} of ${requiredElements} required elements`;
      problems.push({ start: 0, end: text.length, type: "json-missing", score: 1, label });
    }
    const isValid = problems.length === 0;
    return {
      isValid,
      score: isValid ? PASSED : FAILED,
      ...(pieces.some(({ repaired }) => repaired) ? { sanitized: splice(text, pieces) } : {}),
      findings: problems,
      coverage: wholeText(text),
    };
  }

  /** The JSON of a text, repaired and checked. */
  async #read(text: string, signal?: AbortSignal): Promise<Piece[]> {
    const find = text.length <= SHORT_TEXT ? "findJson" : "findJsonLong";
    const candidates = await native(() => addon[find](text));
    const broken = this.options.repair ? candidates.filter(({ repairable }) => repairable) : [];
    const repairs = new Map(
      broken.length === 0
        ? []
        : (
            await repairJson(
              broken.map(({ start, end }) => text.slice(start, end)),
              signal,
            )
          ).map((json, index) => [broken[index], json]),
    );
    const until = patternDeadline(text.length);
    return candidates.map((candidate) => {
      const { start, end, message, at } = candidate;
      const repaired = repairs.get(candidate);
      const json = repaired ?? text.slice(start, end);
      const piece: Piece = { start, end, json, repaired: repaired !== undefined };
      if (message != null && repaired === undefined) {
        const label = `${message} at offset ${at}`;
        return { ...piece, problem: { start, end, type: "json", text: json, score: 1, label } };
      }
      const problem = this.#schema?.check(json, until);
      if (!problem) return piece;
      const label = `${problem.pointer || "(root)"} ${problem.message}`;
      return { ...piece, problem: { start, end, type: "json-schema", text: text.slice(start, end), score: 1, label } };
    });
  }
}

/** The text with its pieces of JSON as they are after the repair. */
function splice(text: string, pieces: readonly Piece[]): string {
  let end = 0;
  const parts = pieces.flatMap((piece) => {
    const before = text.slice(end, piece.start);
    end = piece.end;
    return [before, piece.json];
  });
  return parts.join("") + text.slice(end);
}
