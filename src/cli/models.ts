import type { PullProgress } from "../models/hub/hub.ts";
import type { ModelEntry } from "../models/list-models.ts";
import { didYouMean } from "../support/did-you-mean.ts";
import { type Command, lineWidth, parse, print, UsageError } from "./command.ts";
import { columns, truncate } from "./layout.ts";

const options = {
  json: { type: "boolean", help: "print the list as JSON" },
} as const;

const ACTIONS = ["pull", "remove"];
/** Milliseconds between two updates of the download line. */
const UPDATE_INTERVAL = 100;

/** `guard-scan models`: lists the models on this machine, downloads models of the hub, and removes them. */
export const models: Command = {
  name: "models",
  summary: "Lists the models on this machine, downloads models of the Hugging Face hub, and removes them.",
  usage:
    "guard-scan models [--json]\n       guard-scan models pull ID...\n       guard-scan models remove OWNER/NAME...",
  options,
  notes: `An ID is owner/name, owner/name@revision or owner/name:folder/model.onnx. pull fetches the newest version of the revision
(default: main), and resumes an interrupted download.
Models are stored in the cache of Hugging Face's tools (HF_HUB_CACHE, HF_HOME). It is shared with Python: models that Python has
downloaded are not downloaded again, and remove deletes them for Python too. GUARD_MODELS_DIR names a folder for guard alone.
HF_TOKEN, HF_ENDPOINT and HF_HUB_OFFLINE work as in those tools.`,
  async run(args) {
    const { values, positionals } = parse(options, args);
    const [action, ...ids] = positionals;
    if (action === undefined) return list(values.json === true);
    if (!ACTIONS.includes(action)) {
      throw new UsageError(`unexpected argument ${action}${didYouMean(action, ACTIONS)}`);
    }
    if (ids.length === 0) throw new UsageError(`${action}: give the ID of a model`);
    if (values.json) throw new UsageError(`--json does not go with ${action}`);
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
    await print(table(entries));
  }
  return 0;
}

async function pull(names: readonly string[]): Promise<number> {
  const ids = await hubIds(names);
  const { pullHubModel } = await import("../models/hub/hub.ts");
  const { warnAboutLicense } = await import("../models/notices.ts");
  const { modelsFolder } = await import("../models/model-files.ts");
  const stop = new AbortController();
  const onSignal = () => stop.abort(new UsageError("interrupted; run the command again to resume"));
  for (const name of SIGNALS) process.once(name, onSignal);
  try {
    for (const { name, id } of ids) {
      const show = downloadProgress();
      try {
        const { folder, license } = await pullHubModel(id, modelsFolder(), { signal: stop.signal, onProgress: show });
        show();
        if (license !== undefined) warnAboutLicense(name, license);
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
  const partial = ids.find(({ name, id }) => name !== id.repository);
  if (partial) {
    throw new UsageError(`remove takes owner/name and deletes all revisions and files: ${partial.id.repository}`);
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
    if (!id)
      throw new UsageError(`${name} is not the ID of a model: expected owner/name[@revision][:folder/model.onnx]`);
    return { name, id };
  });
}

/**
 * Shows the progress of a download on standard error: on a terminal in a line that is updated, otherwise with a line for each file. A
 * call without an argument removes the line.
 */
function downloadProgress(): (progress?: PullProgress) => void {
  const isTerminal = process.stderr.isTTY === true;
  let updatedAt = Number.NEGATIVE_INFINITY;
  let last = "";
  return (progress) => {
    if (!progress) {
      if (isTerminal) process.stderr.write("\r\x1b[K");
      return;
    }
    const { model, file, bytes, total } = progress;
    if (!isTerminal) {
      if (file !== last) process.stderr.write(`${model}: ${file} (${megabytes(total)} in total)\n`);
      last = file;
      return;
    }
    const now = performance.now();
    if (now - updatedAt < UPDATE_INTERVAL) return;
    updatedAt = now;
    const part = total > 0 ? ` (${Math.floor(Math.min(1, bytes / total) * 100)}%)` : "";
    const line = `${model}: ${file}, ${megabytes(bytes)} of ${megabytes(total)}${part}`;
    // A line longer than the terminal would wrap, and could not be overwritten.
    process.stderr.write(`\r${truncate(line, (process.stderr.columns || 80) - 1)}\x1b[K`);
  };
}

function megabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(1)} MB`;
}

function table(entries: readonly ModelEntry[]): string {
  const rows = entries.map(({ model, source, size, labels, license }) => [
    model,
    source,
    megabytes(size),
    license ?? "unknown",
    labels.join(", "),
  ]);
  return columns([["NAME", "SOURCE", "SIZE", "LICENSE", "LABELS"], ...rows], { width: lineWidth(), wraps: true });
}
