import { join } from "node:path";
import { z } from "zod";
import { GuardError } from "../support/errors.ts";
import { lazy } from "../support/lazy.ts";
import { readModelFile } from "./manifest.ts";

/** The file of a model's folder with texts of which it is known what the model says. */
export const SELF_TEST_FILE = "self-test.json";

/** What a model says of a text: probabilities by head and label, and what its heads over tokens find. A head without a name is `default`. */
export interface SelfTestAnswer {
  scores: Record<string, Record<string, number>>;
  spans: { kind: string; text: string }[];
}

const probability = z.number().min(0).max(1);
const fileSchema = lazy(() =>
  z.strictObject({
    /** How far a probability may be from what is written here: processors and providers round differently. */
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

/** The texts of loaded models. */
const known = new WeakMap<object, readonly KnownText[]>();

/**
 * Compares what a model says of the texts in the file `self-test.json` of its folder with what that file says. A folder without the file
 * has no self-test.
 *
 * @param model the model in memory. The file is read once for it: a file that changes later, as in an update of the package, says
 *   nothing about a model that was read before.
 * @param ask what the model says of a text, or nothing where it would not read the text in one piece as it is set up.
 * @throws GuardError `GUARD_MODEL` when an answer differs, or the file cannot be used. Errors of `ask` are passed on.
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
    const told = await ask(text);
    const difference = told && differenceOf(told, expected);
    if (difference === undefined) continue;
    throw new GuardError(
      "GUARD_MODEL",
      `the model ${name} fails its self-test: texts[${index}] of ${path}: ${difference}`,
    );
  }
}

type Expected = Pick<z.output<ReturnType<typeof fileSchema>>["texts"][number], "scores" | "spans"> & {
  tolerance: number;
};

type KnownText = Expected & { text: string };

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

/** The first difference in words; undefined where there is none. */
function differenceOf(told: SelfTestAnswer, { scores, spans, tolerance }: Expected): string | undefined {
  for (const [head, labels] of Object.entries(scores)) {
    for (const [label, due] of Object.entries(labels)) {
      const score = told.scores[head]?.[label];
      // A score that is not a number is no nearer than one that is missing.
      if (score !== undefined && Math.abs(score - due) <= tolerance) continue;
      return `${head} says ${score} of ${label} where ${due} was due`;
    }
  }
  const listed = (found: SelfTestAnswer["spans"]) => JSON.stringify(found.map(({ kind, text }) => [kind, text]));
  if (spans === undefined || listed(spans) === listed(told.spans)) return undefined;
  return `it finds ${told.spans.length} spans where ${spans.length} others were due`;
}
