/** Returns the character (code point) at an offset. It is empty at the end of the text. */
export function characterAt(text: string, offset: number): string {
  return offset < text.length ? String.fromCodePoint(text.codePointAt(offset) as number) : "";
}

/** Returns the character (code point) before an offset, which may take two code units. It is empty at the beginning of the text. */
export function characterBefore(text: string, offset: number): string {
  const isPair = /[\udc00-\udfff]/.test(text.charAt(offset - 1)) && /[\ud800-\udbff]/.test(text.charAt(offset - 2));
  return text.slice(Math.max(0, offset - (isPair ? 2 : 1)), offset);
}
