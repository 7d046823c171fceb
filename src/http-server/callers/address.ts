import ipaddr from "ipaddr.js";
import { LRUCache } from "lru-cache";

/** The bits of an IPv6 address that say which network it is in. Who has one address of it has all of them (RFC 6177, RFC 7381). */
const NETWORK = 64;

/** The characters of the longest address: an IPv4 address that is written as IPv6. A proxy may pass on what is none. */
const LONGEST = 45;

/** What the latest addresses count as. To read one takes as long as a hundred look-ups, and each request asks more than once. */
const known = new LRUCache<string, string>({ max: 1000 });

/** What counts as one address: an IPv4 address, also where it is written as IPv6, and the network of an IPv6 address (`/64`). */
export function addressOf({ ip }: { ip: string }): string {
  const found = known.get(ip);
  if (found !== undefined) return found;
  const address = read(ip);
  if (ip.length <= LONGEST) known.set(ip, address);
  return address;
}

function read(ip: string): string {
  if (!ipaddr.isValid(ip)) return ip;
  const address = ipaddr.process(ip);
  if (address.kind() === "ipv4") return address.toString();
  const network = ipaddr.IPv6.parse(ip).parts.map((part, index) => (index * 16 < NETWORK ? part : 0));
  return new ipaddr.IPv6(network).toString();
}
