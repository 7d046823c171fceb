import { z } from "zod";

const NAMES = new Intl.DisplayNames("en", { type: "language", fallback: "none" });

/** Whether a text is the code of a language (ISO 639), such as `en` or `ceb`. */
function isLanguageCode(code: string): boolean {
  return /^[a-z]{2,3}$/.test(code) && NAMES.of(code) !== undefined;
}

/** An option that takes the code of a language. A code that no language has, such as `xx`, would match nothing. */
export function languageCode(): z.ZodString {
  return z.string().refine(isLanguageCode, "expected the ISO 639-1 code of a language, such as en");
}
