import { GuardValidationError } from "../support/errors.ts";

/** A model API behind the proxy. */
export interface Upstream {
  /** The prefix of its paths, such as `/anthropic`, which is removed. Empty for all paths. */
  prefix: string;
  /** The address, without a slash at the end: `https://api.openai.com`. */
  base: string;
}

/** The destination of a request. */
export interface Target {
  upstream: Upstream;
  url: URL;
  /** The normalized path of the request. */
  path: string;
}

/**
 * Parses upstreams of the command line: `https://api.openai.com`, or with a prefix `/anthropic=https://api.anthropic.com`.
 *
 * @throws GuardValidationError with the paths of invalid upstreams: `upstream.0`.
 */
export function readUpstreams(values: readonly string[]): Upstream[] {
  const issues: { path: string; message: string }[] = [];
  const upstreams = values.flatMap((value, index) => {
    const [, prefix = "", address = ""] = /^(?:(\/[^=]*)=)?(.*)$/s.exec(value) ?? [];
    const message = faultOf(prefix, address);
    if (message === undefined) return [{ prefix, base: address.replace(/\/+$/, "") }];
    issues.push({ path: `upstream.${index}`, message });
    return [];
  });
  const prefixes = upstreams.map(({ prefix }) => prefix);
  for (const [index, prefix] of prefixes.entries()) {
    if (prefixes.indexOf(prefix) < index) {
      issues.push({ path: "upstream", message: `two upstreams have the same prefix: ${prefix || "none"}` });
    }
  }
  if (values.length === 0) issues.push({ path: "upstream", message: "is required: the address of the model API" });
  if (issues.length > 0) throw new GuardValidationError(issues);
  return upstreams;
}

function faultOf(prefix: string, address: string): string | undefined {
  // The address may contain a credential, so messages do not quote it.
  if (prefix !== "" && !/^(?:\/[\w.~-]+)+$/.test(prefix)) return "expected a prefix such as /anthropic";
  const url = URL.canParse(address) ? new URL(address) : undefined;
  if (!url || !/^https?:$/.test(url.protocol)) return "expected an address such as https://api.openai.com";
  if (url.username || url.password) return "remove the credential from the address: clients send it";
  if (address.includes("?") || address.includes("#")) return "expected an address without ? and #";
  return;
}

/**
 * Finds the destination of a request: the upstream with the longest matching prefix. Paths are normalized first (RFC 3986, section 6.2.2:
 * dot segments and unnecessary percent-encoding; also repeated slashes), so that another spelling of a path cannot bypass rules.
 *
 * @param target the request target (RFC 9112, section 3.2): a path and a query.
 * @returns undefined for a target without a path, and for a path of no upstream.
 */
export function findTarget(upstreams: readonly Upstream[], target: string): Target | undefined {
  if (!target.startsWith("/") || !URL.canParse(`http://upstream${target}`)) return;
  const { pathname, search } = new URL(`http://upstream${target}`);
  const path = normalPath(pathname);
  const [upstream] = upstreams
    .filter(({ prefix }) => path === prefix || path.startsWith(`${prefix}/`))
    .sort((a, b) => b.prefix.length - a.prefix.length);
  if (!upstream) return;
  return { upstream, path, url: new URL(upstream.base + path.slice(upstream.prefix.length) + search) };
}

/** Normalizes percent-encoding and slashes of a path without dot segments. */
export function normalPath(path: string): string {
  return path
    .replace(/%[0-9a-f]{2}/gi, (escaped) => {
      const character = String.fromCharCode(Number.parseInt(escaped.slice(1), 16));
      return /[\w.~-]/.test(character) ? character : escaped.toUpperCase();
    })
    .replace(/\/{2,}/g, "/");
}
