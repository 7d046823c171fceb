import type { PullProgress } from "../models/hub/hub.ts";
import type { ModelEntry } from "../models/list-models.ts";
import { didYouMean } from "../support/did-you-mean.ts";
import { type Command, lineWidth, parse, print, UsageError } from "./command.ts";
import { columns, shortened } from "./layout.ts";

const options = {
  json: { type: "boolean", help: "print the list as JSON" },
} as const;

const ACTIONS = ["pull", "remove"];
/** Milliseconds between two drawings. Drawing more often would show nothing more. */
const INTERVAL = 100;

/** `guard-scan models`: lists the models on this machine, gets more from the hub, and removes them. */
export const models: Command = {
  name: "models",
  summary: "Lists the models on this machine; downloads models of the Hugging Face hub, or removes them.",
  usage:
    "guard-scan models [--json]\n       guard-scan models pull ID...\n       guard-scan models remove OWNER/NAME...",
  options,
  notes: `An ID is owner/name, owner/name@revision or owner/name:folder/model.onnx. pull fetches the newest version of the revision
(main unless named), and goes on where it was interrupted.
The models are in the cache of Hugging Face's tools (HF_HUB_CACHE, HF_HOME), which share them: what Python has downloaded is not
downloaded again, and what remove deletes is gone for Python as well. GUARD_MODELS_DIR names another folder for guard alone.
HF_TOKEN, HF_ENDPOINT and HF_HUB_OFFLINE mean what they mean to those tools.`,
  async run(args) {
    const { values, positionals } = parse(options, args);
    const [action, ...ids] = positionals;
    if (action === undefined) return list(values.json === true);
    if (!ACTIONS.includes(action)) {
      throw new UsageError(`unexpected argument ${action}${didYouMean(action, ACTIONS)}`);
    }
    if (ids.length === 0) throw new UsageError(`${action} which model?`);
    if (values.json) throw new UsageError(`--json has no meaning for ${action}`);
    return action === "pull" ? pull(ids) : remove(ids);
  },
};

async function list(asJson: boolean): Promise<number> {
  const { listModels } = await import("../models/list-models.ts");
  const entries = listModels();
  if (asJson) {
    const plain = entries.map(({ model, source, size, labels, license = null, trainingData = null }) => ({
      name: model,
      source,
      size,
      labels,
      license,
      training_data: trainingData,
    }));
    await print(`${JSON.stringify(plain, null, 2)}\n`);
  } else {
    await print(table(entries) + restrictions(entries));
  }
  return 0;
}

async function pull(names: readonly string[]): Promise<number> {
  const ids = await hubIds(names);
  const { pullHubModel } = await import("../models/hub/hub.ts");
  const { warnOfLicense } = await import("../models/notices.ts");
  const { modelsFolder } = await import("../models/model-files.ts");
  const stop = new AbortController();
  const onSignal = () => stop.abort(new UsageError("interrupted; the same command goes on from here"));
  for (const name of SIGNALS) process.once(name, onSignal);
  try {
    for (const { name, id } of ids) {
      const show = progressOf();
      try {
        const { folder, license } = await pullHubModel(id, modelsFolder(), { signal: stop.signal, onProgress: show });
        show();
        if (license !== undefined) warnOfLicense(name, license);
        await print(`${name} is in ${folder}\n`);
      } catch (error) {
        show();
        throw error;
      }
    }
  } finally {
    for (const name of SIGNALS) process.off(name, onSignal);
  }
  return 0;
}

const SIGNALS = ["SIGINT", "SIGTERM"] as const;

async function remove(names: readonly string[]): Promise<number> {
  const ids = await hubIds(names);
  const { removeHubModel } = await import("../models/hub/cache.ts");
  const { modelsFolder } = await import("../models/model-files.ts");
  const narrow = ids.find(({ name, id }) => name !== id.repository);
  if (narrow) {
    throw new UsageError(`remove takes owner/name, of which all revisions and files go: ${narrow.id.repository}`);
  }
  for (const { name, id } of ids) {
    if (!(await removeHubModel(id.repository, modelsFolder()))) {
      throw new UsageError(`${name} is not in ${modelsFolder()}`);
    }
    await print(`${name} is removed\n`);
  }
  return 0;
}

async function hubIds(names: readonly string[]) {
  const { parseHubId } = await import("../models/hub/hub-id.ts");
  return names.map((name) => {
    const id = parseHubId(name);
    if (!id) throw new UsageError(`${name} is no model of the hub: expected owner/name[@revision][:folder/model.onnx]`);
    return { name, id };
  });
}

/**
 * Shows on standard error how far a download is: on a terminal a line that changes, otherwise a line for each file. A call without an
 * argument removes the line.
 */
function progressOf(): (progress?: PullProgress) => void {
  const isTerminal = process.stderr.isTTY === true;
  let drawn = Number.NEGATIVE_INFINITY;
  let last = "";
  return (progress) => {
    if (!progress) {
      if (isTerminal) process.stderr.write("\r\x1b[K");
      return;
    }
    const { model, file, bytes, total } = progress;
    if (!isTerminal) {
      if (file !== last) process.stderr.write(`${model}: ${file} (${megabytes(total)} in all)\n`);
      last = file;
      return;
    }
    const now = performance.now();
    if (now - drawn < INTERVAL) return;
    drawn = now;
    const part = total > 0 ? ` (${Math.floor(Math.min(1, bytes / total) * 100)}%)` : "";
    const line = `${model}: ${file}, ${megabytes(bytes)} of ${megabytes(total)}${part}`;
    // A line that is longer than the terminal could not be written over.
    process.stderr.write(`\r${shortened(line, (process.stderr.columns || 80) - 1)}\x1b[K`);
  };
}

function megabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(1)} MB`;
}

/** Says which models learnt from data that do not allow every use. */
function restrictions(entries: readonly ModelEntry[]): string {
  const models = entries.filter(({ trainingData }) => trainingData?.includes("non-commercial"));
  if (models.length === 0) return "";
  return (
    "\nThese learnt in part from data whose licences do not allow commercial use; their cards (models/NAME/CARD.md) name the data:\n" +
    `${models.map(({ model }) => model).join(", ")}\n`
  );
}

function table(entries: readonly ModelEntry[]): string {
  const rows = entries.map(({ model, source, size, labels, license }) => [
    model,
    source,
    megabytes(size),
    labels.join(", "),
    license ?? "unknown",
  ]);
  return columns([["NAME", "SOURCE", "SIZE", "LABELS", "LICENSE"], ...rows], { width: lineWidth() });
}
