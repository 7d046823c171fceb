import type { Abortable } from "../../native.ts";
import type { MessageText } from "../../scan/conversation-text.ts";
import { urlsOf } from "../../text/urls.ts";

/** Characters around an e-mail address. */
const SEPARATORS = /[\s"'`<>()[\]{},;:|\\]+/;
/** The shortest command that counts, in characters and in words. Shorter ones are repeated by chance. */
const MIN_COMMAND_LENGTH = 8;
const MIN_COMMAND_WORDS = 2;

/** Texts in which values are looked up, whatever their case and white space. */
export class Corpus {
  readonly #texts: readonly string[];

  constructor(texts: readonly MessageText[]) {
    this.#texts = texts.map(({ text }) => normalized(text));
  }

  /** Whether a text contains a value that is not a part of a longer word. */
  has(value: string): boolean {
    const wanted = normalized(value);
    return this.#texts.some((text) => {
      for (let at = text.indexOf(wanted); at >= 0; at = text.indexOf(wanted, at + 1)) {
        if (!isWord(text[at - 1]) && !isWord(text[at + wanted.length])) return true;
      }
      return false;
    });
  }
}

function normalized(text: string): string {
  return text.toLowerCase().replace(/\s+/g, " ").trim();
}

function isWord(character: string | undefined): boolean {
  return character !== undefined && /[\p{L}\p{N}_@-]/u.test(character);
}

/** Returns the hosts of the URLs in a text, and its e-mail addresses. */
export async function addressesIn(text: string, { signal }: Abortable): Promise<string[]> {
  const urls = await urlsOf(text, { signal });
  const hosts = urls.flatMap(({ url }) => (URL.canParse(url) ? [new URL(url).hostname] : []));
  const mails = text.split(SEPARATORS).flatMap((word) => {
    const address = word.replace(/^mailto$|[.!?]+$/g, "");
    const at = address.indexOf("@");
    return at > 0 && address.includes(".", at) ? [address] : [];
  });
  return [...new Set([...hosts, ...mails])].filter((address) => address !== "");
}

/** Returns the commands in a text: its lines, and the parts between shell operators. */
export function commandsIn(text: string): string[] {
  return text
    .split(/[\n;|&]+/)
    .map((command) => command.trim())
    .filter((command) => command.length >= MIN_COMMAND_LENGTH && command.split(/\s+/).length >= MIN_COMMAND_WORDS);
}
