import { randomUUID } from "node:crypto";
import { z } from "zod";
import type { LocalGuardReport } from "../../guard/local-guard.ts";
import { openaiErrorBody } from "../../http-formats/formats/openai-errors.ts";
import type { Problem } from "../../http-server/problem.ts";
import { type CheckResult, fails, findCheck } from "../../scan/check-result.ts";
import { withholdingChecks } from "../../scan/outcome.ts";
import { resultName } from "../../scan/report.ts";
import type { Finding } from "../../scan/scanner.ts";
import { HARM_FINDING, HARM_SCORE_FINDING, openaiScores } from "../../scanners/harmful-content/categories.ts";
import { highestByKey } from "../../support/highest-by-key.ts";
import { type Dialect, type DialectCall, endpoint } from "./dialect.ts";
import { findingTypeOf } from "./findings.ts";

const part = z.union([
  z.looseObject({ type: z.literal("text"), text: z.string() }),
  z.looseObject({ type: z.literal("image_url"), image_url: z.looseObject({ url: z.string() }) }),
]);
type Part = z.output<typeof part>;

/** Each text is a scan of its own. */
const MAX_INPUTS = 2048;

const body = z.looseObject({
  input: z
    .union([z.string(), z.array(z.string()).min(1).max(MAX_INPUTS), z.array(part).min(1)])
    .describe(
      "A text, several texts that are checked one by one, or the parts of one message. Images are not scanned.",
    ),
  model: z.string().nullish().describe("Repeated in the response. The server uses its own models."),
});

/** The moderation endpoint of OpenAI, with the fields of the package openai 6.46 (`Moderation`). */
export const openai: Dialect = {
  summary: "OpenAI moderation",
  problem: errorOf,
  endpoints: [
    endpoint({
      path: "/v1/moderations",
      summary: "Classify texts by categories of unwanted content, as OpenAI does",
      body,
      example: {
        request: { input: "You are a stupid idiot.", model: "omni-moderation-latest" },
        reply: {
          id: "modr-7d1c3f7e-5d1b-4a43-8f3c-0c3b2f6a1d55",
          model: "omni-moderation-latest",
          results: [
            {
              flagged: true,
              categories: { harassment: true, hate: false, "guard/Toxicity": true },
              category_scores: { harassment: 0.97, hate: 0, "guard/Toxicity": 0.97 },
              category_applied_input_types: { harassment: ["text"], hate: ["text"], "guard/Toxicity": ["text"] },
            },
          ],
        },
      },
      async answer({ input, model }, call) {
        const reports: LocalGuardReport[] = [];
        // One after the other, so that a long list does not fill the queue.
        for (const content of inputsOf(input)) reports.push(await checkInput(content, call));
        return { body: { id: `modr-${randomUUID()}`, model: model ?? "guard", results: reports.map(resultOf) } };
      },
    }),
  ],
};

/** Returns the inputs with a result each. */
function inputsOf(input: z.output<typeof body>["input"]): (string | Part[])[] {
  if (typeof input === "string") return [input];
  const texts = input.filter((item) => typeof item === "string");
  return texts.length > 0 ? texts : [input as Part[]];
}

async function checkInput(content: string | Part[], { begin }: DialectCall): Promise<LocalGuardReport> {
  const { report } = await begin({ rewrite: false }).request({ messages: [{ role: "user", content }] });
  return report;
}

/**
 * The categories of OpenAI by the labels of Jigsaw's "Unintended Bias in Toxicity Classification". A threat is harassment that includes
 * violence, and depicts it. No category means obscene words alone.
 */
const CATEGORIES: Record<string, readonly string[]> = {
  toxicity: ["harassment"],
  severe_toxicity: ["harassment"],
  insult: ["harassment"],
  threat: ["harassment", "harassment/threatening", "violence"],
  identity_attack: ["hate"],
  sexual_explicit: ["sexual"],
};

/** The type of findings of toxicity. */
const TOXICITY_FINDING = "toxicity";

/** The categories of OpenAI that labels of toxicity cover. */
const TOXICITY_CATEGORIES = [...new Set(Object.values(CATEGORIES).flat()), "hate/threatening"];

/** All categories of OpenAI. */
const OPENAI_CATEGORIES = [
  ...TOXICITY_CATEGORIES,
  ...["illicit", "illicit/violent", "self-harm", "self-harm/instructions", "self-harm/intent"],
  ...["sexual/minors", "violence/graphic"],
];

