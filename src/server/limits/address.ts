import ipaddr from "ipaddr.js";

/** The bits of an IPv6 address that say which network it is in. Who has one address of it has all of them (RFC 6177, RFC 7381). */
const NETWORK = 64;

/** What counts as one address: an IPv4 address, also where it is written as IPv6, and the network of an IPv6 address (`/64`). */
export function addressOf({ ip }: { ip: string }): string {
  if (!ipaddr.isValid(ip)) return ip;
  const address = ipaddr.process(ip);
  if (address.kind() === "ipv4") return address.toString();
  const network = ipaddr.IPv6.parse(ip).parts.map((part, index) => (index * 16 < NETWORK ? part : 0));
  return new ipaddr.IPv6(network).toString();
}
