import type { FastifyInstance, FastifyRequest } from "fastify";
import fp from "fastify-plugin";
import type { Rights } from "../../http-server/callers/rights.ts";
import { Problem } from "../../http-server/problem.ts";
import type { Scanner, Side } from "../../scan/scanner.ts";
import { NO_TAKER } from "../../scanners/add-recognizers.ts";
import type { BuiltInScanner } from "../../scanners/definition.ts";
import type { AdHocRecognizer, AdHocRecognizers } from "../../scanners/parts/ad-hoc-recognizers.ts";
import type { ScanService } from "../../service/service.ts";
import { type GuardError, GuardValidationError, withPathPrefix } from "../../support/errors.ts";
import { type RecognizerSet, RecognizerSets } from "./recognizer-sets.ts";
import type { ThresholdVariants } from "./threshold-variants.ts";

declare module "fastify" {
  interface FastifyRequest {
    /** The profile whose scanners check this request. */
    profile: Profile;
  }
}

/** A named list of scanners with its settings. */
export interface Profile {
  readonly name: string;
  readonly service: ScanService;
  /** Absent if requests may not set thresholds. */
  readonly variants?: ThresholdVariants | undefined;
}

/** The header that selects a profile. */
const HEADER = "x-guard-profile";

/** The options of a request that need rights. */
export interface RequestedOptions {
  profile?: string | null | undefined;
  scanners_suppress?: readonly string[] | null | undefined;
  thresholds?: Readonly<Record<string, number>> | null | undefined;
  ad_hoc_recognizers?: readonly AdHocRecognizer[] | null | undefined;
  /** Whether findings of personal data are explained, whatever the options of their scanners. */
  explain?: boolean;
  /** The only types of personal data that are looked for. */
  types?: readonly string[] | undefined;
}

export interface GrantedOptions {
  profile: Profile;
  suppress: readonly string[];
  /** Scanners of the profile and their variants with the thresholds and recognizers of the request. */
  replacements: ReadonlyMap<Scanner, Scanner> | undefined;
  /** The recognizers of the request. */
  recognizers: AdHocRecognizers | undefined;
}

/** The profiles of a server. */
export class Profiles {
  readonly main: Profile;
  readonly #byName: ReadonlyMap<string, Profile>;
  readonly #recognizers = new RecognizerSets();

  /** @param all the main profile first. */
  constructor(all: readonly [Profile, ...Profile[]]) {
    this.main = all[0];
    this.#byName = new Map(all.map((profile) => [profile.name, profile]));
  }