/** Returns the highest score of each label among findings of a type. */
function highestScores(findings: readonly Finding[], wanted: string): Map<string, number> {
  return highestByKey(findings.filter(({ type }) => type === wanted).map(({ label = "", score }) => [label, score]));
}

/** Returns the scores of OpenAI's categories for findings of toxicity. */
function scoresOfToxicity(findings: readonly Finding[]): Map<string, number> {
  const found = highestScores(findings, TOXICITY_FINDING);
  const none = TOXICITY_CATEGORIES.map((category) => [category, 0] as const);
  const some = [...found].flatMap(([label, score]) => (CATEGORIES[label] ?? []).map((name) => [name, score] as const));
  return highestByKey([...none, ...some]).set(
    "hate/threatening",
    Math.min(found.get("identity_attack") ?? 0, found.get("threat") ?? 0),
  );
}

/**
 * Returns the categories of OpenAI that a check covers, with their scores and whether they are flagged.
 *
 * Categories come from labels of findings. A label below the threshold has no finding, so its category has 0, unless the check reports the
 * scores of all categories.
 */
function categoriesOf(checks: readonly CheckResult[]): { scores: Map<string, number>; flagged: Set<string> } {
  const all = checks.flatMap(({ findings }) => findings);
  const failing = checks.filter(fails).flatMap(({ findings }) => findings);
  const isChecked = (wanted: string) =>
    checks.some(({ type }) => findingTypeOf(type) === wanted) || all.some(({ type }) => type === wanted);
  const failingScores: Map<string, number>[] = [];
  const reported: Map<string, number>[] = [];
  if (isChecked(TOXICITY_FINDING)) failingScores.push(scoresOfToxicity(failing));
  if (isChecked(HARM_FINDING)) {
    failingScores.push(openaiScores(highestScores(failing, HARM_FINDING)));
    reported.push(openaiScores(highestScores(all, HARM_SCORE_FINDING)));
  }
  const scores = highestByKey([...failingScores, ...reported].flatMap((each) => [...each]));
  const positive = failingScores.flatMap((each) => [...each].filter(([, score]) => score > 0));
  return { scores, flagged: new Set(positive.map(([category]) => category)) };
}

/** Returns the result of an input. Every check is added under its own name, with its probability, or 1 or 0 without one. */
function resultOf(report: LocalGuardReport): Record<string, unknown> {
  const { isValid, checks } = report;
  const { scores, flagged } = categoriesOf(checks);
  const flags = new Map([...scores.keys()].map((category) => [category, flagged.has(category)]));

  const withholding = withholdingChecks(report);
  for (const check of checks) {
    // The window of a single message repeats the results of the message.
    if (check.scope === "window" && findCheck({ checks }, { scanner: check.scanner, scope: "latest" })) continue;
    flags.set(`guard/${resultName(check)}`, withholding.includes(resultName(check)));
    scores.set(`guard/${resultName(check)}`, check.probability ?? (check.isValid ? 0 : 1));
  }
  if (!isValid && ![...flags.values()].includes(true)) {
    // A text may fail without a failed check, because a part of it was not scanned.
    flags.set("guard/coverage", true);
    scores.set("guard/coverage", 1);
  }
  const types = new Map([...scores.keys()].map((category) => [category, ["text"]]));
  const uncovered = OPENAI_CATEGORIES.filter((category) => !scores.has(category));
  const none = <Value>(value: Value) => uncovered.map((category) => [category, value] as const);
  return {
    flagged: !isValid,
    categories: Object.fromEntries([...flags, ...none(false)]),
    category_scores: Object.fromEntries([...scores, ...none(0)]),
    category_applied_input_types: Object.fromEntries([...types, ...none([])]),
  };
}

/** Returns an error in the format of OpenAI. */
function errorOf({ status, message, errors = [] }: Problem): unknown {
  const [first] = errors;
  const param = first ? first.pointer.slice(1).replaceAll("/", ".") || null : null;
  const details = errors.map(({ pointer, detail }) => `${pointer || "the body"} ${detail}`).join("; ");
  return openaiErrorBody({
    message: details === "" ? message : `${message} ${details}`,
    type: status === 429 ? "requests" : status < 500 ? "invalid_request_error" : "server_error",
    param,
    code: status === 401 ? "invalid_api_key" : status === 429 ? "rate_limit_exceeded" : null,
  });
}
