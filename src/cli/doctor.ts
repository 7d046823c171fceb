import { readFileSync } from "node:fs";
import { join } from "node:path";
import { GuardValidationError, type ValidationIssue } from "../support/errors.ts";
import { version } from "../support/version.ts";
import { SLOW } from "./bench/timing.ts";
import { type Command, parse, print, UsageError } from "./command.ts";
import { CONFIG_HELP, configFile } from "./config-path.ts";
import type { Note } from "./doctor/file-report.ts";
import { wrapLines } from "./layout.ts";
import { type Found, megabytes, memory, processors, system } from "./system.ts";

const options = {
  config: {
    type: "string",
    value: "FILE",
    help: CONFIG_HELP,
  },
  quick: {
    type: "boolean",
    help: "do not load models to test them, nor run the scanners of a file to measure how long they take",
  },
  json: { type: "boolean", help: "print JSON" },
} as const;

/** What was looked at, and what came out. */
interface Examination {
  name: string;
  state: "ok" | "warning" | "fails";
  /** What was found, or what is wrong, in one line or several. */
  text: string;
}

/** The name of the examination of the file. */
const CONFIGURATION = "configuration";

/** What stands before a line. */
const MARKS: Readonly<Record<Examination["state"], string>> = { ok: "ok   ", warning: "!    ", fails: "FAILS" };

/** The name of the examination of what the file may do harm with. */
const RISKS = "risks";

/** `guard-scan doctor`: whether everything is there that guard needs, and what a file does here. */
export const doctor: Command = {
  name: "doctor",
  summary: "Checks whether guard can work here, and says what a file of guard or llm-guard does, line by line.",
  usage: "guard-scan doctor [FILE | --config FILE] [--quick] [--json]",
  options,
  notes: `First it looks at versions, the system, processors, memory, the addon, ONNX Runtime, the files and answers of the embedded models, the
configuration and its risks: ok, ! for a warning with what to do, or FAILS. For a file
that is not guard's own it then says by line:
  runs      what is done, with which model
  slow      what takes ${SLOW} ms or more for a text of 1,000 characters, as measured here and now, each scanner by itself
  differs   what is not as in llm-guard 0.3.16, with the reason
  download  which model would be downloaded
  ignored   which key does nothing
  fails     what stops the start
Exit codes: 0 all is well, 1 it works, but has a risk, a key that does nothing, or a model to download, 2 something does not work.`,
  async run(args) {
    const { values, positionals } = parse(options, args);
    const [path, more] = positionals;
    if (more !== undefined) throw new UsageError(`unexpected argument ${more}`);
    // By the public surface: what a program gets is what is looked at. It loads the addon, which may be what fails.
    const guard = () => import("../index.ts");
    const examinations = [
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
        const { library, providers, threads } = await (await guard()).defaultEngine().info();
        return `${library}, ${providers.join(", ")}, threads: ${threads}`;
      }),
      await examine("models", async () => {
        const models = (await guard()).listModels();
        if (models.length === 0) throw new Error("there are none");
        const size = models.reduce((sum, model) => sum + model.size, 0);
        return `${models.length}, ${megabytes(size)}: ${models.map(({ model }) => model).join(", ")}`;
      }),
      await examine("model files", checkedFiles),
      ...(values.quick ? [] : [await examine("self-tests", selfTests)]),
      // What the process has with all models loaded is what it needs at least.
      await examine("memory", memory),
    ];
    const configuration = await examine(CONFIGURATION, () => checkedConfig(configFile(values.config, path).path));
    examinations.push(configuration);
    if (configuration.state !== "fails") {
      examinations.push(await examine(RISKS, () => knownRisks(configFile(values.config, path).path)));
    }
    const file = fileOf(values.config, path);
    const { fileReport } = await import("./doctor/file-report.ts");
    const notes = file === undefined ? [] : await fileReport(file, values.quick !== true);
    if (values.json) {
      await print(`${JSON.stringify({ examinations, ...(file === undefined ? {} : { file, notes }) }, null, 2)}\n`);
      return exitCode(examinations, notes);
    }
    const width = Math.max(...examinations.map(({ name }) => name.length));
    for (const { name, state, text } of examinations) {
      const lines = text.split("\n").join(`\n${" ".repeat(width + 9)}`);
      await print(`${MARKS[state]}  ${name.padEnd(width)}  ${lines}\n`);
    }
    // What is wrong with a file that cannot be read stands above already, value by value.
    const isRead = examinations.every(({ name, state }) => name !== CONFIGURATION || state !== "fails");
    if (file !== undefined && isRead && notes.length > 0) await print(`\n${file}\n${notesText(notes)}`);
    return exitCode(examinations, notes);
  },
};

/** The file whose lines are looked at: the one that is used, unless it is guard's own or is missing. */
function fileOf(option: string | undefined, argument: string | undefined): string | undefined {
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
  return hasRisk || has("download", "ignored") ? 1 : 0;
}

