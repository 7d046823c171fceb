import { GuardValidationError, type ValidationIssue } from "../../src/support/errors.ts";

/** Returns the issues of the GuardValidationError that a call throws, or none if it throws nothing. */
export function issuesOf(call: () => unknown): readonly ValidationIssue[] {
  try {
    call();
  } catch (error) {
    if (error instanceof GuardValidationError) return error.issues;
    throw error;
  }
  return [];
}
