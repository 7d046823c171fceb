import { readFileSync } from "node:fs";
import { join } from "node:path";
import { GuardValidationError, type ValidationIssue } from "../support/errors.ts";
import { version } from "../support/version.ts";
import { SLOW } from "./bench/timing.ts";
import { type Command, parse, print, UsageError } from "./command.ts";
import { CONFIG_HELP, configFile } from "./config-path.ts";
import type { Note } from "./doctor/file-report.ts";
import { wrapLines } from "./layout.ts";
import { type Finding, megabytes, memory, processors, system } from "./system.ts";

const options = {
  config: {
    type: "string",
    value: "FILE",
    help: CONFIG_HELP,
  },
  quick: {
    type: "boolean",
    help: "skip the self-tests of models and the measurement of scanners",
  },
  json: { type: "boolean", help: "print JSON" },
} as const;

/** The result of one examination. */
interface Examination {
  name: string;
  state: "ok" | "warning" | "fails";
  /** What was found or what is wrong, in one or more lines. */
  text: string;
}

const CONFIGURATION = "configuration";
const RISKS = "risks";

/** The prefix of a line, by the state of its examination. */
const MARKS: Readonly<Record<Examination["state"], string>> = { ok: "ok   ", warning: "!    ", fails: "FAILS" };

/** `guard-scan doctor`: checks the installation, and says what a configuration file does. */
export const doctor: Command = {
  name: "doctor",
  summary: "Checks whether guard can work here, and says what a file of guard or llm-guard does, line by line.",
  usage: "guard-scan doctor [FILE | --config FILE] [--quick] [--json]",
  options,
  notes: `First it checks versions, the system, processors, memory, the addon, ONNX Runtime, the files and self-tests of the embedded models, the
configuration and its risks. A line begins with ok, with ! for a warning and what to do, or with FAILS.
Then it lists notes on the file by line, unless the file is guard's own:
  runs      a scanner that runs, and its model
  slow      a scanner that takes ${SLOW} ms or more for a text of 1,000 characters, measured now and alone
  alarms    a scanner that fails ordinary prompts, measured now, and the threshold that passes them
  differs   a difference from llm-guard 0.3.16, with the reason
  download  a model that is downloaded at the start
  ignored   a key without effect
  fails     an error that prevents the start
Exit codes: 0 no problem, 1 a risk, a key without effect, a model to download or a scanner that fails ordinary prompts, 2 something does not work.`,
  async run(args) {
    const { values, positionals } = parse(options, args);
    const [path, more] = positionals;
    if (more !== undefined) throw new UsageError(`unexpected argument ${more}`);
    const { quick: isQuick = false, json: asJson = false } = values;
    const examinations = [...(await installation(isQuick)), ...(await configuration(values.config, path))];
    const file = userFile(values.config, path);
    const { fileReport } = await import("./doctor/file-report.ts");
    const notes = file === undefined ? [] : await fileReport(file, !isQuick);
    if (asJson) {
      await print(`${JSON.stringify({ examinations, ...(file === undefined ? {} : { file, notes }) }, null, 2)}\n`);
      return exitCode(examinations, notes);
    }
    await print(examinationsText(examinations));
    // The errors of an invalid file are listed above, value by value.
    const isValid = examinations.every(({ name, state }) => name !== CONFIGURATION || state !== "fails");
    if (file !== undefined && isValid && notes.length > 0) await print(`\n${file}\n${notesText(notes)}`);
    return exitCode(examinations, notes);
  },
};

/** Examines everything that is needed besides a configuration. */
async function installation(isQuick: boolean): Promise<Examination[]> {
  // The public entry point is what programs load. It loads the addon, which may fail.
  const guard = () => import("../index.ts");
  return [
    await examine("guard", () => version),
    await examine("Node.js", nodeVersion),
    await examine("system", system),
    await examine("processors", processors),
    await examine("addon", async () => {
      const sentences = await (await guard()).splitSentences("It loads. It works.");
      if (sentences.length !== 2) throw new Error("it does not find two sentences");
      return "loaded";
    }),
    await examine("ONNX Runtime", async () => {
      const { library, providers, threads } = await (await import("../models/engine.ts")).defaultEngine().info();
      return `${library}, ${providers.join(", ")}, threads: ${threads}`;
    }),
    await examine("models", async () => {
      const models = (await guard()).listModels();
      if (models.length === 0) throw new Error("there are none");
      const size = models.reduce((sum, model) => sum + model.size, 0);
      return `${models.length}, ${megabytes(size)}: ${models.map(({ model }) => model).join(", ")}`;
    }),
    await examine("model files", checkModelFiles),
    ...(isQuick ? [] : [await examine("self-tests", runSelfTests)]),
    // Last, because the process then has all models in memory, as a server has.
    await examine("memory", memory),
  ];
}

