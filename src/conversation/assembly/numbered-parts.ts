import type { PieceList } from "./variables.ts";

/** The maximum length of a part in UTF-16 code units. Longer parts are truncated. */
const MAX_PART_LENGTH = 2000;

/** Words for parts, in guard's trained languages and some of their neighbours. */
const PART =
  "part|piece|chunk|fragment|segment|half|word|line|block|string|token|" +
  "teil|stück|wort|abschnitt|zeile|partie|morceau|mot|ligne|parte|trozo|fragmento|palabra|línea|pezzo|parola|palavra|pedaço|" +
  "часть|кусок|фрагмент|слово|строка|część|słowo|parça|kelime";

/** Ordinal numbers in the same languages. The number is the index plus one. */
const ORDINALS = [
  "1st|first|erster?|erstes|premier|première|primero|primera|primeiro|primeira|primo|prima|первое|первая|первый|第一",
  "2nd|second|zweiter?|zweites|deuxième|seconde|segundo|segunda|secondo|seconda|второе|вторая|второй|第二",
  "3rd|third|dritter?|drittes|troisième|tercero|tercera|terceiro|terceira|terzo|terza|третье|третья|третий|第三",
  "4th|fourth|vierter?|viertes|quatrième|cuarto|cuarta|quarto|quarta|четвёртое|четвертое|четвёртая|четвертая|第四",
  "5th|fifth|last|fünfter?|fünftes|letztes?|cinquième|quinto|quinta|пятое|пятая|последнее|последняя|第五",
];

const NUMBERS: ReadonlyMap<string, number> = new Map([
  ...ORDINALS.flatMap((words, index) =>
    words.split("|").flatMap((word) => {
      // `erster?` matches two words.
      const shorter = word.replace(/.\?$/u, "");
      return [shorter, word.replace("?", "")].map((written) => [written, index + 1] as const);
    }),
  ),
  ...["one", "two", "three", "four", "five"].map((word, index) => [word, index + 1] as const),
  ...["a", "b", "c", "d", "e", "f"].map((letter, index) => [letter, index + 1] as const),
]);

const IS = "(?:is|are|be|ist|lautet|est|es|è|é|это|to|jest)(?!\\p{L})|[:：=)\\]—–-]|是|为";
const ANY_ORDINAL = ORDINALS.join("|");

/** The beginnings of parts. Each pattern reads a bounded number of characters. */
const HEADERS = new RegExp(
  [
    // Part 2 of 3:
    `(?<![\\p{L}\\p{N}])(?:${PART})[ _]?(?:no\\.? ?|# ?)?(?:(?<part>\\d{1,2}|one|two|three|four|five|[a-f])` +
      `(?: ?(?:of|/|de|von|di|из) ?\\d{1,2})?(?: ?(?:${IS})| ?\\n)|(?<bare>\\d{1,2})(?=[ ,]))`,
    // The second word is
    `(?<![\\p{L}\\p{N}])(?<ordinal>${ANY_ORDINAL})(?: (?:${PART})|部分|段|个词|句)? ?(?:${IS})`,
    // (2/3), [2/3]
    "[(\\[](?<fraction>\\d{1,2}) ?/ ?\\d{1,2}[)\\]]:?",
    // 2. and 2) at the beginning of a line
    "^[^\\S\\n]{0,3}(?<item>\\d{1,2})[.):](?=\\s)",
  ].join("|"),
  "gimu",
);

/** The separator before the next part: `, and the` before `second part`. */
const SEPARATOR = /[,;]?(?:\s+(?:and|und|et|y|e|и|the|la|el|der|das|die|le))*[,;]?$/iu;
const MAX_SEPARATOR_LENGTH = 20;

interface Part {
  number: number;
  text: string;
  /** The index of its text. */
  source: number;
  isItem: boolean;
}

/**
 * Returns numbered parts in the order of their numbers: `part 2: … part 1: …`, `the first word is …`, `(2/3) …`. Items of a list
 * (`1. …`) count only if they are out of order or in several texts, because otherwise nothing has to be assembled.
 */
export function numberedParts(texts: readonly string[]): PieceList[] {
  const groups: Part[][] = [];
  for (const [source, text] of texts.entries()) {
    for (const part of partsOf(text, source)) {
      const group = groups.at(-1);
      // A repeated number starts another list.
      const isNew = !group || group[0]?.isItem !== part.isItem || group.some(({ number }) => number === part.number);
      if (isNew) groups.push([part]);
      else group.push(part);
    }
  }
  return groups
    .filter((group) => group.length > 1 && (!group[0]?.isItem || isOutOfOrder(group)))
    .map((group) => group.toSorted((a, b) => a.number - b.number).map(({ text }) => text));
}

function isOutOfOrder(parts: readonly Part[]): boolean {
  return parts.some(({ number, source }, index) => {
    const before = parts[index - 1];
    return before !== undefined && (before.number > number || before.source !== source);
  });
}

function* partsOf(text: string, source: number): Generator<Part> {
  const headers = [...text.matchAll(HEADERS)];
  for (const [index, { 0: header, index: start, groups = {} }] of headers.entries()) {
    const written = (
      groups.part ??
      groups.bare ??
      groups.ordinal ??
      groups.fraction ??
      groups.item ??
      ""
    ).toLowerCase();
    const number = NUMBERS.get(written) ?? Number(written);
    const from = start + header.length;
    const value = contentOf(
      text.slice(from, Math.min(headers[index + 1]?.index ?? text.length, from + MAX_PART_LENGTH)),
    );
    if (value !== "") yield { number, text: value, source, isItem: groups.item !== undefined };
  }
}

/** Returns the quoted content of a part, or else the part without the separator at its end. */
function contentOf(written: string): string {
  const text = written.trim();
  const quoted = /^["'`“«„「]([^"'`“”«»„」\n]+)["'`”“»」]/u.exec(text);
  if (quoted) return quoted[1] as string;
  const from = Math.max(0, text.length - MAX_SEPARATOR_LENGTH);
  return text.slice(0, from).replace(/^[:=,–—-]\s*/u, "") + text.slice(from).replace(SEPARATOR, "");
}