/** The notes in columns: line, kind, text. The line and the path stand where they are new. */
function notesText(notes: readonly Note[]): string {
  const width = Math.max(60, process.stdout.isTTY ? process.stdout.columns : 120);
  const left = Math.max(4, ...notes.map(({ line }) => String(line ?? "").length)) + 2;
  const said = new Map<string, number | undefined>();
  return notes
    .map(({ line, kind, path, text: whole }, index) => {
      // What is said of many scanners is said in full where it comes first.
      const text = kind === "differs" && said.has(whole) ? `as at line ${said.get(whole)}` : whole;
      if (!said.has(whole)) said.set(whole, line);
      const before = notes[index - 1];
      const isNew = before?.line !== line || before?.path !== path;
      const heading = isNew ? `${String(line ?? "").padStart(left)}  ${path}\n` : "";
      const indent = " ".repeat(left + 14);
      const [first = "", ...rest] = wrapLines(text, width - indent.length);
      const lines = [`${" ".repeat(left + 4)}${kind.padEnd(10)}${first}`, ...rest.map((more) => indent + more.trim())];
      return `${heading}${lines.join("\n")}\n`;
    })
    .join("");
}

async function examine(name: string, look: () => Found | Promise<Found>): Promise<Examination> {
  try {
    const found = await look();
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

/** The versions that package.json names: ^20.19 || >=22.12. */
function nodeVersion(): string {
  const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
  const isKnown = (major === 20 && minor >= 19) || (major === 22 && minor >= 12) || major > 22;
  if (!isKnown) throw new Error(`${process.version}: 20.19, 22.12 or a later version is needed`);
  return `${process.version} on ${process.platform} ${process.arch}`;
}

/** Compares the files of the embedded models with the manifests that came with them. */
async function checkedFiles(): Promise<string> {
  const { manifestOf, MANIFEST } = await import("../models/manifest.ts");
  const models = (await import("../index.ts")).listModels().filter(({ source }) => source === "embedded");
  const wrong = models.filter(
    ({ folder }) => manifestOf(folder).trim() !== readFileSync(join(folder, MANIFEST), "utf8").trim(),
  );
  const names = wrong.map(({ model }) => model).join(", ");
  if (wrong.length > 0) throw new Error(`the files of ${names} are not those that came with guard: install guard anew`);
  return `${models.length} embedded models are what came with guard (SHA-256)`;
}

/** Loads the embedded models, which asks them about their known texts. */
async function selfTests(): Promise<string> {
  const { Engine, listModels } = await import("../index.ts");
  const engine = Engine.fromEnvironment();
  try {
    const models = listModels().filter(({ source }) => source === "embedded");
    for (const { model } of models) await (engine.isLinear(model) ? engine.linear(model) : engine.model(model)).load();
    await engine.selfTest();
    return `${models.length} embedded models say of known texts what they should`;
  } finally {
    await engine.close();
  }
}

/** What a configuration that can be read may do harm with. */
async function knownRisks(path: string): Promise<Found> {
  const { buildScanners, loadConfig, profilesOf } = await import("../config/index.ts");
  const { risksOf } = await import("../config/risks.ts");
  const { isLoopback } = await import("../config/safe-address.ts");
  const config = await loadConfig(path);
  const scanners = profilesOf(config).flatMap(({ config: own }) => Object.values(buildScanners(own)).flat());
  const handsOutVaults = scanners.some(({ vaultScope }) => vaultScope === "call");
  const isPublic = !isLoopback(config.app.host);
  const risks = risksOf(config, { env: process.env, handsOutVaults, isPublic });
  if (risks.length === 0) return "none that is known";
  const warning = risks.map(({ about, text, advice }) => `${about}: ${text}. What to do: ${advice}`).join("\n");
  return { text: "", warning };
}

async function checkedConfig(path: string): Promise<string> {
  const { buildScanners, loadConfig, pluginsOf, profilesOf } = await import("../config/index.ts");
  const { assertSafeToListen } = await import("../config/safe-address.ts");
  const config = await loadConfig(path);
  const { input, output } = buildScanners(config);
  const others = profilesOf(config).slice(1);
  for (const { config: own } of others) buildScanners(own);
  assertSafeToListen(config, config.app.host);
  const plugins = pluginsOf(config).map(({ kind, reference }) => `${reference} (${kind})`);
  const { threadsOf, workersOf } = await import("../config/workers.ts");
  const workers = workersOf(config.app.workers);
  const open = config.auth === undefined ? ", without credentials: this machine only" : "";
  return [
    `${path}: ${input.length} scanners of prompts, ${output.length} of outputs${open}`,
    ...(workers > 1 ? [`processes: ${workers}, each with ${threadsOf(workers)} threads for models`] : []),
    ...(others.length > 0 ? [`profiles: ${others.map(({ name }) => name).join(", ")}`] : []),
    ...(plugins.length > 0 ? [`plugins: ${plugins.join(", ")}`] : []),
  ].join("\n");
}
