import type { MessageText } from "../scan/conversation-text.ts";

/** Limits of the earlier texts that are kept for scanners that compare texts. */
const MAX_TEXTS = 64;
const MAX_CHARS = 1_000_000;

/** The texts of a session with which scanners can compare a text: the definitions of tools, and the most recent other texts. */
export class SessionTexts {
  #definitions: readonly MessageText[] = [];
  #recent: readonly MessageText[] = [];

  all(): readonly MessageText[] {
    return [...this.#definitions, ...this.#recent];
  }

  /** @param isFirstPage whether the definitions replace those of an earlier list, or are a further page of it. */
  setDefinitions(definitions: readonly MessageText[], isFirstPage: boolean): void {
    this.#definitions = isFirstPage ? definitions : [...this.#definitions, ...definitions];
  }

  add(text: MessageText): void {
    const texts = [...this.#recent, text].slice(-MAX_TEXTS);
    let chars = texts.reduce((sum, item) => sum + item.text.length, 0);
    while (chars > MAX_CHARS && texts.length > 1) chars -= (texts.shift() as MessageText).text.length;
    this.#recent = texts;
  }
}
