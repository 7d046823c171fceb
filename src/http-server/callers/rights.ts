import { MAIN_PROFILE } from "../../config/main-profile.ts";
import { Problem } from "../problem.ts";

declare module "fastify" {
  interface FastifyRequest {
    rights: Rights;
  }
}

/** The rights of a caller. */
export interface Rights {
  /** The name of the caller's profile. */
  readonly profile: string;
  /** Further profiles that the caller may select. */
  readonly mayChoose: readonly string[] | "all";
  /** Whether the caller may suppress scanners. */
  readonly maySuppress: boolean;
  /** Whether the caller may add recognizers of personal data. */
  readonly mayAddRecognizers: boolean;
  /** Whether the caller may list, add and remove exceptions. */
  readonly mayAddExceptions: boolean;
  /** Whether the caller may read the texts in review, and decide about them. */
  readonly mayReview: boolean;
  /** Whether the caller may use the routes for operators (`/admin/...`). */
  readonly mayAdminister: boolean;
}

/** The rights of all callers of a server without authentication. */
export const ALL_RIGHTS: Rights = {
  profile: MAIN_PROFILE,
  mayChoose: "all",
  maySuppress: true,
  mayAddRecognizers: true,
  mayAddExceptions: true,
  mayReview: true,
  mayAdminister: true,
};

/** @throws Problem 403 if the caller may not add exceptions. */
export function assertAddingExceptions({ mayAddExceptions }: Rights): void {
  if (!mayAddExceptions) throw new Problem(403, "This credential may not add exceptions.");
}

/** @throws Problem 403 if the caller may not decide about reviews. */
export function assertReviewing({ mayReview }: Rights): void {
  if (!mayReview) throw new Problem(403, "This credential may not decide about reviews.");
}

/** @throws Problem 403 if the caller is no operator. */
export function assertAdministering({ mayAdminister }: Rights): void {
  if (!mayAdminister) throw new Problem(403, "This credential may not administer the service.");
}
