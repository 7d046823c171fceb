import { z } from "zod";
import { LIMITS } from "../../proxy/settings.ts";
import { normalPath } from "../../proxy/upstreams.ts";
import { parseOptions } from "../../support/options.ts";

const schema = z.strictObject({
  ...LIMITS,
  /** A request header with the caller, which shares of memory belong to. */
  callerHeader: z
    .string()
    .regex(/^[\w!#$%&'*+.^`|~-]+$/, "expected the name of a header")
    .optional(),
});

/** The limits of an external processor, as a user gives them. */
export type ExtProcLimits = z.input<typeof schema>;

export type ExtProcSettings = z.output<typeof schema>;

/**
 * Validates limits and adds defaults.
 *
 * @throws GuardValidationError with the path of every invalid value.
 */
export function checkLimits(limits: ExtProcLimits): ExtProcSettings {
  const { pass, callerHeader, ...rest } = parseOptions(schema, limits);
  return { ...rest, pass: pass.map(normalPath), callerHeader: callerHeader?.toLowerCase() };
}
