import { join } from "node:path";
import { z } from "zod";
import { GuardError } from "../support/errors.ts";
import { lazy } from "../support/lazy.ts";
import { readModelFile } from "./manifest.ts";

/** The file of a model's folder with texts and the answers that are expected for them. */
export const SELF_TEST_FILE = "self-test.json";

/** A model's answer for a text: probabilities by head and label, and the spans of its token heads. A head without a name is `default`. */
export interface SelfTestAnswer {
  scores: Record<string, Record<string, number>>;
  spans: { kind: string; text: string }[];
}

const probability = z.number().min(0).max(1);
const fileSchema = lazy(() =>
  z.strictObject({
    /** The maximum difference of a probability. Processors and execution providers round differently. */
    tolerance: probability.default(0.1),
    texts: z
      .array(
        z.strictObject({
          text: z.string().min(1),
          scores: z.record(z.string(), z.record(z.string(), probability)).default({}),
          spans: z.array(z.strictObject({ kind: z.string(), text: z.string() })).optional(),
        }),
      )
      .min(1),
  }),
);

/** The self-test texts of loaded models. */
const known = new WeakMap<object, readonly KnownText[]>();

/**
 * Runs the self-test of a model: compares its answers with `self-test.json` of its folder. A model without that file passes.
 *
 * @param model the loaded model. The file is read once for it, because a file that changes later, as in an update of the package, does
 *   not describe a model that was loaded before.
 * @param ask returns the model's answer for a text, or undefined if the model would split the text as it is configured.
 * @throws GuardError `GUARD_MODEL` if an answer differs or the file is invalid. Errors of `ask` are passed on.
 */
export async function selfTest(
  name: string,
  folder: string,
  model: object,
  ask: (text: string) => Promise<SelfTestAnswer | undefined>,
): Promise<void> {
  const path = join(folder, SELF_TEST_FILE);
  const texts = known.get(model) ?? readTexts(folder, path);
  known.set(model, texts);
  for (const [index, { text, ...expected }] of texts.entries()) {
    const answer = await ask(text);
    const difference = answer && differenceOf(answer, expected);
    if (difference === undefined) continue;
    throw new GuardError(
      "GUARD_MODEL",
      `the model ${name} fails its self-test: texts[${index}] of ${path}: ${difference}`,
    );
  }
}

type ExpectedOutput = Pick<z.output<ReturnType<typeof fileSchema>>["texts"][number], "scores" | "spans"> & {
  tolerance: number;
};

type KnownText = ExpectedOutput & { text: string };

function readTexts(folder: string, path: string): KnownText[] {
  const content = readModelFile(folder, SELF_TEST_FILE);
  if (content === undefined) return [];
  try {
    const { tolerance, texts } = fileSchema().parse(JSON.parse(content));
    return texts.map((text) => ({ ...text, tolerance }));
  } catch (error) {
    const reason = error instanceof z.ZodError ? z.prettifyError(error).replaceAll("\n", " ") : String(error);
    throw new GuardError("GUARD_MODEL", `the model file ${path} cannot be used: ${reason}`, { cause: error });
  }
}

/** Describes the first difference, or returns undefined if there is none. */
function differenceOf(answer: SelfTestAnswer, { scores, spans, tolerance }: ExpectedOutput): string | undefined {
  for (const [head, labels] of Object.entries(scores)) {
    for (const [label, due] of Object.entries(labels)) {
      const score = answer.scores[head]?.[label];
      // NaN fails, like a missing score.
      if (score !== undefined && Math.abs(score - due) <= tolerance) continue;
      return `${head} scores ${label} with ${score} instead of ${due}`;
    }
  }
  const listed = (found: SelfTestAnswer["spans"]) => JSON.stringify(found.map(({ kind, text }) => [kind, text]));
  if (spans === undefined || listed(spans) === listed(answer.spans)) return undefined;
  return `it finds ${answer.spans.length} spans that differ from the ${spans.length} expected ones`;
}
