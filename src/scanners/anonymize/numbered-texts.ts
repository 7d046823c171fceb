import { NUMBER } from "../parts/operators.ts";

/** Makes texts with numbers, such as `<PERSON 2>`, that occur neither in a text nor in the vault. */
export class NumberedTexts {
  readonly #text: string;
  readonly #isKnown: (candidate: string) => boolean;
  /** The last number of each template. */
  readonly #last = new Map<string, number>();

  constructor(text: string, isKnown: (candidate: string) => boolean) {
    this.#text = text;
    this.#isKnown = isKnown;
  }

  /** Returns a new text of a template, which contains {@link NUMBER} once. */
  next(template: string): string {
    let number = this.#last.get(template) ?? this.#lastInText(template);
    let candidate: string;
    do candidate = template.replace(NUMBER, String(++number));
    while (this.#isKnown(candidate));
    this.#last.set(template, number);
    return candidate;
  }

  /** Returns the highest number that the text has in place of the template's. */
  #lastInText(template: string): number {
    const [before = "", after = ""] = template.split(NUMBER).map(escaped);
    let last = 0;
    for (const [, number] of this.#text.matchAll(new RegExp(`${before}(\\d{1,6})${after}`, "giu"))) {
      last = Math.max(last, Number(number));
    }
    return last;
  }
}

/** Escapes what has a meaning in regular expressions. */
function escaped(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&");
}
