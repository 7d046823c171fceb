import { publishNotice } from "../notices.ts";
import {
  addAbsentGraphs,
  addToSnapshot,
  blobsFolder,
  CARD,
  CONFIG,
  chooseFolder,
  chooseGraph,
  findHubModel,
  type HubFiles,
  joinPath,
  readWeightNames,
  setRevision,
  TOKENIZER,
} from "./cache.ts";
import { fetchHubInfo, type HubFile, type HubInfo } from "./client.ts";
import { downloadFile } from "./download.ts";
import { formatHubId, type HubId } from "./hub-id.ts";
import { checkEndpoint, downloadError, type HubSettings, hubSettings } from "./requests.ts";

/** Optional files beside the configuration that are downloaded too. */
const OPTIONAL = ["tokenizer_config.json", "evaluation.json", "1_Pooling/config.json"];
/** Explanations of file system errors. */
const UNWRITABLE: Readonly<Record<string, string>> = {
  EACCES: "may not be written to",
  EPERM: "may not be written to",
  EROFS: "is on a file system that cannot be written to",
  ENOTDIR: "is not a folder",
  ENOSPC: "is on a file system that is full",
};

/** The progress of a download. */
export interface PullProgress {
  /** The model, as `owner/name`. */
  model: string;
  /** The file that is being downloaded now. */
  file: string;
  /** The bytes of all files so far. */
  bytes: number;
  /** The bytes of all files. */
  total: number;
}

/** A running download, and the number of callers that wait for it. */
interface Pull {
  files: Promise<HubFiles>;
  stop: AbortController;
  waiting: number;
  listeners: Set<(progress: PullProgress) => void>;
}
const pulls = new Map<string, Pull>();

/** The options of a download. */
export interface PullOptions {
  /** Aborts the wait of the caller. The download stops when no caller waits any more. */
  signal?: AbortSignal;
  /** Called with the progress of the download. */
  onProgress?: (progress: PullProgress) => void;
  /** The address of the hub and the token of the user. Default: the settings of the environment. */
  settings?: HubSettings;
}

/**
 * Downloads a model, or its newest version if it is here already. Callers that ask for the same model at the same time share
 * one download, which is aborted when nobody waits for it any more.
 *
 * @throws GuardError `GUARD_DOWNLOAD` when the model cannot be downloaded; the signal's reason when it is aborted.
 */
export async function pullHubModel(
  id: HubId,
  cache: string,
  { signal, onProgress, settings = hubSettings() }: PullOptions = {},
): Promise<HubFiles> {
  signal?.throwIfAborted();
  const key = JSON.stringify([id, cache, settings]);
  let pull = pulls.get(key);
  if (!pull) {
    const stop = new AbortController();
    const listeners: Pull["listeners"] = new Set();
    const tell = (progress: PullProgress) => {
      for (const listener of listeners) listener(progress);
    };
    const files = fetchModel(id, cache, settings, stop.signal, tell)
      .catch((error: NodeJS.ErrnoException) => {
        const problem = UNWRITABLE[error.code ?? ""];
        throw problem === undefined
          ? error
          : downloadError(`${formatHubId(id)}: ${cache} ${problem}; GUARD_MODELS_DIR names another folder`, error);
      })
      .finally(() => {
        if (pulls.get(key)?.files === files) pulls.delete(key);
      });
    files.catch(() => {});
    pull = { files, stop, waiting: 0, listeners };
    pulls.set(key, pull);
  }
  const { files, stop, listeners } = pull;
  pull.waiting += 1;
  if (onProgress) listeners.add(onProgress);
  let onAbort: (() => void) | undefined;
  try {
    if (!signal) return await files;
    const aborted = new Promise<never>((_, reject) => {
      onAbort = () => reject(signal.reason);
      signal.addEventListener("abort", onAbort, { once: true });
    });
    return await Promise.race([files, aborted]);
  } finally {
    if (onAbort) signal?.removeEventListener("abort", onAbort);
    if (onProgress) listeners.delete(onProgress);
    pull.waiting -= 1;
    if (pull.waiting === 0) {
      if (pulls.get(key) === pull) pulls.delete(key);
      stop.abort();
    }
  }
}

