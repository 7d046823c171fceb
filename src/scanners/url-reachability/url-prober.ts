import { Resolver } from "node:dns/promises";
import http, { type IncomingMessage } from "node:http";
import https from "node:https";
import type { LookupFunction } from "node:net";
import { GuardValidationError } from "../../support/errors.ts";
import { isAddress, parseNetwork, refusal } from "./public-addresses.ts";

/** The bytes of response headers that are read at most. Nothing of a body is read. */
const MAX_HEADERS = 16 * 1024;
const REDIRECTS = new Set([301, 302, 303, 307, 308]);
const PORTS: Record<string, number> = { "http:": 80, "https:": 443 };

/** The settings that say how URLs are requested. They are the options of URLReachability. */
export interface ProbeOptions {
  /** Statuses that count as reached. */
  successStatusCodes: readonly number[];
  /** The seconds that one URL may take, with all of its redirects and look-ups. */
  timeout: number;
  maxRedirects: number;
  allowedPorts: readonly number[];
  /** The addresses and networks, in CIDR form, that may be reached although they are not public. */
  allowedNetworks: readonly string[];
  /** The DNS servers to ask. By default these are the servers of the system. */
  dnsServers?: readonly string[] | undefined;
}

/** An error whose message says why a URL counts as not reached. */
class Unreached extends Error {}

/** Requests URLs, at public addresses only. */
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

  /** Returns the reason why a URL is not reached, or undefined when it is reached. */
  async problem(url: string, signal?: AbortSignal): Promise<string | undefined> {
    const stop = new AbortController();
    const onAbort = () => stop.abort(signal?.reason);
    signal?.throwIfAborted();
    signal?.addEventListener("abort", onAbort, { once: true });
    const timer = setTimeout(() => stop.abort(new Unreached("timeout")), this.#options.timeout * 1000);
    try {
      const status = await this.#status(new URL(url), stop.signal);
      return this.#options.successStatusCodes.includes(status) ? undefined : `status ${status}`;
    } catch (error) {
      signal?.throwIfAborted();
      const cause = stop.signal.aborted ? stop.signal.reason : error;
      if (cause instanceof Unreached) return cause.message;
      // Any other error of the network or of the other side is a reason why the URL is not reached, and not a failure of the
      // scanner.
      return (cause as NodeJS.ErrnoException).code ?? "not a valid answer";
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener("abort", onAbort);
      stop.abort();
    }
  }

  /** Returns the status at the end of the redirects. */
  async #status(start: URL, signal: AbortSignal): Promise<number> {
    let url = start;
    for (let redirects = 0; ; redirects++) {
      const response = await this.#get(url, await this.#addresses(url, signal), signal);
      const status = response.statusCode ?? 0;
      const { location } = response.headers;
      response.destroy();
      if (!REDIRECTS.has(status) || location === undefined) return status;
      if (redirects === this.#options.maxRedirects) throw new Unreached(`more than ${redirects} redirects`);
      if (!URL.canParse(location, url.href)) throw new Unreached("redirect to no URL");
      url = new URL(location, url.href);
    }
  }

  /** Returns the addresses of a URL's host. It throws unless all of them may be connected to. */
  async #addresses(url: URL, signal: AbortSignal): Promise<string[]> {
    const defaultPort = PORTS[url.protocol];
    if (defaultPort === undefined) throw new Unreached(`refused: scheme ${url.protocol}`);
    const port = url.port === "" ? defaultPort : Number(url.port);
    if (!this.#options.allowedPorts.includes(port)) throw new Unreached(`refused: port ${port}`);
    // The URL standard writes IPv4 addresses as dotted quads, however they were spelled, and IPv6 addresses in brackets.
    const host = url.hostname.replace(/^\[|\]$/g, "");
    const addresses = isAddress(host) ? [host] : await this.#resolve(host, signal);
    for (const address of addresses) {
      const reason = refusal(address, this.#networks);
      if (reason !== undefined) throw new Unreached(`refused: ${reason}`);
    }
    return addresses;
  }

  /**
   * Resolves a host. It does not use `dns.lookup`, which cannot be cancelled and with which a slow server would block the threads
   * of the process.
   */
  async #resolve(host: string, signal: AbortSignal): Promise<string[]> {
    signal.throwIfAborted();
    const resolver = this.#resolver();
    const cancel = () => resolver.cancel();
    signal.addEventListener("abort", cancel, { once: true });
    try {
      const answers = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)]);
      const addresses = answers.flatMap((answer) => (answer.status === "fulfilled" ? answer.value : []));
      if (addresses.length === 0) throw new Unreached("no address");
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

  /** Requests a URL at addresses that were checked, and resolves with the headers. */
  #get(url: URL, addresses: readonly string[], signal: AbortSignal): Promise<IncomingMessage> {
    // The name is not resolved again, because it may have another address than a moment ago when the address was checked.
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
        maxHeaderSize: MAX_HEADERS,
        lookup,
        signal,
      });
      request.once("response", resolve).once("error", reject).end();
      request.once("upgrade", (_, socket) => {
        socket.destroy();
        reject(new Unreached("status 101"));
      });
      // An error after the headers comes from this side, which resets the connection on purpose, so it is ignored.
      request.on("error", () => {});
    });
  }
}