/** Examines the configuration file, and its risks if it is valid. */
async function configuration(option: string | undefined, argument: string | undefined): Promise<Examination[]> {
  const examination = await examine(CONFIGURATION, () => checkConfig(configFile(option, argument).path));
  if (examination.state === "fails") return [examination];
  return [examination, await examine(RISKS, () => findRisks(configFile(option, argument).path))];
}

/** The path of the configuration file; undefined for guard's own file and for a missing one. */
function userFile(option: string | undefined, argument: string | undefined): string | undefined {
  try {
    const { path, from } = configFile(option, argument);
    return from === "embedded" ? undefined : path;
  } catch (error) {
    if (error instanceof UsageError) return undefined;
    throw error;
  }
}

function exitCode(examinations: readonly Examination[], notes: readonly Note[]): number {
  const has = (...kinds: Note["kind"][]) => notes.some(({ kind }) => kinds.includes(kind));
  if (examinations.some(({ state }) => state === "fails") || has("fails")) return 2;
  const hasRisk = examinations.some(({ name, state }) => name === RISKS && state === "warning");
  return hasRisk || has("download", "ignored", "alarms") ? 1 : 0;
}

function examinationsText(examinations: readonly Examination[]): string {
  const width = Math.max(...examinations.map(({ name }) => name.length));
  const indent = " ".repeat(width + 9);
  return examinations
    .map(({ name, state, text }) => `${MARKS[state]}  ${name.padEnd(width)}  ${text.split("\n").join(`\n${indent}`)}\n`)
    .join("");
}

/** The notes in columns: line, kind, text. A heading with line and path precedes the notes of one place. */
function notesText(notes: readonly Note[]): string {
  const width = Math.max(60, process.stdout.isTTY ? process.stdout.columns : 120);
  const left = Math.max(4, ...notes.map(({ line }) => String(line ?? "").length)) + 2;
  /** The lines of the differences, by text: the same text is printed once. */
  const lineOfText = new Map<string, number | undefined>();
  return notes
    .map(({ line, kind, path, text: fullText }, index) => {
      const isRepeated = kind === "differs" && lineOfText.has(fullText);
      const text = isRepeated ? `as at line ${lineOfText.get(fullText)}` : fullText;
      if (!lineOfText.has(fullText)) lineOfText.set(fullText, line);
      const previous = notes[index - 1];
      const isNewPlace = previous?.line !== line || previous?.path !== path;
      const heading = isNewPlace ? `${String(line ?? "").padStart(left)}  ${path}\n` : "";
      const indent = " ".repeat(left + 14);
      const [first = "", ...rest] = wrapLines(text, width - indent.length);
      const lines = [`${" ".repeat(left + 4)}${kind.padEnd(10)}${first}`, ...rest.map((more) => indent + more.trim())];
      return `${heading}${lines.join("\n")}\n`;
    })
    .join("");
}

async function examine(name: string, check: () => Finding | Promise<Finding>): Promise<Examination> {
  try {
    const found = await check();
    return typeof found === "string"
      ? { name, state: "ok", text: found }
      : { name, state: "warning", text: [found.text, found.warning].filter(Boolean).join("\n") };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    const text = error instanceof GuardValidationError ? error.issues.map(issueText).join("\n") : message;
    return { name, state: "fails", text };
  }
}

function issueText({ path, message }: ValidationIssue): string {
  return path ? `${path}: ${message}` : message;
}

