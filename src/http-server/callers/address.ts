import ipaddr from "ipaddr.js";
import { LRUCache } from "lru-cache";

/** Bits of the network part of an IPv6 address. A site usually owns all addresses of a /64 (RFC 6177, RFC 7381). */
const NETWORK_BITS = 64;

/** Characters of the longest address, an IPv4 address written as IPv6. A proxy may forward longer texts that are no addresses. */
const MAX_ADDRESS_LENGTH = 45;

/** Parsing takes as long as a hundred look-ups, and each request needs its address more than once. */
const parsed = new LRUCache<string, string>({ max: 1000 });

/** Returns the address that limits apply to: an IPv4 address (also if written as IPv6), or the /64 network of an IPv6 address. */
export function addressOf({ ip }: { ip: string }): string {
  const found = parsed.get(ip);
  if (found !== undefined) return found;
  const address = parseAddress(ip);
  if (ip.length <= MAX_ADDRESS_LENGTH) parsed.set(ip, address);
  return address;
}

function parseAddress(ip: string): string {
  if (!ipaddr.isValid(ip)) return ip;
  const address = ipaddr.process(ip);
  if (address.kind() === "ipv4") return address.toString();
  const network = ipaddr.IPv6.parse(ip).parts.map((part, index) => (index * 16 < NETWORK_BITS ? part : 0));
  return new ipaddr.IPv6(network).toString();
}
