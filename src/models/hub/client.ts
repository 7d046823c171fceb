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

/** What the hub says of a model at one commit. */
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

/** Loads the client of the hub when something is downloaded. */
async function loadClient(): Promise<typeof import("@huggingface/hub")> {
  requirePackages("a model of the hub", ["@huggingface/hub"]);
  return import("@huggingface/hub");
}

/**
 * Asks the hub which files a model has.
 *
 * @throws GuardError `GUARD_DOWNLOAD` when it does not say.
 */
export async function hubInfo(id: HubId, settings: HubSettings, signal?: AbortSignal): Promise<HubInfo> {
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
    throw downloadError(`${settings.endpoint} answered with something else than the model ${name}`, error);
  }
}

/** Reads the bytes of a file from a given one to its end. */
export type ReadFrom = (first: number) => AsyncGenerator<Uint8Array, void, void>;

/**
 * Opens a file of a commit. Nothing is asked for until it is read.
 *
 * @returns a function that reads it. It throws a `GuardError` when the hub refuses, and another error when the connection breaks.
 */
export async function openHubFile(
  id: HubId,
  settings: HubSettings,
  commit: string,
  { path, size, etag }: HubFile,
  { retries, signal }: { retries: Retries; signal: AbortSignal | undefined },
): Promise<ReadFrom> {
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
    // Size and hash are known from the list, so the client need not ask for them. It would ask for the addresses of the Xet
    // service as well, which are not those of a mirror. The plain address serves every file, with ranges.
    downloadInfo: { url: `${settings.endpoint}/${id.repository}/resolve/${commit}/${encoded}`, size, etag },
    xet: false,
  });
  if (!blob) throw downloadError(`${id.repository} has no file ${path}`);
  return async function* read(first) {
    try {
      for await (const chunk of blob.slice(first).stream()) yield chunk;
    } catch (error) {
      // The client passes on only the message of what `fetch` throws.
      throw refused ?? error;
    }
  };
}
