import { randomUUID } from "node:crypto";
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { copyFile, mkdir, rename, rm, symlink, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { dirname, join, posix, relative } from "node:path";
import { load } from "js-yaml";
import { z } from "zod";
import { lazy } from "../../support/lazy.ts";
import { type HubId, hubName, isSafePath, MAIN } from "./hub-id.ts";

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
 * Most commits have no such list, so a model is here when the files are here that it cannot do without.
 */

/** The ONNX graphs that a repository may have, the best first, each with the places where it may be. */
const GRAPHS = ["model.onnx", "model_quantized.onnx", "model_int8.onnx"].map((name) => [name, `onnx/${name}`]);
export const CONFIG = "config.json";
export const TOKENIZER = "tokenizer.json";
export const CARD = "README.md";
/** What a graph without a name is called. */
const GRAPH = "an ONNX file";
const FOLDER_PREFIX = "models--";
/**
 * Graphs that keep their weights in other files are smaller than this many bytes, so a larger graph is not searched for the
 * names of such files.
 */
const MAX_SEARCHED = 64 * 1024 * 1024;

/** The files of a model of the hub. */
export interface HubFiles {
  /** The folder with `config.json` and `tokenizer.json`. */
  folder: string;
  /** The graph, as a path in the folder. */
  graph: string;
  /** The names of the model's licences, as its card writes them. */
  license?: string;
}

/** A model of the hub on this machine. */
export interface HubEntry extends HubFiles {
  model: string;
}

/**
 * The folder of the cache, where Hugging Face's tools look for it: `HF_HUB_CACHE`, `HUGGINGFACE_HUB_CACHE`, the folder `hub` in
 * `HF_HOME`, or else in `huggingface` of the user's cache
 * (https://huggingface.co/docs/huggingface_hub/package_reference/environment_variables).
 */
export function hubCache(env: NodeJS.ProcessEnv): string {
  const caches = env.XDG_CACHE_HOME || join(homedir(), ".cache");
  const home = env.HF_HOME || join(caches, "huggingface");
  const folder = env.HF_HUB_CACHE || env.HUGGINGFACE_HUB_CACHE || join(home, "hub");
  return folder.replace(/^~(?=$|[\\/])/, homedir());
}

/** Finds a model that was downloaded. If it is not complete, tells which of its files are missing. */
export function findHubModel(id: HubId, cache: string): HubFiles | { missing: string[] } {
  const home = homeOf(id.repository, cache);
  const commit = /^[0-9a-f]{40}$/.test(id.revision) ? id.revision : readRef(join(home, "refs", id.revision));
  return commit === undefined ? { missing: [CONFIG, TOKENIZER, id.graph ?? GRAPH] } : findAt(home, commit, id);
}

function findAt(home: string, commit: string, id: HubId): HubFiles | { missing: string[] } {
  const root = join(home, "snapshots", commit);
  const tree = readTree(join(home, "trees", `${commit}.json`));
  const has = (path: string) => existsSync(join(root, path));
  const absent = (path: string) => tree?.has(path) === false || existsSync(join(home, ".no_exist", commit, path));
  const here = graphsIn(root);
  const graph = id.graph ?? chooseGraph(has, absent, here);
  const folder = (graph === undefined ? undefined : chooseFolder(graph, has)) ?? "";
  const needed = [CONFIG, TOKENIZER].map((file) => below(folder, file));
  if (graph === undefined) {
    const [known] = here;
    const hint = known === undefined ? "" : ` (of those here, ${hubName({ ...id, graph: known })} can be named)`;
    return { missing: [...needed.filter((file) => !has(file)), GRAPH + hint] };
  }
  const missing = [...needed, graph, ...(has(graph) ? weightsOf(graph, join(root, graph)) : [])].filter(
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
 * The graph of a model whose name contains none.
 *
 * @param has whether there is a file.
 * @param absent whether it is known that there is none. A smaller graph is not taken while a better one may exist, because one name
 *   would then stand for different models.
 * @param all all graphs that are there.
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
 * The folder with the configuration and the tokenizer: some repositories keep them only in the folder of the graph. Undefined where
 * neither has both.
 */
export function chooseFolder(graph: string, has: (path: string) => boolean): string | undefined {
  return ["", posix.dirname(graph)].find((at) => [CONFIG, TOKENIZER].every((file) => has(below(at, file))));
}

/** The path of a file in a folder of a repository. */
export function below(folder: string, file: string): string {
  return folder === "" || folder === "." ? file : `${folder}/${file}`;
}

/** The graphs in a folder, as paths in it. */
function graphsIn(root: string): string[] {
  if (!existsSync(root)) return [];
  const paths = readdirSync(root, { recursive: true, encoding: "utf8" }).map((path) => path.replaceAll("\\", "/"));
  return paths.filter((path) => path.endsWith(".onnx")).sort();
}

/**
 * The files in which a graph says that its weights are, as paths in the repository (`external_data` of a TensorProto in
 * https://github.com/onnx/onnx/blob/main/onnx/onnx.proto).
 *
 * @param graph its path in the repository.
 * @param content where its content is.
 */
export function weightsOf(graph: string, content: string): string[] {
  if (statSync(content).size > MAX_SEARCHED) return [];
  return externalData(readFileSync(content)).map((name) => posix.join(posix.dirname(graph), name));
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

const treeSchema = lazy(() => z.looseObject({ files: z.record(z.string(), z.unknown()) }));

/** Reads the list of a commit's files. Undefined where there is none that can be read. */
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

/** Reads the names of the licences from the head of a model's card: https://huggingface.co/docs/hub/model-cards. */
function readLicense(card: string): string | undefined {
  if (!existsSync(card)) return undefined;
  const [, head] = /^---\r?\n([\s\S]*?)\r?\n---/.exec(readFileSync(card, "utf8")) ?? [];
  if (head === undefined) return undefined;
  try {
    const { license, license_name } = cardSchema().parse(load(head));
    return [...license, ...license_name].filter((name) => name !== "other").join(", ") || undefined;
  } catch {
    // A head that is not YAML says nothing about licences.
    return undefined;
  }
}

/** The models of the hub in a cache folder that guard can use. */
export function listHubModels(cache: string): HubEntry[] {
  return namesIn(cache).flatMap((name) => {
    if (!name.startsWith(FOLDER_PREFIX)) return [];
    const repository = name.slice(FOLDER_PREFIX.length).replace("--", "/");
    const home = join(cache, name);
    const revisions = revisionsOf(home);
    return namesIn(join(home, "snapshots")).flatMap((commit) => {
      const id = { repository, revision: revisions.get(commit) ?? commit };
      const entryOf = (named: HubId): HubEntry[] => {
        const found = findAt(home, commit, named);
        return "missing" in found ? [] : [{ model: hubName(named), ...found }];
      };
      const usual = entryOf(id);
      const others = graphsIn(join(home, "snapshots", commit)).flatMap((graph) => entryOf({ ...id, graph }));
      const isUsual = (entry: HubEntry) =>
        usual.some(({ folder, graph }) => folder === entry.folder && graph === entry.graph);
      return [...usual, ...others.filter((entry) => !isUsual(entry))];
    });
  });
}

/** The names of branches and tags by commit; `main` comes before others. */
function revisionsOf(home: string): Map<string, string> {
  const refs = join(home, "refs");
  if (!existsSync(refs)) return new Map();
  const names = readdirSync(refs, { recursive: true, encoding: "utf8" }).sort();
  const entries = names.flatMap((name): [string, string][] => {
    const commit = readRef(join(refs, name));
    return commit === undefined ? [] : [[commit, name.replaceAll("\\", "/")]];
  });
  return new Map(entries.sort(([, a], [, b]) => Number(a === MAIN) - Number(b === MAIN)));
}

/** Removes everything that was downloaded from a repository, and tells whether there was anything. */
export async function removeHubModel(repository: string, cache: string): Promise<boolean> {
  const home = homeOf(repository, cache);
  if (!existsSync(home)) return false;
  await rm(home, { recursive: true });
  return true;
}

/** The folder of contents of a repository. */
export function blobsOf(repository: string, cache: string): string {
  return join(homeOf(repository, cache), "blobs");
}

/** Makes contents the files of a commit, in the given order. */
export async function addToSnapshot(
  id: HubId,
  commit: string,
  cache: string,
  files: readonly { path: string; blob: string }[],
): Promise<void> {
  const root = join(homeOf(id.repository, cache), "snapshots", commit);
  for (const { path, blob } of files) {
    const target = join(root, path);
    if (existsSync(target) && statSync(target).size === statSync(blob).size) continue;
    await mkdir(dirname(target), { recursive: true });
    // A rename replaces what is there at once, so other processes see either file.
    await replace(target, async (draft) => {
      await symlink(relative(dirname(target), blob), draft).catch(async (error: NodeJS.ErrnoException) => {
        // Windows lets only some users make links. Hugging Face's tools copy there as well.
        if (process.platform !== "win32") throw error;
        await copyFile(blob, draft);
      });
    });
  }
}

/** Writes which of the usual graphs a commit does not have, so that the usual one is found again without the hub. */
export async function addAbsentGraphs(
  id: HubId,
  commit: string,
  cache: string,
  has: (path: string) => boolean,
): Promise<void> {
  for (const path of GRAPHS.flat().filter((graph) => !has(graph))) {
    const target = join(homeOf(id.repository, cache), ".no_exist", commit, path);
    await mkdir(dirname(target), { recursive: true });
    await writeFile(target, "");
  }
}

/** Writes which commit a branch or tag is at. */
export async function setRevision({ repository, revision }: HubId, commit: string, cache: string): Promise<void> {
  if (revision === commit) return;
  const target = join(homeOf(repository, cache), "refs", revision);
  await mkdir(dirname(target), { recursive: true });
  // Other tools take the whole content for the commit, so there is no line break.
  await replace(target, (draft) => writeFile(draft, commit));
}

/** Puts a file into a place so that other processes see either the old or all of the new one. */
async function replace(target: string, write: (draft: string) => Promise<void>): Promise<void> {
  const draft = `${target}.${randomUUID().slice(0, 8)}.tmp`;
  try {
    await write(draft);
    await rename(draft, target);
  } finally {
    await rm(draft, { force: true });
  }
}

function homeOf(repository: string, cache: string): string {
  return join(cache, FOLDER_PREFIX + repository.replace("/", "--"));
}

function readRef(path: string): string | undefined {
  if (statSync(path, { throwIfNoEntry: false })?.isFile() !== true) return undefined;
  const commit = readFileSync(path, "utf8").trim();
  return /^[0-9a-f]{40}$/.test(commit) ? commit : undefined;
}

function namesIn(folder: string): string[] {
  return existsSync(folder) ? readdirSync(folder).sort() : [];
}
