import { z } from "zod";
import { GuardError } from "../../support/errors.ts";
import { lazy } from "../../support/lazy.ts";
import { requirePackages } from "../../support/optional-packages.ts";
import { type HubId, isSafePath } from "./hub-id.ts";
import { downloadError, type HubSettings, hubFetch, Retries } from "./requests.ts";

/** A file of a repository. */
export interface HubFile {
  path: string;
  /** In bytes. */
  size: number;
  /**
   * The name of the file's content in the cache, which is its hash: the SHA-256 (64 digits) for a file in Git LFS, and otherwise
   * the SHA-1 (40 digits) by which Git names it.
   */
  etag: string;
}

/** The files of a model at one commit. */
export interface HubInfo {
  commit: string;
  files: ReadonlyMap<string, HubFile>;
}

const hex = (length: number) => z.string().regex(new RegExp(`^[0-9a-f]{${length}}$`));
/** An entry of `GET /api/models/{repo}/tree/{revision}`: https://huggingface.co/docs/hub/api. */
const entrySchema = lazy(() =>
  z.discriminatedUnion("type", [
    z.looseObject({
      type: z.literal("file"),
      path: z.string(),
      size: z.int().min(0),
      oid: hex(40),
      lfs: z.looseObject({ oid: hex(64) }).nullish(),
    }),
    z.looseObject({ type: z.enum(["directory", "unknown"]) }),
  ]),
);

/** Loads the hub's client when something is downloaded. */
async function loadClient(): Promise<typeof import("@huggingface/hub")> {
  requirePackages("a model of the hub", ["@huggingface/hub"]);
  return import("@huggingface/hub");
}

/**
 * Fetches the list of a model's files.
 *
 * @throws GuardError `GUARD_DOWNLOAD` if the hub does not answer with one.
 */
export async function fetchHubInfo(id: HubId, settings: HubSettings, signal?: AbortSignal): Promise<HubInfo> {
  const { listFiles, modelInfo } = await loadClient();
  const { repository: name, revision } = id;
  const fetch = hubFetch({ id, settings, signal, retries: new Retries(), isWhole: true });
  const at = { hubUrl: settings.endpoint, fetch };
  const files = new Map<string, HubFile>();
  try {
    const { sha } = await modelInfo({ name, revision, additionalFields: ["sha"], ...at });
    const commit = hex(40).parse(sha);
    for await (const found of listFiles({ repo: { type: "model", name }, revision: commit, recursive: true, ...at })) {
      const entry = entrySchema().parse(found);
      if (entry.type !== "file" || !isSafePath(entry.path)) continue;
      const { path, size, oid, lfs } = entry;
      files.set(path, { path, size, etag: lfs?.oid ?? oid });
    }
    return { commit, files };
  } catch (error) {
    signal?.throwIfAborted();
    if (error instanceof GuardError) throw error;
    throw downloadError(`${settings.endpoint} gave an invalid answer for the model ${name}`, error);
  }
}

/** Reads a file from an offset in bytes to its end. */
export type FileReader = (first: number) => AsyncGenerator<Uint8Array, void, void>;

/**
 * Opens a file of a commit. No request is sent until it is read.
 *
 * @returns a function that reads the file. It throws a `GuardError` if the hub refuses, and another error if the connection breaks.
 */
export async function openHubFile(
  id: HubId,
  settings: HubSettings,
  commit: string,
  { path, size, etag }: HubFile,
  { retries, signal }: { retries: Retries; signal: AbortSignal | undefined },
): Promise<FileReader> {
  const { downloadFile } = await loadClient();
  const encoded = path.split("/").map(encodeURIComponent).join("/");
  const request = hubFetch({ id, settings, retries, signal, isWhole: false });
  let refused: unknown;
  const blob = await downloadFile({
    repo: { type: "model", name: id.repository },
    path,
    revision: commit,
    hubUrl: settings.endpoint,
    fetch: async (input, init) => {
      refused = undefined;
      return request(input, init).catch((error) => {
        refused = error;
        throw error;
      });
    },
    // The list has size and hash, so the client need not request them. It would also request addresses of the Xet service, which a
    // mirror does not have. The plain address serves every file, with ranges.
    downloadInfo: { url: `${settings.endpoint}/${id.repository}/resolve/${commit}/${encoded}`, size, etag },
    xet: false,
  });
  if (!blob) throw downloadError(`${id.repository} has no file ${path}`);
  return async function* read(first) {
    try {
      for await (const chunk of blob.slice(first).stream()) yield chunk;
    } catch (error) {
      // The client keeps only the message of an error of `fetch`.
      throw refused ?? error;
    }
  };
}
