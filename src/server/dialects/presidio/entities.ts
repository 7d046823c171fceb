import type { PersonalDataTypes } from "../../../scanners/definition.ts";

/** Presidio's names of guard's types that mean the same. All other types have the same name in both, or exist in one of them only. */
const SYNONYMS: Readonly<Record<string, string>> = {
  BTC_ADDRESS: "CRYPTO",
  CREDIT_CARD_RE: "CREDIT_CARD",
  DATE_RE: "DATE_TIME",
  EMAIL_ADDRESS_RE: "EMAIL_ADDRESS",
  PHONE_NUMBER_WITH_EXT: "PHONE_NUMBER",
  PHONE_NUMBER_ZH: "PHONE_NUMBER",
  TIME_RE: "DATE_TIME",
  URL_RE: "URL",
  US_SSN_RE: "US_SSN",
  ZA_ID: "ZA_ID_NUMBER",
};

/** The types of guard that contain an entity of Presidio, because guard does not tell countries apart. Requests get them by that name. */
const WIDER: Readonly<Record<string, readonly string[]>> = {
  DE_FUEHRERSCHEIN: ["DRIVER_LICENSE"],
  DE_HANDELSREGISTER: ["COMPANY_ID"],
  DE_HEALTH_INSURANCE: ["HEALTH_ID", "INSURANCE_NUMBER"],
  DE_KFZ: ["LICENSE_PLATE"],
  DE_PASSPORT: ["PASSPORT"],
  DE_PLZ: ["ZIP_CODE"],
  DE_SOCIAL_SECURITY: ["SOCIAL_SECURITY_NUMBER"],
  DE_TAX_NUMBER: ["TAX_ID"],
  DE_VAT_ID: ["TAX_ID"],
  ES_PASSPORT: ["PASSPORT"],
  IN_GSTIN: ["TAX_ID"],
  IN_PASSPORT: ["PASSPORT"],
  IN_VEHICLE_REGISTRATION: ["LICENSE_PLATE"],
  IN_VOTER: ["NATIONAL_ID"],
  IT_DRIVER_LICENSE: ["DRIVER_LICENSE"],
  IT_IDENTITY_CARD: ["NATIONAL_ID"],
  IT_PASSPORT: ["PASSPORT"],
  KR_BRN: ["COMPANY_ID"],
  KR_DRIVER_LICENSE: ["DRIVER_LICENSE"],
  KR_FRN: ["NATIONAL_ID"],
  KR_PASSPORT: ["PASSPORT"],
  NG_VEHICLE_REGISTRATION: ["LICENSE_PLATE"],
  PH_PASSPORT: ["PASSPORT"],
  SE_ORGANISATIONSNUMMER: ["COMPANY_ID"],
  SG_UEN: ["COMPANY_ID"],
  TR_LICENSE_PLATE: ["LICENSE_PLATE"],
  UK_DRIVING_LICENCE: ["DRIVER_LICENSE"],
  UK_PASSPORT: ["PASSPORT"],
  UK_POSTCODE: ["ZIP_CODE"],
  UK_VEHICLE_REGISTRATION: ["LICENSE_PLATE"],
  US_BANK_NUMBER: ["BANK_ACCOUNT"],
  US_DRIVER_LICENSE: ["DRIVER_LICENSE"],
  US_MBI: ["HEALTH_ID"],
  US_PASSPORT: ["PASSPORT"],
  US_SSN: ["SOCIAL_SECURITY_NUMBER"],
};

/** The types of guard that are a part of an entity of Presidio. Requests for the entity get them too. */
const NARROWER: Readonly<Record<string, readonly string[]>> = {
  DATE_TIME: ["DATE_OF_BIRTH"],
  LOCATION: ["STREET_ADDRESS", "ZIP_CODE"],
};

/** Returns Presidio's name of a type of guard. */
export function nameOf(type: string): string {
  return SYNONYMS[type] ?? type;
}

/** Returns the entities that scanners find, in the names of Presidio. */
export function entitiesOf(types: readonly string[]): string[] {
  const found = new Set(types);
  const wider = Object.keys(WIDER).filter((name) => WIDER[name]?.some((type) => found.has(type)));
  return [...new Set([...types.map(nameOf), ...wider])].sort();
}

/** The entities of a request, and the names of its results. */
export class RequestedEntities {
  /** The requested names. Undefined if everything is requested. */
  readonly #requested: readonly string[] | undefined;
  /** The name of the result by type of guard. Undefined if everything is requested. */
  readonly #names: ReadonlyMap<string, string> | undefined;
  /** The names as the recognizers of the request spell them. */
  readonly #own: ReadonlyMap<string, string>;

  /**
   * @param requested Presidio's names. None means everything that the scanners find.
   * @param own the names of the request's recognizers.
   */
  constructor(requested: readonly string[], own: readonly string[]) {
    this.#own = new Map(own.map((name) => [name.toUpperCase(), name]));
    if (requested.length === 0) return;
    this.#requested = requested;
    // A type of the same name comes first: PASSPORT is never reported as UK_PASSPORT if both are requested.
    const names = new Map(requested.map((name) => [name.toUpperCase(), name]));
    for (const name of requested) {
      const same = Object.keys(SYNONYMS).filter((type) => SYNONYMS[type] === name);
      const others = [...same, ...(WIDER[name] ?? []), ...(NARROWER[name] ?? [])];
      for (const type of others) if (!names.has(type)) names.set(type, name);
    }
    this.#names = names;
  }

  /** The types of guard that the request wants. Undefined if it wants everything. */
  get types(): string[] | undefined {
    return this.#names && [...this.#names.keys()];
  }

  /** Whether the request names none of the entities of scanners with these types, and of its own recognizers. */
  isUnknownTo(types: PersonalDataTypes): boolean {
    if (!this.#requested || types.hasOthers) return false;
    const known = new Set([...types.known, ...entitiesOf(types.known), ...this.#own.keys()]);
    return !this.#requested.some((name) => known.has(name) || known.has(name.toUpperCase()));
  }

  /** Returns the name of a finding in the reply. Undefined if it is not requested. */
  nameOf(type: string): string | undefined {
    return this.#names ? this.#names.get(type) : (this.#own.get(type) ?? nameOf(type));
  }
}