/** Checks the version against `engines` of package.json: ^20.19 || >=22.12. */
function nodeVersion(): string {
  const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
  const isSupported = (major === 20 && minor >= 19) || (major === 22 && minor >= 12) || major > 22;
  if (!isSupported) throw new Error(`${process.version}: 20.19, 22.12 or a later version is needed`);
  return `${process.version} on ${process.platform} ${process.arch}`;
}

/** Compares the files of the embedded models with their manifests. */
async function checkModelFiles(): Promise<string> {
  const { createManifest, MANIFEST } = await import("../models/manifest.ts");
  const models = (await import("../index.ts")).listModels().filter(({ source }) => source === "embedded");
  const changed = models.filter(
    ({ folder }) => createManifest(folder).trim() !== readFileSync(join(folder, MANIFEST), "utf8").trim(),
  );
  const names = changed.map(({ model }) => model).join(", ");
  if (changed.length > 0) throw new Error(`the files of ${names} differ from their manifests: reinstall guard`);
  return `${models.length} embedded models match their manifests (SHA-256)`;
}

/** Loads the embedded models and runs their self-tests. */
async function runSelfTests(): Promise<string> {
  const { Engine, listModels } = await import("../index.ts");
  const engine = Engine.fromEnvironment();
  try {
    const models = listModels().filter(({ source }) => source === "embedded");
    for (const { model } of models) await (engine.isLinear(model) ? engine.linear(model) : engine.model(model)).load();
    await engine.selfTest();
    return `${models.length} embedded models give the expected results for known texts`;
  } finally {
    await engine.close();
  }
}

/** Finds known risks of a valid configuration. */
async function findRisks(path: string): Promise<Finding> {
  const { buildScanners, loadConfig, profilesOf } = await import("../config/index.ts");
  const { risksOf } = await import("../config/risks.ts");
  const { isLoopback } = await import("../config/safe-address.ts");
  const config = await loadConfig(path);
  const scanners = profilesOf(config).flatMap(({ config: own }) => Object.values(buildScanners(own)).flat());
  const returnsVaults = scanners.some(({ vaultScope }) => vaultScope === "call");
  const requestsReviews = scanners.some(({ reviewThreshold }) => reviewThreshold !== undefined);
  const isPublic = !isLoopback(config.app.host);
  const risks = risksOf(config, { env: process.env, returnsVaults, requestsReviews, isPublic });
  if (risks.length === 0) return "none known";
  const warning = risks.map(({ about, text, advice }) => `${about}: ${text}. Advice: ${advice}`).join("\n");
  return { text: "", warning };
}

async function checkConfig(path: string): Promise<string> {
  const { buildScanners, loadConfig, pluginsOf, profilesOf } = await import("../config/index.ts");
  const { assertSafeToListen } = await import("../config/safe-address.ts");
  const config = await loadConfig(path);
  const { createExceptions } = await import("../service/create-service.ts");
  const { checkMasking } = await import("../scan/outcome.ts");
  const { nameScanners } = await import("../scan/named-scanners.ts");
  const checked = profilesOf(config).map(({ name, config: own, paths }) => {
    const { input, output } = buildScanners(own);
    checkMasking(new Set(own.app.masking), {
      named: [...nameScanners(input), ...nameScanners(output)],
      path: "app.masking",
    });
    createExceptions(own, paths);
    return { name, input, output };
  });
  const [main, ...profiles] = checked as [(typeof checked)[0], ...typeof checked];
  assertSafeToListen(config, config.app.host);
  const plugins = pluginsOf(config).map(({ kind, reference }) => `${reference} (${kind})`);
  const { threadsOf, workersOf } = await import("../config/workers.ts");
  const workers = workersOf(config.app.workers);
  const open = config.auth === undefined ? ", without credentials: this machine only" : "";
  return [
    `${path}: ${main.input.length} scanners of prompts, ${main.output.length} of outputs${open}`,
    ...(workers > 1 ? [`processes: ${workers}, each with ${threadsOf(workers)} threads for models`] : []),
    ...(profiles.length > 0 ? [`profiles: ${profiles.map(({ name }) => name).join(", ")}`] : []),
    ...(plugins.length > 0 ? [`plugins: ${plugins.join(", ")}`] : []),
  ].join("\n");
}
