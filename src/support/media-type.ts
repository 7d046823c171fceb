/** Whether a body is not compressed. Names of content codings are case-insensitive (RFC 9110, section 8.4.1). */
export function isIdentityEncoding(encoding: string | null | undefined): boolean {
  return !encoding || encoding.trim().toLowerCase() === "identity";
}

/**
 * Whether a content type declares UTF-8, which JSON must use (RFC 8259, section 8.1), or declares no charset. A server that believes
 * another charset would decode another text than guard does.
 */
export function isUtf8(contentType: string | null | undefined): boolean {
  const { charset } = /;\s*charset\s*=\s*"?(?<charset>[^\s";]*)/i.exec(contentType ?? "")?.groups ?? {};
  return charset === undefined || /^(?:utf-?8|us-ascii)$/i.test(charset);
}
