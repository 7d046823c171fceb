import { setTimeout as sleep } from "node:timers/promises";
import { z } from "zod";
import { GuardError, GuardValidationError } from "../../errors.ts";
import { version } from "../../support/version.ts";
import { type HubId, hubName, isSafePath } from "./hub-id.ts";

const ENDPOINT = "https://huggingface.co";

/** How many failures in a row are tried again. The count starts anew when a byte arrives. */
const MAX_RETRIES = 4;
/** The longest wait that a server may ask for. A longer one is an error, so that the user decides. */
const MAX_WAIT_SECONDS = 120;
const RETRIED = new Set([408, 429, 500, 502, 503, 504]);

/** Where the hub is and what may be asked of it. The tools of Hugging Face read the same settings from the environment. */
export interface HubSettings {
  endpoint: string;
  token: string | undefined;
  offline: boolean;
}

/** Reads `HF_ENDPOINT`, `HF_TOKEN` and `HF_HUB_OFFLINE`. */
export function hubSettings(env: NodeJS.ProcessEnv = process.env): HubSettings {
  const endpoint = (env.HF_ENDPOINT || ENDPOINT).replace(/\/+$/, "");
  const offline = /^(1|on|yes|true)$/i.test(env.HF_HUB_OFFLINE ?? "");
  return { endpoint, token: env.HF_TOKEN?.trim() || undefined, offline };
}

/**
 * Checks the address of the hub. This happens only when the hub is about to be asked, because a user who never downloads need
 * not have a correct address.
 *
 * @throws GuardValidationError for an endpoint that is no URL.
 */
export function checkEndpoint({ endpoint }: HubSettings): void {
  if (!URL.canParse(endpoint) || !/^https?:$/.test(new URL(endpoint).protocol)) {
    throw new GuardValidationError([{ path: "HF_ENDPOINT", message: "expected a URL of http or https" }]);
  }
}

/** A file of a repository. */
export interface HubFile {
  path: string;
  size: number | undefined;
  /** The SHA-256 of the content. The hub states it for large files only. */
  sha256: string | undefined;
  /** The SHA-1 by which Git names the file. It covers the content of small files only; for a large file it covers a pointer. */
  blobId: string | undefined;
}

/** What the hub says of a model at one commit. */
export interface HubInfo {
  commit: string;
  license: string | undefined;
  files: ReadonlyMap<string, HubFile>;
}

const hex = (length: number) => z.string().regex(new RegExp(`^[0-9a-f]{${length}}$`));
const card = z.looseObject({
  license: z.union([z.string(), z.array(z.string())]).nullish(),
  license_name: z.string().nullish(),
});
/** As documented for `GET /api/models/{repo}/revision/{revision}` at https://huggingface.co/docs/hub/api, with `blobs=true`. */
const infoSchema = z.looseObject({
  sha: hex(40),
  cardData: card.nullish().catch(undefined),
  tags: z.array(z.string()).nullish(),
  siblings: z.array(
    z.looseObject({
      rfilename: z.string(),
      size: z.int().min(0).nullish(),
      blobId: hex(40).nullish(),
      lfs: z.looseObject({ sha256: hex(64).nullish() }).nullish(),
    }),
  ),
});

/** Makes the error for a download that cannot be done. Users see the message unchanged. */
export function downloadError(message: string, cause?: unknown): GuardError {
  return new GuardError("GUARD_DOWNLOAD", message, cause === undefined ? {} : { cause });
}

/** Counts failures and waits between them. */
export class Retries {
  #failures = 0;

  /** Says that bytes have arrived, so that the next failure counts as the first one again. */
  progressed(): void {
    this.#failures = 0;
  }