async function fetchModel(
  id: HubId,
  cache: string,
  settings: HubSettings,
  signal: AbortSignal,
  onProgress: (progress: PullProgress) => void,
): Promise<HubFiles> {
  checkEndpoint(settings);
  if (settings.offline) {
    const found = findHubModel(id, cache);
    const missing = "missing" in found ? `, and what is in ${cache} lacks ${found.missing.join(", ")}` : "";
    throw downloadError(`${formatHubId(id)} is not downloaded: HF_HUB_OFFLINE is set${missing}`);
  }
  const info = await fetchHubInfo(id, settings, signal);
  const { commit } = info;
  const { graph, others } = chooseFiles(id, info);
  publishNotice({ kind: "download", message: `downloading the model ${formatHubId(id)} from ${settings.endpoint}` });

  const blobs = blobsFolder(id.repository, cache);
  const queue = [...others, graph];
  const downloaded: { path: string; blob: string }[] = [];
  let bytes = 0;
  for (const file of queue) {
    const tell = (bytes: number) => {
      const total = queue.reduce((sum, { size }) => sum + size, 0);
      onProgress({ model: id.repository, file: file.path, bytes, total });
    };
    const before = bytes;
    const onBytes = (ofFile: number) => tell(before + ofFile);
    const blob = await downloadFile({ id, settings, commit, file, blobs, signal, onBytes });
    bytes += file.size;
    if (file === graph) queue.push(...findWeights(blob, graph, info).filter((more) => !queue.includes(more)));
    tell(bytes);
    downloaded.push({ path: file.path, blob });
  }
  // The graph comes last, because other processes consider a model with a graph complete.
  const isGraph = ({ path }: { path: string }) => path === graph.path;
  const inOrder = [...downloaded.filter((file) => !isGraph(file)), ...downloaded.filter(isGraph)];
  if (id.graph === undefined) await addAbsentGraphs(id, commit, cache, (path) => info.files.has(path));
  await addToSnapshot(id, commit, cache, inOrder);
  await setRevision(id, commit, cache);
  const found = findHubModel({ ...id, revision: commit }, cache);
  if ("missing" in found) throw downloadError(`${formatHubId(id)} lacks ${found.missing.join(", ")}`);
  return found;
}

/** Chooses the files of a repository to download. */
function chooseFiles(id: HubId, { files }: HubInfo): { graph: HubFile; others: HubFile[] } {
  const { repository } = id;
  const has = (path: string) => files.has(path);
  const all = [...files.keys()].filter((path) => path.endsWith(".onnx"));
  const name = id.graph ?? chooseGraph(has, (path) => !has(path), all);
  if (all.length === 0) {
    throw downloadError(
      `${repository} has no ONNX file at revision ${id.revision}. Export it: optimum-cli export onnx --model ${repository} FOLDER ` +
        "(pip install optimum-onnx), and write FOLDER as the model",
    );
  }
  const graph = name === undefined ? undefined : files.get(name);
  if (graph === undefined) {
    const problem = name === undefined ? "has none of the usual ONNX files" : `has no file ${name}`;
    throw downloadError(
      `${repository} ${problem}; name one of its own, such as ${formatHubId({ ...id, graph: all[0] as string })}: ${all.join(", ")}`,
    );
  }
  const folder = chooseFolder(graph.path, has);
  if (folder === undefined) {
    const missing = [CONFIG, TOKENIZER].filter((file) => !files.has(file)).join(" and ");
    throw downloadError(
      `${repository} has no ${missing}; guard reads the tokenizers of Hugging Face's tokenizers library only. ` +
        `AutoTokenizer.from_pretrained("${repository}").save_pretrained("FOLDER") writes it for many models`,
    );
  }
  const wanted = [CARD, ...[CONFIG, TOKENIZER, ...OPTIONAL].map((file) => joinPath(folder, file))];
  return { graph, others: wanted.flatMap((path) => files.get(path) ?? []) };
}

/**
 * Finds the files with external weights of a graph: those that the graph names, and those that the tools of Hugging Face and ONNX name
 * after it.
 */
function findWeights(blob: string, { path }: HubFile, { files }: HubInfo): HubFile[] {
  const named = new Set(readWeightNames(path, blob));
  return [...files.values()].filter(
    (file) => named.has(file.path) || [`${path}_data`, `${path}.data`].some((start) => file.path.startsWith(start)),
  );
}
