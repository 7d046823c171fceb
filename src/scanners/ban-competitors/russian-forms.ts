/** Matches a Russian word that can be inflected, but no abbreviation in capitals, such as МТС. */
const INFLECTED = /^[А-ЯЁа-яё-]*[а-яё]$/u;

/**
 * The singular endings by the ending of the nominative. `cut` is how many letters are removed first (Zaliznyak, "Grammatical Dictionary of
 * Russian").
 */
const ENDINGS: readonly [nominative: RegExp, cut: number, endings: readonly string[]][] = [
  [/ия$/u, 1, ["и", "ю", "ей"]],
  [/[гкхжчшщ]а$/u, 1, ["и", "е", "у", "ой", "ей"]],
  [/ца$/u, 1, ["ы", "е", "у", "ей"]],
  [/а$/u, 1, ["ы", "е", "у", "ой"]],
  [/я$/u, 1, ["и", "е", "ю", "ей"]],
  [/ий$/u, 1, ["я", "ю", "ем", "и"]],
  [/й$/u, 1, ["я", "ю", "ем", "е"]],
  [/ь$/u, 1, ["я", "ю", "ем", "е", "и", "ью"]],
  [/[жчшщц]$/u, 0, ["а", "у", "ем", "ом", "е"]],
  [/[бвгдзклмнпрстфх]$/u, 0, ["а", "у", "ом", "е"]],
];

/**
 * Returns a name and its Russian case forms: Яндекс, Яндекса, Яндексу, Яндексом, Яндексе. In a name of several words, the first or the
 * last word is inflected: Альфа Банка, Почты России. A name that is not Russian has one form. Some forms may not exist in Russian.
 */
export function russianForms(name: string): string[] {
  const words = name.split(" ");
  const at = (place: number) =>
    casesOf(words[place] as string).map((form) =>
      words.map((word, index) => (index === place ? form : word)).join(" "),
    );
  return [...new Set([name, ...at(0), ...at(words.length - 1)])];
}

function casesOf(word: string): string[] {
  if (!INFLECTED.test(word)) return [];
  const [, cut, endings] = ENDINGS.find(([nominative]) => nominative.test(word)) ?? [undefined, 0, []];
  return endings.map((ending) => word.slice(0, word.length - cut) + ending);
}
