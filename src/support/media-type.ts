/** Whether a body is sent as it is. Codings have no case (RFC 9110, section 8.4.1). */
export function isIdentity(encoding: string | null | undefined): boolean {
  return !encoding || encoding.trim().toLowerCase() === "identity";
}

/**
 * Whether a content type says of JSON that it is in UTF-8, as it has to be (RFC 8259, section 8.1), or says nothing. A server that takes
 * the header at its word would read another text than guard has.
 */
export function isInUtf8(contentType: string | null | undefined): boolean {
  const { charset } = /;\s*charset\s*=\s*"?(?<charset>[^\s";]*)/i.exec(contentType ?? "")?.groups ?? {};
  return charset === undefined || /^(?:utf-?8|us-ascii)$/i.test(charset);
}
