import { randomInt } from "node:crypto";
import type { Faker } from "@faker-js/faker";
import { GuardValidationError } from "../../errors.ts";
import type { PiiFinding } from "../../native.ts";
import type { PersonalDataDetector } from "./personal-data.ts";

/** How often another value is asked for, where one is taken. */
const ATTEMPTS = 20;
/** The most that `randomInt` takes. */
const SEEDS = 2 ** 48 - 1;

/** Languages with names and addresses of their own. */
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

/** What is made of words; all else is made to look like what it replaces. */
const WORDS: Record<string, (local: Faker, english: Faker) => string> = {
  // Domains that are nobody's (RFC 2606).
  EMAIL_ADDRESS: (_, english) => english.internet.exampleEmail().toLowerCase(),
  EMAIL_ADDRESS_RE: (_, english) => english.internet.exampleEmail().toLowerCase(),
  URL: (_, english) => `https://${english.string.alpha({ length: 8, casing: "lower" })}.example.com/`,
  URL_RE: (_, english) => `https://${english.string.alpha({ length: 8, casing: "lower" })}.example.com/`,
  PERSON: (local) => local.person.fullName(),
  LOCATION: (local) => local.location.city(),
  ORGANIZATION: (local) => local.company.name(),
  STREET_ADDRESS: (local) => local.location.streetAddress(true),
};

/** Makes values of the same kind and format as those that they replace. */
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
   * Loads the names and addresses of a language, or, without one, of those that can be told by their script.
   *
   * @throws GuardValidationError where the package with them is not installed: it is a tenth of guard's size, and few need it.
   */
  static async load(detector: PersonalDataDetector, language: string | undefined): Promise<FakeValues> {
    const known = language !== undefined && Object.hasOwn(LOCALES, language) ? (language as Locale) : undefined;
    const wanted: Locale[] = known === undefined ? ["en", "ru", "zh"] : ["en", known];
    const load = async (locale: Locale) => [locale, (await LOCALES[locale]().catch(missing)).faker] as const;
    return new FakeValues(detector, new Map(await Promise.all(wanted.map(load))), known);
  }

  /** Another value that nobody has taken yet; absent for types of which none can be made. */
  of(finding: PiiFinding, value: string, isTaken: (fake: string) => boolean): string | undefined {
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      const fake = this.#make(finding, value);
      if (fake === undefined) return undefined;
      if (fake !== "" && !isTaken(fake)) return fake;
    }
    return undefined;
  }

  #make(finding: PiiFinding, value: string): string | undefined {
    const words = Object.hasOwn(WORDS, finding.entity) ? WORDS[finding.entity] : undefined;
    if (!words) return this.#detector.lookalike(finding, value, randomInt(SEEDS));
    const english = this.#fakers.get("en") as Faker;
    return words(this.#fakers.get(this.#language ?? byScript(value)) ?? english, english);
  }
}

function missing(cause: unknown): never {
  const message = "needs the package @faker-js/faker: npm install @faker-js/faker";
  throw new GuardValidationError([{ path: "useFaker", message }], { cause });
}

function byScript(value: string): Locale {
  if (/\p{Script=Han}/u.test(value)) return "zh";
  return /\p{Script=Cyrillic}/u.test(value) ? "ru" : "en";
}
