import ipaddr from "ipaddr.js";
import { LRUCache } from "lru-cache";

/** Bits of the network part of an IPv6 address. A site usually owns all addresses of a /64 (RFC 6177, RFC 7381). */
const NETWORK_BITS = 64;

/** Characters of the longest address, an IPv4 address written as IPv6, with a zone of 16 characters (`%eth0`). */
const MAX_ADDRESS_LENGTH = 62;
/** Stands for the address of clients of a Unix socket. */
const NO_ADDRESS = "none";

/** Parsing takes as long as a hundred look-ups, and each request needs its address several times. */
const parsed = new LRUCache<string, string>({ max: 1000 });

/** A request with its connection and the address that its proxies forwarded. */
export interface Addressed {
  /** Fastify has none for clients of a Unix socket, against its types. */
  ip?: string;
  socket?: { remoteAddress?: string | undefined };
}

/**
 * Returns the address that limits apply to: an IPv4 address (also if written as IPv6), or the /64 network of an IPv6 address. If a proxy
 * forwards something else, it is the address of the proxy, so that clients can't make up callers.
 */
export function addressOf({ ip = "", socket }: Addressed): string {
  const found = parsed.get(ip);
  if (found !== undefined) return found;
  const address = parseAddress(ip);
  if (address === undefined) return parseAddress(socket?.remoteAddress ?? "") ?? NO_ADDRESS;
  parsed.set(ip, address);
  return address;
}

function parseAddress(ip: string): string | undefined {
  if (ip.length > MAX_ADDRESS_LENGTH || !ipaddr.isValid(ip)) return undefined;
  const address = ipaddr.process(ip);
  if (address.kind() === "ipv4") return address.toString();
  const network = ipaddr.IPv6.parse(ip).parts.map((part, index) => (index * 16 < NETWORK_BITS ? part : 0));
  return new ipaddr.IPv6(network).toString();
}
