import { setTimeout as sleep } from "node:timers/promises";
import { GuardError, GuardValidationError } from "../../support/errors.ts";
import { version } from "../../support/version.ts";
import { formatHubId, type HubId } from "./hub-id.ts";

const ENDPOINT = "https://huggingface.co";

/** How many consecutive failures are retried. The count restarts when a byte arrives. */
const MAX_RETRIES = 4;
/** The longest wait that a server may request. A longer one is an error, so that the user decides. */
const MAX_WAIT_SECONDS = 120;
const RETRIED = new Set([408, 429, 500, 502, 503, 504]);

/** The settings of the hub. Hugging Face's tools read the same ones from the environment. */
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
 * Validates the address of the hub. This happens before a request, because users who never download need no valid address.
 *
 * @throws GuardValidationError if the endpoint is not a URL.
 */
export function checkEndpoint({ endpoint }: HubSettings): void {
  if (!URL.canParse(endpoint) || !/^https?:$/.test(new URL(endpoint).protocol)) {
    throw new GuardValidationError([{ path: "HF_ENDPOINT", message: "expected an http or https URL" }]);
  }
}

/** Creates the error of a failed download. Users see the message unchanged. */
export function downloadError(message: string, cause?: unknown): GuardError {
  return new GuardError("GUARD_DOWNLOAD", message, cause === undefined ? {} : { cause });
}

/** Counts failures and waits between them. */
export class Retries {
  #failures = 0;

  /** Restarts the count after bytes have arrived. */
  reset(): void {
    this.#failures = 0;
  }

  /**
   * Waits before the next attempt.
   *
   * @param seconds the wait that the server requests. Without it, each wait is twice as long as the previous one.
   * @throws `error` after too many consecutive failures.
   */
  async wait(error: GuardError, seconds: number | undefined, signal: AbortSignal | undefined): Promise<void> {
    this.#failures += 1;
    if (this.#failures > MAX_RETRIES) throw error;
    if (seconds !== undefined && seconds > MAX_WAIT_SECONDS) {
      throw downloadError(`${error.message}; it requests a pause of ${seconds} s`, error);
    }
    const pause = seconds === undefined ? 2 ** (this.#failures - 2) * (0.75 + Math.random() / 2) : seconds;
    await sleep(pause * 1000, undefined, signal ? { signal } : {}).catch(() => signal?.throwIfAborted());
  }
}

/** The options of {@link hubFetch}. */
export interface RequestOptions {
  id: HubId;
  settings: HubSettings;
  retries: Retries;
  signal: AbortSignal | undefined;
  /** Whether the whole response is buffered, so that an interrupted one is retried. */
  isWhole: boolean;
}

/**
 * Creates a `fetch` for the official client with features that the client lacks: it waits and retries, explains refusals, aborts with the
 * signal, and sends tokens of any form, but only to the hub. (The client accepts only tokens that begin with `hf_`, although mirrors have
 * others.)
 *
 * It throws a `GuardError` for every request that finally fails.
 */
export function hubFetch({ id, settings, retries, signal, isWhole }: RequestOptions): typeof fetch {
  const { endpoint, token } = settings;
  return async (input, init) => {
    const url = String(input);
    const headers = new Headers(init?.headers);
    headers.set("user-agent", `guard-scan/${version}`);
    // Node.js drops the token when a redirect leads to another origin.
    if (token !== undefined && new URL(url).origin === new URL(endpoint).origin) {
      headers.set("authorization", `Bearer ${token}`);
    }
    // Compression in transit would make it impossible to count the bytes of a file.
    if (!isWhole) headers.set("accept-encoding", "identity");
    for (;;) {
      let response: Response;
      try {
        response = await fetch(url, { ...init, headers, ...(signal ? { signal } : {}) });
        if (response.ok && isWhole) response = new Response(await response.text(), { headers: response.headers });
      } catch (error) {
        signal?.throwIfAborted();
        const reason = ((error as Error).cause as NodeJS.ErrnoException | undefined)?.code ?? (error as Error).message;
        await retries.wait(
          downloadError(`${formatHubId(id)}: ${new URL(url).origin} does not answer: ${reason}`, error),
          undefined,
          signal,
        );
        continue;
      }
      if (response.ok) return fromRange(id, headers.get("range"), response);
      await response.body?.cancel();
      const error = refusalError(id, settings, url, response);
      if (!RETRIED.has(response.status)) throw error;
      await retries.wait(error, secondsToWait(response.headers), signal);
    }
  };
}

/** Makes a response begin at the requested byte, even if the server ignores ranges and sends the whole file. */
function fromRange(id: HubId, range: string | null, response: Response): Response {
  const start = Number(/^bytes=(\d+)-/.exec(range ?? "")?.[1] ?? 0);
  if (response.status === 206) {
    const first = Number(/^bytes (\d+)-/.exec(response.headers.get("content-range") ?? "")?.[1]);
    if (first === start) return response;
    void response.body?.cancel();
    throw downloadError(`${formatHubId(id)}: the server sent another range of a file than requested`);
  }
  if (start === 0 || !response.body) return response;
  let left = start;
  const rest = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      const kept = chunk.subarray(left);
      left -= chunk.length - kept.length;
      if (kept.length > 0) controller.enqueue(kept);
    },
  });
  return new Response(response.body.pipeThrough(rest), { headers: response.headers });
}

/** Creates the error of an unsuccessful response. Its message says what the user can do. */
function refusalError(
  id: HubId,
  { endpoint, token }: HubSettings,
  url: string,
  { status, headers }: Response,
): GuardError {
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
  if (code === "EntryNotFound") return downloadError(`${formatHubId(id)} has no file ${new URL(url).pathname}`);
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
  return downloadError(`${formatHubId(id)}: ${endpoint} answered with status ${status}${said ? `: ${said}` : ""}`);
}

/**
 * Reads the seconds to wait from `Retry-After` (seconds or a date, RFC 9110), or else from the window in the hub's `RateLimit` header
 * (`"api";r=0;t=55`).
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
