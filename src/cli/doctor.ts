import { freemem } from "node:os";
import { GuardValidationError, type ValidationIssue } from "../errors.ts";
import { version } from "../support/version.ts";
import { type Command, parse, print, UsageError } from "./command.ts";
import { CONFIG_HELP, configFile } from "./config-path.ts";

const options = {
  config: {
    type: "string",
    value: "FILE",
    help: CONFIG_HELP,
  },
} as const;

/** What was looked at, and what came out. */
interface Examination {
  name: string;
  state: "ok" | "warning" | "fails";
  /** What was found, or what is wrong, in one line or several. */
  text: string;
}

/** What looking at something found. */
type Found = string | { warning: string };

/** What stands before a line. */
const MARKS: Readonly<Record<Examination["state"], string>> = { ok: "ok   ", warning: "!    ", fails: "FAILS" };

/** Less free memory than this may not hold the models of guard's own configuration. */
const LITTLE_MEMORY = 1e9;

/** `guard doctor`: whether everything is there that guard needs. */
export const doctor: Command = {
  name: "doctor",
  summary: "Checks whether guard can work here: Node.js, addon, ONNX Runtime, models, memory, configuration.",
  usage: "guard doctor [--config FILE]",
  options,
  notes: "Exit codes: 0 all is well, 2 something does not work. A line that begins with ! is a warning.",
  async run(args) {
    const { values, positionals } = parse(options, args);
    if (positionals.length > 0) throw new UsageError(`unexpected argument ${positionals[0]}`);
    // By the public surface: what a program gets is what is looked at. It loads the addon, which may be what fails.
    const guard = () => import("../index.ts");
    const examinations = [
      await examine("guard", () => version),
      await examine("Node.js", nodeVersion),
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
      await examine("memory", () => {
        const text = `${megabytes(freeMemory())} free`;
        return freeMemory() < LITTLE_MEMORY ? { warning: `${text}: all models together may need 1 GB` } : text;
      }),
      await examine("configuration", () => checkedConfig(configFile(values.config).path)),
    ];
    const width = Math.max(...examinations.map(({ name }) => name.length));
    for (const { name, state, text } of examinations) {
      const lines = text.split("\n").join(`\n${" ".repeat(width + 9)}`);
      await print(`${MARKS[state]}  ${name.padEnd(width)}  ${lines}\n`);
    }
    return examinations.some(({ state }) => state === "fails") ? 2 : 0;
  },
};

async function examine(name: string, look: () => Found | Promise<Found>): Promise<Examination> {
  try {
    const found = await look();
    return typeof found === "string"
      ? { name, state: "ok", text: found }
      : { name, state: "warning", text: found.warning };
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

/** What a container leaves counts, not what the machine has. */
function freeMemory(): number {
  const available = (process as { availableMemory?: () => number }).availableMemory?.();
  return available !== undefined && available > 0 ? available : freemem();
}

async function checkedConfig(path: string): Promise<string> {
  const { buildScanners, loadConfig } = await import("../config/index.ts");
  const config = await loadConfig(path);
  const { input, output } = buildScanners(config);
  const open = config.auth === undefined ? ", without credentials: this machine only" : "";
  return `${path}: ${input.length} scanners of prompts, ${output.length} of outputs${open}`;
}

function megabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(0)} MB`;
}
