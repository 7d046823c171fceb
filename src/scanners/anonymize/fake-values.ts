import { randomInt } from "node:crypto";
import type { Faker } from "@faker-js/faker";
import type { PiiFinding } from "../../native.ts";
import { GuardValidationError } from "../../support/errors.ts";
import { unmetNeed } from "../../support/optional-packages.ts";
import type { PersonalDataDetector } from "../parts/personal-data.ts";

/** How many values are created until one is not taken. */
const MAX_ATTEMPTS = 20;
/** The largest range that `randomInt` accepts. */
const SEED_RANGE = 2 ** 48 - 1;

/** The languages that have their own names and addresses. */
const LOCALES = {
  de: () => import("@faker-js/faker/locale/de"),
  en: () => import("@faker-js/faker/locale/en"),
  es: () => import("@faker-js/faker/locale/es"),
  fr: () => import("@faker-js/faker/locale/fr"),
  it: () => import("@faker-js/faker/locale/it"),
  ja: () => import("@faker-js/faker/locale/ja"),
  ko: () => import("@faker-js/faker/locale/ko"),
  nl: () => import("@faker-js/faker/locale/nl"),
  pl: () => import("@faker-js/faker/locale/pl"),
  pt: () => import("@faker-js/faker/locale/pt_BR"),
  ru: () => import("@faker-js/faker/locale/ru"),
  tr: () => import("@faker-js/faker/locale/tr"),
  uk: () => import("@faker-js/faker/locale/uk"),
  zh: () => import("@faker-js/faker/locale/zh_CN"),
} satisfies Record<string, () => Promise<{ faker: Faker }>>;

type Locale = keyof typeof LOCALES;

/** English words for groups of people, by kind: origin, religion, politics. */
const GROUPS: readonly (readonly string[])[] = [
  [
    "Austrian",
    "Belgian",
    "Canadian",
    "Chilean",
    "Colombian",
    "Egyptian",
    "Estonian",
    "Ghanaian",
    "Hungarian",
    "Indonesian",
  ],
  ["Anglican", "Baptist", "Buddhist", "Catholic", "Hindu", "Lutheran", "Methodist", "Muslim", "Protestant", "Sikh"],
  [
    "Communist",
    "Conservative",
    "Democrat",
    "Liberal",
    "Libertarian",
    "Marxist",
    "Nationalist",
    "Republican",
    "Socialist",
  ],
];
/** Other words for religions and politics, which are no peoples. */
const NOT_PEOPLES =
  /^(?:jew|jewish|christian|mormon|atheist|agnostic|pagan|sunni|shia|tory|tories|greens|gop|.*(?:ism|ity|party|wing))$/i;

/** Returns another group of the same kind, in the same number and case, or undefined for a word that is no group. */
function otherGroup(value: string, english: Faker): string | undefined {
  if (!/^[A-Za-z]{4,}$/.test(value) || NOT_PEOPLES.test(value)) return undefined;
  const isOne = (word: string) => [word, `${word}s`].includes(capitalized(value));
  const isPeople = /(?:an|ese|ish|i|ian|ch|er|wegian)s?$/.test(value);
  const kind = GROUPS.find((words) => words.some(isOne)) ?? (isPeople ? GROUPS[0] : undefined);
  if (!kind) return undefined;
  const word = english.helpers.arrayElement(kind.filter((other) => !isOne(other)));
  const inCase = value === value.toLowerCase() ? word.toLowerCase() : word;
  return /[^s]s$/.test(value) ? `${inCase}s` : inCase;
}

function capitalized(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1);
}

/** Creates fakes of types whose values consist of words. Fakes of other types have the format of the value that they replace. */
const WORDS: Record<string, (local: Faker, english: Faker, value: string) => string | undefined> = {
  // These domains belong to nobody (RFC 2606).
  EMAIL_ADDRESS: (_, english) => english.internet.exampleEmail().toLowerCase(),
  EMAIL_ADDRESS_RE: (_, english) => english.internet.exampleEmail().toLowerCase(),
  DOMAIN_NAME: (_, english) => `${english.string.alpha({ length: 8, casing: "lower" })}.example.com`,
  URL: (_, english) => `https://${english.string.alpha({ length: 8, casing: "lower" })}.example.com/`,
  URL_RE: (_, english) => `https://${english.string.alpha({ length: 8, casing: "lower" })}.example.com/`,
  PERSON: (local) => local.person.fullName(),
  LOCATION: (local) => local.location.city(),
  ORGANIZATION: (local) => local.company.name(),
  STREET_ADDRESS: (local) => local.location.streetAddress(true),
  NRP: (_, english, value) => otherGroup(value, english),
};

/** Creates fake values of the same kind and format as the values that they replace. */
export class FakeValues {
  readonly #detector: PersonalDataDetector;
  readonly #fakers: ReadonlyMap<Locale, Faker>;
  readonly #language: Locale | undefined;

  private constructor(
    detector: PersonalDataDetector,
    fakers: ReadonlyMap<Locale, Faker>,
    language: Locale | undefined,
  ) {
    this.#detector = detector;
    this.#fakers = fakers;
    this.#language = language;
  }

  /**
   * Loads the names and addresses of a language. Without a language, it loads those of languages that the script of a value identifies.
   *
   * @param option the option that wants fakes, for the error.
   * @throws GuardValidationError if the optional package @faker-js/faker is not installed.
   */
  static async load(detector: PersonalDataDetector, language: string | undefined, option: string): Promise<FakeValues> {
    const known = language !== undefined && Object.hasOwn(LOCALES, language) ? (language as Locale) : undefined;
    const wanted: Locale[] = known === undefined ? ["en", "ru", "zh"] : ["en", known];
    const message = unmetNeed(["@faker-js/faker"]);
    if (message !== undefined) throw new GuardValidationError([{ path: option, message }]);
    const load = async (locale: Locale) => [locale, (await LOCALES[locale]()).faker] as const;
    return new FakeValues(detector, new Map(await Promise.all(wanted.map(load))), known);
  }

  /**
   * Returns a fake that is not taken. It returns undefined for a type without fakes, and if every attempt created a taken value.
   */
  of(finding: PiiFinding, value: string, isTaken: (fake: string) => boolean): string | undefined {
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      const fake = this.#make(finding, value);
      if (fake === undefined) return undefined;
      if (fake !== "" && !isTaken(fake)) return fake;
    }
    return undefined;
  }

  #make(finding: PiiFinding, value: string): string | undefined {
    const words = Object.hasOwn(WORDS, finding.entity) ? WORDS[finding.entity] : undefined;
    if (!words) return this.#detector.lookalike(finding, value, randomInt(SEED_RANGE));
    const english = this.#fakers.get("en") as Faker;
    return words(this.#fakers.get(this.#language ?? localeOfScript(value)) ?? english, english, value);
  }
}

function localeOfScript(value: string): Locale {
  if (/\p{Script=Han}/u.test(value)) return "zh";
  return /\p{Script=Cyrillic}/u.test(value) ? "ru" : "en";
}