  get all(): Profile[] {
    return [...this.#byName.values()];
  }

  /** The reason why a profile accepts no scans now. */
  get notReady(): GuardError | undefined {
    return this.all.map(({ service }) => service.notReady).find((reason) => reason !== undefined);
  }

  /** The profiles that a caller may use, its own first. */
  allowed(rights: Rights): Profile[] {
    return this.all
      .filter(({ name }) => isAllowed(name, rights))
      .sort((one, other) => Number(other.name === rights.profile) - Number(one.name === rights.profile));
  }

  async close(): Promise<void> {
    await Promise.all(this.all.map(({ service }) => service.close()));
  }

  /** Loads the models of one profile after the other. */
  async load(): Promise<void> {
    for (const { service } of this.all) await service.load();
  }

  /**
   * Returns the requested profile, by default that of the credential.
   *
   * @throws Problem 403 for a profile that the caller may not select, and 422 for one that does not exist.
   */
  of({ rights }: { rights: Rights }, requested: string | undefined): Profile {
    const name = requested ?? rights.profile;
    const found = this.#byName.get(name);
    // Check the right first: callers without it must not learn which profiles exist.
    if (!isAllowed(name, rights)) throw new Problem(403, "This credential may not use that profile.");
    if (!found) throw new GuardValidationError([{ path: "profile", message: "there is no such profile" }]);
    return found;
  }

  /**
   * Checks the rights for the options of a request.
   *
   * @throws Problem 403 for missing rights, and GuardValidationError for unknown names and bad values.
   */
  grant(request: FastifyRequest, requested: RequestedOptions, side: Side): GrantedOptions {
    const profile = requested.profile ? this.of(request, checkedName(request, requested.profile)) : request.profile;
    request.profile = profile;
    const suppress = requested.scanners_suppress ?? [];
    if (suppress.length > 0 && !request.rights.maySuppress) {
      throw new Problem(403, "This credential may not suppress scanners (scanners_suppress).");
    }
    const thresholds = Object.entries(requested.thresholds ?? {});
    if (thresholds.length > 0 && !profile.variants) {
      throw new Problem(403, "Requests may not set thresholds in this profile (thresholds).");
    }
    const variants = thresholds.length > 0 ? profile.variants?.with(thresholds, side) : undefined;
    const typed = requested.types ? withTypes(profile, side, requested.types, variants) : variants;
    const explained = requested.explain ? withExplanations(profile, side, typed) : typed;
    const set = this.#setOf(request, requested.ad_hoc_recognizers ?? []);
    const replacements = set ? withRecognizers(profile, side, set, explained) : explained;
    return { profile, suppress, replacements, recognizers: set?.recognizers };
  }

  #setOf(request: FastifyRequest, given: readonly AdHocRecognizer[]): RecognizerSet | undefined {
    if (given.length === 0) return undefined;
    if (!request.rights.mayAddRecognizers) {
      throw new Problem(403, "This credential may not add recognizers (ad_hoc_recognizers).");
    }
    return withPathPrefix(RECOGNIZERS, () => this.#recognizers.of(given, request.credential?.id));
  }
}

function isAllowed(name: string, { profile, mayChoose }: Rights): boolean {
  return name === profile || mayChoose === "all" || mayChoose.includes(name);
}

/** The field with the recognizers of a request. */
const RECOGNIZERS = "ad_hoc_recognizers";

/** Returns the replacements of a request and, for scanners that look for personal data, replacements that look for some types only. */
function withTypes(
  { service }: Profile,
  side: Side,
  types: readonly string[],
  variants: ReadonlyMap<Scanner, Scanner> | undefined,
): ReadonlyMap<Scanner, Scanner> {
  const replacements = new Map(variants);
  for (const { scanner } of service.scanners[side]) {
    const { withTypes } = (variants?.get(scanner) ?? scanner) as Partial<BuiltInScanner>;
    if (withTypes) replacements.set(scanner, withTypes(types));
  }
  return replacements;
}

/** Returns the replacements of a request and, for scanners that look for personal data, replacements that explain their findings. */
function withExplanations(
  { service }: Profile,
  side: Side,
  variants: ReadonlyMap<Scanner, Scanner> | undefined,
): ReadonlyMap<Scanner, Scanner> {
  const replacements = new Map(variants);
  for (const { scanner } of service.scanners[side]) {
    const { withExplanations } = (variants?.get(scanner) ?? scanner) as Partial<BuiltInScanner>;
    if (withExplanations) replacements.set(scanner, withExplanations());
  }
  return replacements;
}

/** Returns the replacements of a request and, for scanners that look for personal data, replacements with its recognizers. */
function withRecognizers(
  { service }: Profile,
  side: Side,
  set: RecognizerSet,
  variants: ReadonlyMap<Scanner, Scanner> | undefined,
): ReadonlyMap<Scanner, Scanner> {
  const replacements = new Map(variants);
  let isTaken = false;
  for (const { scanner } of service.scanners[side]) {
    const added = set.addTo(variants?.get(scanner) ?? scanner);
    if (!added) continue;
    replacements.set(scanner, added);
    isTaken = true;
  }
  if (!isTaken) throw new GuardValidationError([{ path: RECOGNIZERS, message: `${NO_TAKER} in this profile` }]);
  return replacements;
}

function checkedName({ headers }: FastifyRequest, name: string): string {
  if (headers[HEADER] !== undefined && headers[HEADER] !== name) {
    throw new GuardValidationError([{ path: "profile", message: "differs from the header X-Guard-Profile" }]);
  }
  return name;
}

/** Sets the profile of each request: that of its credential, or the one in its header. */
export const profilesPlugin = fp(async (app: FastifyInstance, { profiles }: { profiles: Profiles }) => {
  app.decorateRequest("profile", null as unknown as Profile);
  app.addHook("onRequest", (request, _reply, done) => {
    const { [HEADER]: name } = request.headers;
    // Public routes use no profile.
    const isPublic = request.routeOptions.config.public || request.is404;
    request.profile = isPublic ? profiles.main : profiles.of(request, typeof name === "string" ? name : undefined);
    done();
  });
});
