import ipaddr from "ipaddr.js";

type Network = ReturnType<typeof ipaddr.parseCIDR>;

/**
 * Networks that are public by the registries of special purpose addresses (RFC 6890) but refused: the platform address of Azure, which
 * gives credentials to virtual machines; IPv4-compatible IPv6 (RFC 4291, deprecated) and local NAT64 (RFC 8215), which lead to IPv4
 * addresses; and site-local IPv6 (RFC 3879, deprecated).
 */
const REFUSED = ["168.63.129.16/32", "::/96", "64:ff9b:1::/48", "fec0::/10"].map((network) =>
  ipaddr.parseCIDR(network),
);

/** Parses a network such as `10.1.0.0/16`, or a single address. */
export function parseNetwork(text: string): Network | undefined {
  if (ipaddr.isValidCIDR(text)) return ipaddr.parseCIDR(text);
  if (!isAddress(text)) return undefined;
  const address = ipaddr.parse(text);
  return [address, address.kind() === "ipv4" ? 32 : 128];
}

/** Tells whether a text is an IP address in the usual format, unlike `0x7f.1`. */
export function isAddress(text: string): boolean {
  return ipaddr.IPv4.isValidFourPartDecimal(text) || ipaddr.IPv6.isValid(text);
}

/**
 * Returns the reason why an address is refused, or undefined if it is allowed.
 *
 * Only addresses that the IANA registries assign to public hosts are allowed. This excludes private, loopback, link-local (cloud metadata),
 * carrier NAT, multicast and reserved addresses, and IPv6 addresses that contain an IPv4 address (mapped, NAT64, 6to4, Teredo).
 */
export function refusal(address: string, allowed: readonly Network[]): string | undefined {
  const parsed = ipaddr.parse(address);
  if (allowed.some((network) => within(parsed, network))) return undefined;
  if (REFUSED.some((network) => within(parsed, network))) return "reserved address";
  const range = parsed.range();
  return range === "unicast" ? undefined : `${range.replace(/([a-z])([A-Z])/g, "$1 $2").toLowerCase()} address`;
}

function within(address: ipaddr.IPv4 | ipaddr.IPv6, [network, bits]: Network): boolean {
  return address.kind() === network.kind() && address.match(network, bits);
}
