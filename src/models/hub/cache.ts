import { randomUUID } from "node:crypto";
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { copyFile, mkdir, rename, rm, symlink, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { dirname, join, posix, relative } from "node:path";
import { load } from "js-yaml";
import { z } from "zod";
import { lazy } from "../../support/lazy.ts";
import { formatHubId, type HubId, isSafePath, MAIN } from "./hub-id.ts";

/*
 * The cache of Hugging Face's tools, which guard shares with them: https://huggingface.co/docs/huggingface_hub/guides/manage-cache.
 * For each repository it has a folder `models--owner--name` with these:
 *
 * - `blobs/<hash>`: contents, named by their hash.
 * - `snapshots/<commit>/<path>`: the files of a commit, as links to contents.
 * - `refs/<revision>`: the commit of a branch or tag.
 * - `.no_exist/<commit>/<path>`: empty files, which say that the commit has no such file.
 * - `trees/<commit>.json`: all files of the commit; only version 2 of Python's library writes it, where it downloaded all of them.
 *
 * Most commits have no such list, so a model counts as complete if its required files are there.
 */

/** The usual ONNX graphs, best first, each with its possible paths. */
const GRAPHS = ["model.onnx", "model_quantized.onnx", "model_int8.onnx"].map((name) => [name, `onnx/${name}`]);
export const CONFIG = "config.json";
export const TOKENIZER = "tokenizer.json";
export const CARD = "README.md";
/** The name of a missing graph in messages. */
const GRAPH = "an ONNX file";
const FOLDER_PREFIX = "models--";
/**
 * Graphs with external weights are smaller than this many bytes, so a larger graph is not searched for the names of weight files.
 */
const MAX_SEARCHED = 64 * 1024 * 1024;

/** The files of a hub model. */
export interface HubFiles {
  /** The folder with `config.json` and `tokenizer.json`. */
  folder: string;
  /** The graph, as a path in the folder. */
  graph: string;
  /** The names of the model's licences in its card. */
  license?: string;
}

/** A hub model on this machine. */
export interface HubEntry extends HubFiles {
  model: string;
}

/**
 * Returns the cache folder, as Hugging Face's tools do: `HF_HUB_CACHE`, `HUGGINGFACE_HUB_CACHE`, the folder `hub` in
 * `HF_HOME`, or else in `huggingface` of the user's cache
 * (https://huggingface.co/docs/huggingface_hub/package_reference/environment_variables).
 */
export function hubCache(env: NodeJS.ProcessEnv): string {
  const caches = env.XDG_CACHE_HOME || join(homedir(), ".cache");
  const home = env.HF_HOME || join(caches, "huggingface");
  const folder = env.HF_HUB_CACHE || env.HUGGINGFACE_HUB_CACHE || join(home, "hub");
  return folder.replace(/^~(?=$|[\\/])/, homedir());
}

/** Finds a downloaded model, or the names of its missing files. */
export function findHubModel(id: HubId, cache: string): HubFiles | { missing: string[] } {
  const home = repositoryFolder(id.repository, cache);
  const commit = /^[0-9a-f]{40}$/.test(id.revision) ? id.revision : readRef(join(home, "refs", id.revision));
  return commit === undefined ? { missing: [CONFIG, TOKENIZER, id.graph ?? GRAPH] } : findCommit(home, commit, id);
}

function findCommit(home: string, commit: string, id: HubId): HubFiles | { missing: string[] } {
  const root = join(home, "snapshots", commit);
  const tree = readTree(join(home, "trees", `${commit}.json`));
  const has = (path: string) => existsSync(join(root, path));
  const absent = (path: string) => tree?.has(path) === false || existsSync(join(home, ".no_exist", commit, path));
  const here = listGraphs(root);
  const graph = id.graph ?? chooseGraph(has, absent, here);
  const folder = (graph === undefined ? undefined : chooseFolder(graph, has)) ?? "";
  const needed = [CONFIG, TOKENIZER].map((file) => joinPath(folder, file));
  if (graph === undefined) {
    const [known] = here;
    const hint = known === undefined ? "" : ` (of those here, ${formatHubId({ ...id, graph: known })} can be named)`;
    return { missing: [...needed.filter((file) => !has(file)), GRAPH + hint] };
  }
  const missing = [...needed, graph, ...(has(graph) ? readWeightNames(graph, join(root, graph)) : [])].filter(
    (file) => !has(file),
  );
  if (missing.length > 0) return { missing };
  const license = readLicense(join(root, CARD));
  return {
    folder: join(root, folder),
    graph: posix.relative(folder, graph),
    ...(license === undefined ? {} : { license }),
  };
}

/**
 * Chooses the graph of a model whose name does not contain one.
 *
 * @param has whether a file exists.
 * @param absent whether a file is known not to exist. A smaller graph is not chosen while a better one may exist, because the same name
 *   would then mean different models.
 * @param all all existing graphs.
 */
export function chooseGraph(
  has: (path: string) => boolean,
  absent: (path: string) => boolean,
  all: readonly string[],
): string | undefined {
  for (const places of GRAPHS) {
    const graph = places.find(has);
    if (graph !== undefined) return graph;
    if (!places.every(absent)) return undefined;
  }
  return all.length === 1 ? all[0] : undefined;
}

/**
 * Chooses the folder with the configuration and the tokenizer: some repositories have them only in the folder of the graph. It returns
 * undefined if no folder has both.
 */
export function chooseFolder(graph: string, has: (path: string) => boolean): string | undefined {
  return ["", posix.dirname(graph)].find((at) => [CONFIG, TOKENIZER].every((file) => has(joinPath(at, file))));
}

/** Joins a folder and a file of a repository to a path. */
export function joinPath(folder: string, file: string): string {
  return folder === "" || folder === "." ? file : `${folder}/${file}`;
}

/** Lists the graphs in a folder, as paths in it. */
function listGraphs(root: string): string[] {
  if (!existsSync(root)) return [];
  const paths = readdirSync(root, { recursive: true, encoding: "utf8" }).map((path) => path.replaceAll("\\", "/"));
  return paths.filter((path) => path.endsWith(".onnx")).sort();
}

/**
 * Reads the names of a graph's weight files, as paths in the repository: `external_data` of a TensorProto in
 * https://github.com/onnx/onnx/blob/main/onnx/onnx.proto.
 *
 * @param graph the path of the graph in the repository.
 * @param content the path of its content on disk.
 */
export function readWeightNames(graph: string, content: string): string[] {
  if (statSync(content).size > MAX_SEARCHED) return [];
  return readExternalData(readFileSync(content)).map((name) => posix.join(posix.dirname(graph), name));
}

/**
 * Reads the values of the entries with the key `location`. In the bytes of a graph, such an entry is field 1, the word
 * `location`, field 2, a length as a varint of at most two bytes, and the name of the file.
 */
function readExternalData(graph: Buffer): string[] {
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

const treeSchema = lazy(() => z.looseObject({ files: z.record(z.string(), z.unknown()) }));

/** Reads the list of a commit's files, if there is a valid one. */
function readTree(path: string): Set<string> | undefined {
  if (!existsSync(path)) return undefined;
  try {
    return new Set(Object.keys(treeSchema().parse(JSON.parse(readFileSync(path, "utf8"))).files));
  } catch {
    return undefined;
  }
}

const textsSchema = lazy(() => z.union([z.string().transform((text) => [text]), z.array(z.string())]).catch([]));
const cardSchema = lazy(() => z.looseObject({ license: textsSchema(), license_name: textsSchema() }));

/** Reads the names of the licences from the front matter of a model card: https://huggingface.co/docs/hub/model-cards. */
function readLicense(card: string): string | undefined {
  if (!existsSync(card)) return undefined;
  const [, head] = /^---\r?\n([\s\S]*?)\r?\n---/.exec(readFileSync(card, "utf8")) ?? [];
  if (head === undefined) return undefined;
  try {
    const { license, license_name } = cardSchema().parse(load(head));
    return [...license, ...license_name].filter((name) => name !== "other").join(", ") || undefined;
  } catch {
    // Front matter that is not YAML states no licence.
    return undefined;
  }
}

/** Lists the hub models in a cache folder that guard can use. */
export function listHubModels(cache: string): HubEntry[] {
  return listFolder(cache).flatMap((name) => {
    if (!name.startsWith(FOLDER_PREFIX)) return [];
    const repository = name.slice(FOLDER_PREFIX.length).replace("--", "/");
    const home = join(cache, name);
    const revisions = readRevisions(home);
    return listFolder(join(home, "snapshots")).flatMap((commit) => {
      const id = { repository, revision: revisions.get(commit) ?? commit };
      const entryOf = (named: HubId): HubEntry[] => {
        const found = findCommit(home, commit, named);
        return "missing" in found ? [] : [{ model: formatHubId(named), ...found }];
      };
      const usual = entryOf(id);
      const others = listGraphs(join(home, "snapshots", commit)).flatMap((graph) => entryOf({ ...id, graph }));
      const isUsual = (entry: HubEntry) =>
        usual.some(({ folder, graph }) => folder === entry.folder && graph === entry.graph);
      return [...usual, ...others.filter((entry) => !isUsual(entry))];
    });
  });
}

/** Reads the names of branches and tags by commit. `main` takes precedence. */
function readRevisions(home: string): Map<string, string> {
  const refs = join(home, "refs");
  if (!existsSync(refs)) return new Map();
  const names = readdirSync(refs, { recursive: true, encoding: "utf8" }).sort();
  const entries = names.flatMap((name): [string, string][] => {
    const commit = readRef(join(refs, name));
    return commit === undefined ? [] : [[commit, name.replaceAll("\\", "/")]];
  });
  return new Map(entries.sort(([, a], [, b]) => Number(a === MAIN) - Number(b === MAIN)));
}

/** Removes a repository from the cache, and returns whether it was there. */
export async function removeHubModel(repository: string, cache: string): Promise<boolean> {
  const home = repositoryFolder(repository, cache);
  if (!existsSync(home)) return false;
  await rm(home, { recursive: true });
  return true;
}

/** Returns the folder `blobs` of a repository. */
export function blobsFolder(repository: string, cache: string): string {
  return join(repositoryFolder(repository, cache), "blobs");
}

/** Adds files to the snapshot of a commit, in the given order. */
export async function addToSnapshot(
  id: HubId,
  commit: string,
  cache: string,
  files: readonly { path: string; blob: string }[],
): Promise<void> {
  const root = join(repositoryFolder(id.repository, cache), "snapshots", commit);
  for (const { path, blob } of files) {
    const target = join(root, path);
    if (existsSync(target) && statSync(target).size === statSync(blob).size) continue;
    await mkdir(dirname(target), { recursive: true });
    // A rename is atomic, so other processes see either file.
    await replaceFile(target, async (draft) => {
      await symlink(relative(dirname(target), blob), draft).catch(async (error: NodeJS.ErrnoException) => {
        // Windows lets only some users create links. Hugging Face's tools copy there too.
        if (process.platform !== "win32") throw error;
        await copyFile(blob, draft);
      });
    });
  }
}

/** Records which usual graphs a commit does not have, so that the graph can be chosen again offline. */
export async function addAbsentGraphs(
  id: HubId,
  commit: string,
  cache: string,
  has: (path: string) => boolean,
): Promise<void> {
  for (const path of GRAPHS.flat().filter((graph) => !has(graph))) {
    const target = join(repositoryFolder(id.repository, cache), ".no_exist", commit, path);
    await mkdir(dirname(target), { recursive: true });
    await writeFile(target, "");
  }
}

/** Records the commit of a branch or tag. */
export async function setRevision({ repository, revision }: HubId, commit: string, cache: string): Promise<void> {
  if (revision === commit) return;
  const target = join(repositoryFolder(repository, cache), "refs", revision);
  await mkdir(dirname(target), { recursive: true });
  // Other tools read the whole content as the commit, so there is no line break.
  await replaceFile(target, (draft) => writeFile(draft, commit));
}

/** Replaces a file atomically, so that other processes see either the old or the new one. */
async function replaceFile(target: string, write: (draft: string) => Promise<void>): Promise<void> {
  const draft = `${target}.${randomUUID().slice(0, 8)}.tmp`;
  try {
    await write(draft);
    await rename(draft, target);
  } finally {
    await rm(draft, { force: true });
  }
}

function repositoryFolder(repository: string, cache: string): string {
  return join(cache, FOLDER_PREFIX + repository.replace("/", "--"));
}

function readRef(path: string): string | undefined {
  if (statSync(path, { throwIfNoEntry: false })?.isFile() !== true) return undefined;
  const commit = readFileSync(path, "utf8").trim();
  return /^[0-9a-f]{40}$/.test(commit) ? commit : undefined;
}

function listFolder(folder: string): string[] {
  return existsSync(folder) ? readdirSync(folder).sort() : [];
}
