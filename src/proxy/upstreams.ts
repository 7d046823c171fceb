import { GuardValidationError } from "../support/errors.ts";

/** An API of a model that the proxy stands in front of. */
export interface Upstream {
  /** The beginning of the paths that go there, such as `/anthropic`. It is cut off. An empty text stands for all paths. */
  prefix: string;
  /** Where it is, without a slash at the end: `https://api.openai.com`. */
  base: string;
}

/** Where a request goes. */
export interface Target {
  upstream: Upstream;
  url: URL;
  /** The path as the client wrote it, in its normal form. */
  path: string;
}

/**
 * Reads upstreams as the command line has them: `https://api.openai.com`, or with a prefix `/anthropic=https://api.anthropic.com`.
 *
 * @throws GuardValidationError with the paths of all that are at fault: `upstream.0`.
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
      issues.push({ path: "upstream", message: `two have the same prefix: ${prefix || "none"}` });
    }
  }
  if (values.length === 0) issues.push({ path: "upstream", message: "is required: the API that requests go to" });
  if (issues.length > 0) throw new GuardValidationError(issues);
  return upstreams;
}

function faultOf(prefix: string, address: string): string | undefined {
  // The address is not quoted: somebody may have put a credential into it.
  if (prefix !== "" && !/^(?:\/[\w.~-]+)+$/.test(prefix)) return "expected a prefix such as /anthropic";
  const url = URL.canParse(address) ? new URL(address) : undefined;
  if (!url || !/^https?:$/.test(url.protocol)) return "expected an address such as https://api.openai.com";
  if (url.username || url.password) return "clients send the credential: leave it out of the address";
  if (address.includes("?") || address.includes("#")) return "expected an address without ? and #";
  return;
}

/**
 * Finds where a request goes: to the upstream with the longest prefix of the path. Paths are brought into their normal form first (RFC
 * 3986, section 6.2.2: dots, and percent signs before what needs none), with single slashes, so that no other spelling of a path gets
 * around what is decided by it.
 *
 * @param target the target of the request (RFC 9112, section 3.2): a path and a query.
 * @returns undefined for a target that is no path, and for a path of no upstream.
 */
export function targetOf(upstreams: readonly Upstream[], target: string): Target | undefined {
  if (!target.startsWith("/") || !URL.canParse(`http://upstream${target}`)) return;
  const { pathname, search } = new URL(`http://upstream${target}`);
  const path = normalPath(pathname);
  const [upstream] = upstreams
    .filter(({ prefix }) => path === prefix || path.startsWith(`${prefix}/`))
    .sort((a, b) => b.prefix.length - a.prefix.length);
  if (!upstream) return;
  return { upstream, path, url: new URL(upstream.base + path.slice(upstream.prefix.length) + search) };
}

/** Brings a path without dots into its normal form. */
export function normalPath(path: string): string {
  return path
    .replace(/%[0-9a-f]{2}/gi, (escaped) => {
      const character = String.fromCharCode(Number.parseInt(escaped.slice(1), 16));
      return /[\w.~-]/.test(character) ? character : escaped.toUpperCase();
    })
    .replace(/\/{2,}/g, "/");
}