  /**
   * Waits before the next attempt.
   *
   * @param seconds how long the server asks to wait. Without it the wait is twice as long as the last one.
   * @throws `error` when there have been too many failures in a row.
   */
  async wait(error: GuardError, seconds: number | undefined, signal: AbortSignal | undefined): Promise<void> {
    this.#failures += 1;
    if (this.#failures > MAX_RETRIES) throw error;
    if (seconds !== undefined && seconds > MAX_WAIT_SECONDS) {
      throw downloadError(`${error.message}; it asks to be left alone for ${seconds} s`, error);
    }
    const pause = seconds === undefined ? 2 ** (this.#failures - 2) * (0.75 + Math.random() / 2) : seconds;
    await sleep(pause * 1000, undefined, signal ? { signal } : {}).catch(() => signal?.throwIfAborted());
  }
}

/** Talks to the hub: https://huggingface.co/docs/hub/api. */
export class HubClient {
  readonly #settings: HubSettings;

  constructor(settings: HubSettings) {
    this.#settings = settings;
  }

  /** Asks the hub which files a model has. */
  async info(id: HubId, signal?: AbortSignal): Promise<HubInfo> {
    const url = `${this.#settings.endpoint}/api/models/${id.repository}/revision/${encodeURIComponent(id.revision)}?blobs=true`;
    const retries = new Retries();
    for (;;) {
      const response = await this.#send(id, url, {}, retries, signal);
      let body: unknown;
      try {
        body = await response.json();
      } catch (error) {
        signal?.throwIfAborted();
        const unreadable = downloadError(`${url} answered with something else than JSON`, error);
        // A body that breaks off is a failure of the network, so it is tried again. A body that is not JSON would be the same
        // next time.
        if (error instanceof SyntaxError) throw unreadable;
        await retries.wait(unreadable, undefined, signal);
        continue;
      }
      const parsed = infoSchema.safeParse(body);
      if (!parsed.success) throw downloadError(`${url} answered with something else than a model`, parsed.error);
      return infoOf(parsed.data);
    }
  }

  /**
   * Requests a file, beginning at a given byte.
   *
   * @returns a response with the status 200 (all of it), 206 or 416.
   */
  file(
    id: HubId,
    commit: string,
    path: string,
    from: number,
    retries: Retries,
    signal?: AbortSignal,
  ): Promise<Response> {
    const encoded = path.split("/").map(encodeURIComponent).join("/");
    const url = `${this.#settings.endpoint}/${id.repository}/resolve/${commit}/${encoded}`;
    // The file must not be compressed in transit, because then its bytes could not be counted.
    const headers = { "accept-encoding": "identity", ...(from > 0 ? { range: `bytes=${from}-` } : {}) };
    return this.#send(id, url, headers, retries, signal);
  }

  async #send(
    id: HubId,
    url: string,
    more: Record<string, string>,
    retries: Retries,
    signal: AbortSignal | undefined,
  ): Promise<Response> {
    const { token } = this.#settings;
    // `fetch` itself drops the token when a redirect leads to another origin.
    const authorization = token === undefined ? {} : { authorization: `Bearer ${token}` };
    const headers = { "user-agent": `guard-scan/${version}`, ...authorization, ...more };
    for (;;) {
      let response: Response;
      try {
        response = await fetch(url, { headers, ...(signal ? { signal } : {}) });
      } catch (error) {
        signal?.throwIfAborted();
        const reason = ((error as Error).cause as NodeJS.ErrnoException | undefined)?.code ?? (error as Error).message;
        await retries.wait(
          downloadError(`${hubName(id)}: ${new URL(url).origin} does not answer: ${reason}`, error),
          undefined,
          signal,
        );
        continue;
      }
      if (response.ok || response.status === 416) return response;
      await response.body?.cancel();
      const error = this.#refusal(id, url, response);
      if (!RETRIED.has(response.status)) throw error;
      await retries.wait(error, secondsToWait(response.headers), signal);
    }
  }

  /** Makes the error for an unsuccessful answer. Its message says what the user can do about it. */
  #refusal(id: HubId, url: string, { status, headers }: Response): GuardError {
    const { endpoint, token } = this.#settings;
    const { repository, revision } = id;
    const page = `${endpoint}/${repository}`;
    const tokens = `${endpoint}/settings/tokens`;
    const [code, said] = [headers.get("x-error-code"), headers.get("x-error-message")];
    if (code === "GatedRepo") {
      return downloadError(
        token === undefined
          ? `${repository} is gated: accept its conditions at ${page}, and set HF_TOKEN to a token of your account (${tokens})`
          : `${repository} is gated, and the account of HF_TOKEN has no access: ask for it at ${page}; a fine-grained token needs the permission to read gated repositories`,
      );
    }
    if (code === "RevisionNotFound") return downloadError(`${repository} has no revision ${revision} at ${endpoint}`);
    if (code === "EntryNotFound") return downloadError(`${hubName(id)} has no file ${new URL(url).pathname}`);
    if (status === 401 && token !== undefined && said?.startsWith("Invalid credentials")) {
      return downloadError(`${endpoint} does not know the token in HF_TOKEN; tokens are at ${tokens}`);
    }
    if (said?.includes("is disabled")) return downloadError(`${repository} cannot be had: ${endpoint} says: ${said}`);
    if (code === "RepoNotFound" || status === 401 || status === 403 || status === 404) {
      return downloadError(
        token === undefined
          ? `there is no folder ${repository} here and no public model ${repository} at ${endpoint}; for a private one set HF_TOKEN to a token that may read it (${tokens})`
          : `there is no folder ${repository} here, and no model ${repository} at ${endpoint} that HF_TOKEN may read (status ${status}); tokens are at ${tokens}`,
      );
    }
    return downloadError(`${hubName(id)}: ${endpoint} answered with status ${status}${said ? `: ${said}` : ""}`);
  }
}

function infoOf({ sha, cardData, tags, siblings }: z.output<typeof infoSchema>): HubInfo {
  const named = [cardData?.license ?? [], cardData?.license_name ?? []].flat().filter((name) => name !== "other");
  const tagged = (tags ?? []).flatMap((tag) => (tag.startsWith("license:") ? tag.slice("license:".length) : []));
  const files = siblings
    .filter(({ rfilename }) => isSafePath(rfilename))
    .map(({ rfilename: path, size, blobId, lfs }): [string, HubFile] => [
      path,
      // For a large file Git's blob is only a pointer, so its SHA-1 says nothing about the content.
      {
        path,
        size: size ?? undefined,
        sha256: lfs?.sha256 ?? undefined,
        blobId: lfs ? undefined : (blobId ?? undefined),
      },
    ]);
  const license = (named.length > 0 ? named : tagged).join(", ");
  return { commit: sha, license: license || undefined, files: new Map(files) };
}

/**
 * Reads how long to wait: from `Retry-After`, in seconds or as a date (RFC 9110), or else from the end of the window in the
 * hub's `RateLimit` header (`"api";r=0;t=55`).
 */
function secondsToWait(headers: Headers): number | undefined {
  const after = headers.get("retry-after");
  if (after !== null) {
    const seconds = /^\d+$/.test(after.trim()) ? Number(after) : (Date.parse(after) - Date.now()) / 1000;
    if (!Number.isNaN(seconds)) return Math.max(0, Math.ceil(seconds));
  }
  const window = /;\s*t=(\d+)/.exec(headers.get("ratelimit") ?? "")?.[1];
  return window === undefined ? undefined : Number(window);
}
