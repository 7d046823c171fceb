import { z } from "zod";

const NAMES = new Intl.DisplayNames("en", { type: "language", fallback: "none" });

/** Whether a text is the shortest code of a language (ISO 639), such as `en` or `ceb`. A label has no longer code, such as `eng`. */
function isLanguageCode(code: string): boolean {
  if (!/^[a-z]{2,3}$/.test(code) || NAMES.of(code) === undefined) return false;
  const [shortest = code] = Intl.getCanonicalLocales(code);
  return code.length === 2 || shortest.length === 3;
}

/** An option that takes the code of a language. A code that no language has, such as `xx`, would match nothing. */
export function languageCode(): z.ZodString {
  return z.string().refine(isLanguageCode, "expected the ISO 639-1 code of a language, such as en");
}
