import { addon, native, SHORT_TEXT, type TextReading } from "./native.ts";

/**
 * The readings of a text that say what the text, as it is written, does not: with what is encoded in it decoded, look-alike
 * and invisible characters replaced, and so on. Few and bounded in length, for classifiers; none for a text that hides nothing.
 */
export async function tellingReadings(text: string): Promise<TextReading[]> {
  return native(() => (text.length <= SHORT_TEXT ? addon.tellingReadings(text) : addon.tellingReadingsLong(text)));
}
