import { Resolver } from "node:dns/promises";
import http, { type IncomingMessage } from "node:http";
import https from "node:https";
import type { LookupFunction } from "node:net";
import type { Abortable } from "../../native.ts";
import { GuardValidationError } from "../../support/errors.ts";
import { isAddress, parseNetwork, refusal } from "./public-addresses.ts";

/** The most bytes of response headers that are read. Bodies are not read. */
const MAX_HEADER_SIZE = 16 * 1024;
const REDIRECTS = new Set([301, 302, 303, 307, 308]);
const PORTS: Record<string, number> = { "http:": 80, "https:": 443 };

/** How URLs are requested: the options of URLReachability. */
export interface ProbeOptions {
  /** Statuses that count as reached. */
  successStatusCodes: readonly number[];
  /** Seconds for one URL, including redirects and DNS lookups. */
  timeout: number;
  maxRedirects: number;
  allowedPorts: readonly number[];
  /** Addresses and networks, in CIDR form, that are allowed although they are not public. */
  allowedNetworks: readonly string[];
  /** The DNS servers. The default is the servers of the system. */
  dnsServers?: readonly string[] | undefined;
}

/** An error whose message tells why a URL was not reached. */
class UnreachedError extends Error {}

/** Requests URLs at public addresses only. */
export class UrlProber {
  readonly #options: ProbeOptions;
  readonly #networks;

  /** @throws GuardValidationError for a DNS server that is not an address. */
  constructor(options: ProbeOptions) {
    this.#options = options;
    this.#networks = options.allowedNetworks.map(parseNetwork).filter((network) => network !== undefined);
    try {
      this.#resolver();
    } catch (error) {
      const message = `expected addresses, such as 1.1.1.1 or 1.1.1.1:53 (${(error as Error).message})`;
      throw new GuardValidationError([{ path: "dnsServers", message }], { cause: error });
    }
  }

  /** Returns the reason why a URL is not reached, or undefined if it is reached. */
  async findProblem(url: string, { signal }: Abortable): Promise<string | undefined> {
    const stop = new AbortController();
    const onAbort = () => stop.abort(signal?.reason);
    signal?.throwIfAborted();
    signal?.addEventListener("abort", onAbort, { once: true });
    const timer = setTimeout(() => stop.abort(new UnreachedError("timeout")), this.#options.timeout * 1000);
    try {
      const status = await this.#fetchStatus(new URL(url), stop.signal);
      return this.#options.successStatusCodes.includes(status) ? undefined : `status ${status}`;
    } catch (error) {
      signal?.throwIfAborted();
      const cause = stop.signal.aborted ? stop.signal.reason : error;
      if (cause instanceof UnreachedError) return cause.message;
      // Other errors of the network or the server are reasons why the URL is not reached, not failures of the scanner.
      return (cause as NodeJS.ErrnoException).code ?? "not a valid answer";
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener("abort", onAbort);
      stop.abort();
    }
  }

  /** Returns the status after all redirects. */
  async #fetchStatus(start: URL, signal: AbortSignal): Promise<number> {
    let url = start;
    for (let redirects = 0; ; redirects++) {
      const response = await this.#get(url, await this.#resolveUrl(url, signal), signal);
      const status = response.statusCode ?? 0;
      const { location } = response.headers;
      response.destroy();
      if (!REDIRECTS.has(status) || location === undefined) return status;
      if (redirects === this.#options.maxRedirects) throw new UnreachedError(`more than ${redirects} redirects`);
      if (!URL.canParse(location, url.href)) throw new UnreachedError("redirect to no URL");
      url = new URL(location, url.href);
    }
  }

  /** Returns the addresses of a URL's host. It throws if one of them is not allowed. */
  async #resolveUrl(url: URL, signal: AbortSignal): Promise<string[]> {
    const defaultPort = PORTS[url.protocol];
    if (defaultPort === undefined) throw new UnreachedError(`refused: scheme ${url.protocol}`);
    const port = url.port === "" ? defaultPort : Number(url.port);
    if (!this.#options.allowedPorts.includes(port)) throw new UnreachedError(`refused: port ${port}`);
    // The URL standard writes IPv4 addresses as dotted quads, whatever their spelling, and IPv6 addresses in brackets.
    const host = url.hostname.replace(/^\[|\]$/g, "");
    const addresses = isAddress(host) ? [host] : await this.#resolve(host, signal);
    for (const address of addresses) {
      const reason = refusal(address, this.#networks);
      if (reason !== undefined) throw new UnreachedError(`refused: ${reason}`);
    }
    return addresses;
  }

  /**
   * Resolves a host. It does not use `dns.lookup`, which cannot be cancelled, and whose threads a slow server would block.
   */
  async #resolve(host: string, signal: AbortSignal): Promise<string[]> {
    signal.throwIfAborted();
    const resolver = this.#resolver();
    const cancel = () => resolver.cancel();
    signal.addEventListener("abort", cancel, { once: true });
    try {
      const answers = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)]);
      const addresses = answers.flatMap((answer) => (answer.status === "fulfilled" ? answer.value : []));
      if (addresses.length === 0) throw new UnreachedError("no address");
      return addresses;
    } finally {
      signal.removeEventListener("abort", cancel);
    }
  }

  #resolver(): Resolver {
    const resolver = new Resolver({ timeout: this.#options.timeout * 1000, tries: 1 });
    if (this.#options.dnsServers) resolver.setServers([...this.#options.dnsServers]);
    return resolver;
  }

  /** Requests a URL at checked addresses, and resolves with the headers. */
  #get(url: URL, addresses: readonly string[], signal: AbortSignal): Promise<IncomingMessage> {
    // The host is not resolved again, because it may have another address by now.
    const lookup: LookupFunction = (_host, { all }, callback) => {
      const checked = addresses.map((address) => ({ address, family: address.includes(":") ? 6 : 4 }));
      if (all) callback(null, checked);
      else callback(null, checked[0]?.address as string, checked[0]?.family);
    };
    const { protocol, hostname, port, pathname, search } = url;
    return new Promise((resolve, reject) => {
      const request = (protocol === "https:" ? https : http).request({
        // The URL itself is not passed, because its user name and password would be sent.
        hostname: hostname.replace(/^\[|\]$/g, ""),
        port: port || PORTS[protocol],
        path: pathname + search,
        method: "GET",
        headers: { accept: "*/*", "user-agent": "guard" },
        agent: false,
        maxHeaderSize: MAX_HEADER_SIZE,
        lookup,
        signal,
      });
      request.once("response", resolve).once("error", reject).end();
      request.once("upgrade", (_, socket) => {
        socket.destroy();
        reject(new UnreachedError("status 101"));
      });
      // Errors after the headers are ignored: this side resets the connection on purpose.
      request.on("error", () => {});
    });
  }
}
