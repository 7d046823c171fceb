import type { FastifyInstance, FastifyRequest } from "fastify";
import fp from "fastify-plugin";
import { Problem } from "../../http-server/problem.ts";
import type { Scanner, Side } from "../../scan/scanner.ts";
import type { ScanService } from "../../service/service.ts";
import { type GuardError, GuardValidationError } from "../../support/errors.ts";
import type { Variants } from "./variants.ts";

declare module "fastify" {
  interface FastifyRequest {
    /** The profile that this request is judged by. */
    profile: Profile;
  }
}

/** A list of scanners with its own settings, by a name. */
export interface Profile {
  readonly name: string;
  readonly service: ScanService;
  /** Makes scanners with thresholds of a request. It is absent where requests may have none. */
  readonly variants?: Variants | undefined;
}

/** The header in which a request asks for a profile. */
const HEADER = "x-guard-profile";

/** What a request asks for that not everybody may have. */
export interface Asked {
  profile?: string | null | undefined;
  scanners_suppress?: readonly string[] | null | undefined;
  thresholds?: Readonly<Record<string, number>> | null | undefined;
}

/** What of it the request gets. */
export interface Granted {
  profile: Profile;
  suppress: readonly string[];
  /** The scanners that take the place of others, because they have the thresholds of the request. */
  replacements: ReadonlyMap<Scanner, Scanner> | undefined;
}

/** The profiles of a server. */
export class Profiles {
  readonly main: Profile;
  readonly #byName: ReadonlyMap<string, Profile>;

  /** @param all the profiles, the main one first. */
  constructor(all: readonly [Profile, ...Profile[]]) {
    this.main = all[0];
    this.#byName = new Map(all.map((profile) => [profile.name, profile]));
  }

  get all(): Profile[] {
    return [...this.#byName.values()];
  }

  /** The reason why a profile takes no scans now, or undefined when all of them do. */
  get notReady(): GuardError | undefined {
    return this.all.map(({ service }) => service.notReady).find((reason) => reason !== undefined);
  }

  /** Closes the services of all profiles. */
  async close(): Promise<void> {
    await Promise.all(this.all.map(({ service }) => service.close()));
  }

  /** Loads the models of all profiles, one profile after the other. */
  async load(): Promise<void> {
    for (const { service } of this.all) await service.load();
  }

  /**
   * The profile of a request: the one that it asks for, or that of its credential.
   *
   * @throws Problem 403 for one that the caller may not ask for, and 422 for one that does not exist.
   */
  of({ rights }: FastifyRequest, asked: string | undefined): Profile {
    const name = asked ?? rights.profile;
    const found = this.#byName.get(name);
    const isAllowed = name === rights.profile || rights.mayChoose === "all" || rights.mayChoose.includes(name);
    // Who may not choose does not learn which profiles there are.
    if (!isAllowed) throw new Problem(403, "This credential may not ask for that profile.");
    if (!found) throw new GuardValidationError([{ path: "profile", message: "there is no such profile" }]);
    return found;
  }

  /**
   * What a request gets of what it asks for.
   *
   * @param side which scanners judge it.
   * @throws Problem 403 for what the caller may not have, and GuardValidationError for what does not exist.
   */
  grant(request: FastifyRequest, asked: Asked, side: Side): Granted {
    const profile = asked.profile ? this.of(request, checkedName(request, asked.profile)) : request.profile;
    request.profile = profile;
    const suppress = asked.scanners_suppress ?? [];
    if (suppress.length > 0 && !request.rights.maySuppress) {
      throw new Problem(403, "This credential may not leave scanners out (scanners_suppress).");
    }
    const thresholds = Object.entries(asked.thresholds ?? {});
    if (thresholds.length === 0) return { profile, suppress, replacements: undefined };
    if (!profile.variants) throw new Problem(403, "This profile takes no thresholds of requests (thresholds).");
    return { profile, suppress, replacements: profile.variants.with(thresholds, side) };
  }
}

function checkedName({ headers }: FastifyRequest, name: string): string {
  if (headers[HEADER] !== undefined && headers[HEADER] !== name) {
    throw new GuardValidationError([{ path: "profile", message: "is another one than in the header X-Guard-Profile" }]);
  }
  return name;
}

/** Gives every request the profile of its credential, or the one that its header asks for. */
export const profilesPlugin = fp(async (app: FastifyInstance, { profiles }: { profiles: Profiles }) => {
  app.decorateRequest("profile", null as unknown as Profile);
  app.addHook("onRequest", (request, _reply, done) => {
    const { [HEADER]: asked } = request.headers;
    // What nobody has to authenticate for has nothing to do with profiles.
    const isOpen = request.routeOptions.config.public || request.is404;
    request.profile = isOpen ? profiles.main : profiles.of(request, typeof asked === "string" ? asked : undefined);
    done();
  });
});
