import { randomUUID } from "node:crypto";
import { EventEmitter } from "node:events";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { mkdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { dirname, join, posix } from "node:path";
import pLimit from "p-limit";
import { z } from "zod";
import {
  checkEndpoint,
  downloadError,
  HubClient,
  type HubFile,
  type HubInfo,
  type HubSettings,
  hubSettings,
} from "./client.ts";
import { downloadFile } from "./download.ts";
import { type HubId, hubName, isSafePath, MAIN } from "./hub-id.ts";

/** Where the ONNX graph of a repository may be, in the order in which guard's engine looks for it in a folder. */
const GRAPHS = [
  "model.onnx",
  "onnx/model.onnx",
  "model_quantized.onnx",
  "onnx/model_quantized.onnx",
  "model_int8.onnx",
  "onnx/model_int8.onnx",
];

const [CONFIG, TOKENIZER] = ["config.json", "tokenizer.json"];
/** Files that are downloaded as well if the repository has them. */
const OPTIONAL = ["tokenizer_config.json", "evaluation.json", "1_Pooling/config.json"];
const MANIFEST = "guard.json";
const FOLDER_PREFIX = "models--";
/**
 * Graphs that keep their weights in other files are smaller than this many bytes, so a larger graph is not searched for the
 * names of such files.
 */
const MAX_SEARCHED = 64 * 1024 * 1024;

/** The manifest of a commit's folder. It is written only after every file that it names is there. */
const manifestSchema = z.object({
  model: z.string(),
  license: z.string().optional(),
  /** The graph to use when the name of the model contains none. */
  graph: z.string().optional(),
  /**
   * For each graph: the folder with its configuration and tokenizer, and all files that it needs. All are paths relative to the
   * commit's folder.
   */
  graphs: z.record(z.string(), z.object({ folder: z.string(), files: z.array(z.string()) })),
});
type Manifest = z.output<typeof manifestSchema>;

/** The files of a model of the hub. */
export interface HubFiles {
  /** The folder with `config.json` and `tokenizer.json`. */
  folder: string;
  /** The graph, as a path in the folder. */
  graph: string;
  /** The names of the model's licences, as the hub writes them. */
  license?: string;
}

/** A model of the hub on this machine. */
export interface HubEntry extends HubFiles {
  model: string;
}

/** How far a download is. */
export interface PullProgress {
  /** The model, as `owner/name`. */
  model: string;
  /** The file that is being downloaded now. */
  file: string;
  /** The bytes that have arrived, over all files. */
  bytes: number;
  /** The bytes of all files whose size the hub states. */
  total: number;
}

/** A notice to users about a model: that it is being downloaded, or that its licence restricts its use. */
export interface ModelNotice {
  kind: "download" | "license";
  message: string;
}

const notices = new EventEmitter<{ notice: [ModelNotice] }>();
// Node.js would warn from the eleventh listener on, but every server of the process may listen.
notices.setMaxListeners(0);
const warned = new Set<string>();

/**
 * Passes notices about models to a listener. While there is no listener, warnings go to standard error.
 *
 * @returns a function that ends it.
 */
export function onModelNotice(listener: (notice: ModelNotice) => void): () => void {
  notices.on("notice", listener);
  return () => notices.off("notice", listener);
}

/** Finds a model that was downloaded. If it is not complete, tells which of its files are missing. */
export function findHubModel(id: HubId, cache: string): HubFiles | { missing: string[] } {
  const commit = commitOf(id, cache);
  const root = commit === undefined ? undefined : snapshot(id.repository, commit, cache);
  const manifest = root === undefined ? undefined : readManifest(root);
  const graph = id.graph ?? manifest?.graph;
  const known = graph === undefined ? undefined : manifest?.graphs[graph];
  if (root === undefined || graph === undefined || !known) {
    return { missing: [CONFIG, TOKENIZER, id.graph ?? "an ONNX file"] };
  }
  const missing = known.files.filter((file) => !existsSync(join(root, file)));
  return missing.length > 0 ? { missing } : filesOf(root, graph, known.folder, manifest?.license);
}

/** The models of the hub in a cache folder. */
export function listHubModels(cache: string): HubEntry[] {
  return namesIn(cache).flatMap((name) => {
    if (!name.startsWith(FOLDER_PREFIX)) return [];
    const repository = name.slice(FOLDER_PREFIX.length).replace("--", "/");
    const home = join(cache, name);
    const refs = namesIn(join(home, "refs")).sort((a, b) => Number(a === MAIN) - Number(b === MAIN));
    const revisions = new Map(refs.map((ref) => [readRef(join(home, "refs", ref)), decodeURIComponent(ref)]));
    return namesIn(join(home, "snapshots")).flatMap((commit): HubEntry[] => {
      const root = join(home, "snapshots", commit);
      const manifest = readManifest(root);
      return Object.entries(manifest?.graphs ?? {}).flatMap(([graph, { folder, files }]) => {
        if (!files.every((file) => existsSync(join(root, file)))) return [];
        const named = graph === manifest?.graph ? {} : { graph };
        const model = hubName({ repository, revision: revisions.get(commit) ?? commit, ...named });
        return [{ model, ...filesOf(root, graph, folder, manifest?.license) }];
      });
    });
  });
}

/** Removes everything that was downloaded from a repository, and tells whether there was anything. */
export async function removeHubModel(repository: string, cache: string): Promise<boolean> {
  const home = homeOf(repository, cache);
  if (!existsSync(home)) return false;
  await rm(home, { recursive: true });
  return true;
}

/** Warns about a model whose licence does not allow every use. The warning appears once per process. */
export function warnOfLicense(model: string, license: string): void {
  if (!isRestricted(license) || warned.has(model)) return;
  warned.add(model);
  const message = `the licence of the model ${model}, ${license}, does not seem to allow commercial use`;
  say({ kind: "license", message });
}

/**
 * Recognizes the names of the hub's licences for non-commercial use and for research:
 * https://huggingface.co/docs/hub/repositories-licenses.
 */
function isRestricted(license: string): boolean {
  return /(^|[^a-z])nc([^a-z]|$)|non-?_?commercial|research/i.test(license);
}

function say(notice: ModelNotice): void {
  if (notices.listenerCount("notice") > 0) notices.emit("notice", notice);
  else if (notice.kind === "license") process.emitWarning(notice.message, "GuardModelWarning");
}

/** A download in progress, and the number of callers that wait for it. */
interface Pull {
  files: Promise<HubFiles>;
  stop: AbortController;
  waiting: number;
  listeners: Set<(progress: PullProgress) => void>;
}
const underWay = new Map<string, Pull>();
/**
 * The graphs of a commit share one manifest, to which each download adds its own graph. Therefore only one download at a time
 * may write it.
 */
const oneAtATime = pLimit(1);

/** How a model is downloaded. */
export interface PullOptions {
  /** When it is aborted, the caller stops waiting. */
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
  let pull = underWay.get(key);
  if (!pull) {
    const stop = new AbortController();
    const listeners: Pull["listeners"] = new Set();
    const tell = (progress: PullProgress) => {
      for (const listener of listeners) listener(progress);
    };
    const files = fetchModel(id, cache, settings, stop.signal, tell).finally(() => {
      if (underWay.get(key)?.files === files) underWay.delete(key);
    });
    files.catch(() => {});
    pull = { files, stop, waiting: 0, listeners };
    underWay.set(key, pull);
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
      if (underWay.get(key) === pull) underWay.delete(key);
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
    throw downloadError(`${hubName(id)} is not downloaded: HF_HUB_OFFLINE is set${missing}`);
  }
  const client = new HubClient(settings);
  const info = await client.info(id, signal);
  const { graph, folder, files } = choose(id, info);
  const { repository } = id;
  say({ kind: "download", message: `downloading the model ${hubName(id)} from ${settings.endpoint}` });

  const root = snapshot(repository, info.commit, cache);
  const parts = join(homeOf(repository, cache), "parts");
  const queue = [...files];
  let bytes = 0;
  for (const file of queue) {
    const onBytes = (ofFile: number) => {
      const total = queue.reduce((sum, { size = 0 }) => sum + size, 0);
      onProgress({ model: repository, file: file.path, bytes: bytes + ofFile, total });
    };
    const target = join(root, file.path);
    await downloadFile({ client, id, commit: info.commit, file, target, parts, signal, onBytes });
    const { size } = await stat(target);
    bytes += size;
    onProgress({
      model: repository,
      file: file.path,
      bytes,
      total: queue.reduce((sum, { size = 0 }) => sum + size, 0),
    });
    if (file.path === graph)
      queue.push(...(await weightsOf(target, file, info)).filter((more) => !queue.includes(more)));
  }
  await oneAtATime(async () => {
    const old = readManifest(root);
    const manifest: Manifest = {
      model: repository,
      ...(info.license === undefined ? {} : { license: info.license }),
      ...(id.graph === undefined ? { graph } : old?.graph === undefined ? {} : { graph: old.graph }),
      graphs: { ...old?.graphs, [graph]: { folder, files: queue.map(({ path }) => path) } },
    };
    await writeWhole(join(root, MANIFEST), `${JSON.stringify(manifest, null, 2)}\n`, parts);
  });
  if (id.revision !== info.commit) await writeWhole(refOf(id, cache), `${info.commit}\n`, parts);
  return filesOf(root, graph, folder, info.license);
}

/** Chooses the files of a repository that the model needs. */
function choose(id: HubId, { files }: HubInfo): { graph: string; folder: string; files: HubFile[] } {
  const { repository } = id;
  const all = [...files.keys()].filter((path) => path.endsWith(".onnx"));
  const usual = GRAPHS.find((path) => files.has(path)) ?? (all.length === 1 ? all[0] : undefined);
  const graph = id.graph ?? usual;
  if (all.length === 0) {
    throw downloadError(
      `${repository} has no ONNX file at revision ${id.revision}. Export it: optimum-cli export onnx --model ${repository} FOLDER ` +
        "(pip install optimum-onnx), and write FOLDER as the model",
    );
  }
  if (graph === undefined || !files.has(graph)) {
    const problem = graph === undefined ? "has none of the usual ONNX files" : `has no file ${graph}`;
    throw downloadError(
      `${repository} ${problem}; name one of its own, such as ${hubName({ ...id, graph: all[0] as string })}: ${all.join(", ")}`,
    );
  }
  // Some repositories keep the configuration and the tokenizer only in the folder of the graph.
  const folder = ["", posix.dirname(graph)].find((at) =>
    [CONFIG, TOKENIZER].every((file) => files.has(below(at, file))),
  );
  if (folder === undefined) {
    const missing = [CONFIG, TOKENIZER].filter((file) => !files.has(file)).join(" and ");
    throw downloadError(
      `${repository} has no ${missing}; guard reads the tokenizers of Hugging Face's tokenizers library only. ` +
        `AutoTokenizer.from_pretrained("${repository}").save_pretrained("FOLDER") writes it for many models`,
    );
  }
  const wanted = [CONFIG, TOKENIZER, ...OPTIONAL].map((file) => below(folder, file));
  return { graph, folder, files: [...wanted, graph].flatMap((path) => files.get(path) ?? []) };
}

/**
 * Finds the files with the weights of a graph that keeps them outside of itself: files that the tools of Hugging Face and ONNX
 * name after the graph, and files that the graph itself names (`external_data` of a TensorProto in
 * https://github.com/onnx/onnx/blob/main/onnx/onnx.proto).
 */
async function weightsOf(graph: string, { path }: HubFile, { files }: HubInfo): Promise<HubFile[]> {
  const size = (await stat(graph)).size;
  const named = size > MAX_SEARCHED ? [] : externalData(await readFile(graph));
  const locations = new Set(named.map((name) => posix.join(posix.dirname(path), name)));
  return [...files.values()].filter(
    (file) => locations.has(file.path) || [`${path}_data`, `${path}.data`].some((start) => file.path.startsWith(start)),
  );
}

/**
 * Reads the values of the entries with the key `location`. In the bytes of a graph, such an entry is field 1, the word
 * `location`, field 2, a length as a varint of at most two bytes, and the name of the file.
 */
function externalData(graph: Buffer): string[] {
  const key = Buffer.from("\n\x08location\x12", "latin1");
  const names = new Set<string>();
  for (let at = graph.indexOf(key); at >= 0; at = graph.indexOf(key, at + key.length)) {
    const from = at + key.length;
    const [low = 0, high = 0] = graph.subarray(from, from + 2);
    const [start, length] = low < 0x80 ? [from + 1, low] : [from + 2, (low & 0x7f) | (high << 7)];
    const name = graph.toString("utf8", start, start + length);
    if (isSafePath(name)) names.add(name);
  }
  return [...names];
}

function below(folder: string, file: string): string {
  return folder === "" || folder === "." ? file : `${folder}/${file}`;
}

function filesOf(root: string, graph: string, folder: string, license: string | undefined): HubFiles {
  const named = license === undefined ? {} : { license };
  return { folder: join(root, folder), graph: posix.relative(folder, graph), ...named };
}

/** The folder of a repository. It has the name that Hugging Face's tools give it in their cache. */
function homeOf(repository: string, cache: string): string {
  return join(cache, FOLDER_PREFIX + repository.replace("/", "--"));
}

function snapshot(repository: string, commit: string, cache: string): string {
  return join(homeOf(repository, cache), "snapshots", commit);
}

function refOf({ repository, revision }: HubId, cache: string): string {
  return join(homeOf(repository, cache), "refs", encodeURIComponent(revision));
}

function commitOf(id: HubId, cache: string): string | undefined {
  return /^[0-9a-f]{40}$/.test(id.revision) ? id.revision : readRef(refOf(id, cache));
}

function readRef(path: string): string | undefined {
  if (!existsSync(path)) return undefined;
  const commit = readFileSync(path, "utf8").trim();
  return /^[0-9a-f]{40}$/.test(commit) ? commit : undefined;
}

/** Reads the manifest of a folder. Returns undefined if it cannot be read, so that the model is downloaded again. */
function readManifest(root: string): Manifest | undefined {
  try {
    return manifestSchema.parse(JSON.parse(readFileSync(join(root, MANIFEST), "utf8")));
  } catch {
    return undefined;
  }
}

function namesIn(folder: string): string[] {
  return existsSync(folder) ? readdirSync(folder).sort() : [];
}

/** Writes a file so that other processes see either the old content or all of the new content. */
async function writeWhole(path: string, text: string, drafts: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  const draft = join(drafts, `draft.${randomUUID()}`);
  await writeFile(draft, text);
  await rename(draft, path);
}
