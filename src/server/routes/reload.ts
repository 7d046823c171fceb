import type { FastifyInstance } from "fastify";
import { assertAdministering } from "../../http-server/callers/rights.ts";
import { Problem, pointerOf } from "../../http-server/problem.ts";
import { GuardError, GuardValidationError } from "../../support/errors.ts";
import { adminProblems, notReadyProblems, type ProblemReplies } from "../http/problem-replies.ts";

export interface ReloadRouteOptions {
  /**
   * Reloads the configuration.
   *
   * @returns the hash of the new configuration.
   * @throws GuardValidationError with the paths of the invalid values.
   */
  reload(): Promise<string>;
}

const DETAIL = "The configuration is not valid: the old one stays in use.";

/** Not a named schema, because most servers have no such route. */
const reloadReply = {
  schema: {
    type: "object",
    properties: {
      config: {
        type: "string",
        description: "Hash of the new configuration, as in guard_config_info and the audit log.",
      },
    },
    required: ["config"],
  },
  example: { config: "3b1d5d60ad2cb9f1" },
};

const problems: ProblemReplies = {
  ...adminProblems,
  422: {
    description: "The configuration is not valid",
    example: new Problem(422, DETAIL, {
      errors: [{ pointer: "/input_scanners/0/type", detail: "unknown scanner Toxicty" }],
    }),
  },
  ...notReadyProblems,
};

/** `POST /admin/reload`: reloads the configuration, and responds when it is in use or has failed. */
export async function reloadRoute(app: FastifyInstance, { reload }: ReloadRouteOptions): Promise<void> {
  app.post("/admin/reload", {
    config: { problems },
    schema: {
      tags: ["Admin"],
      operationId: "reload",
      summary: "Reload the configuration",
      response: { 200: { description: "OK", content: { "application/json": reloadReply } } },
    },
    // Check the right before the body is read.
    onRequest: async ({ rights }) => assertAdministering(rights),
    handler: async () => {
      try {
        return { config: await reload() };
      } catch (error) {
        if (!(error instanceof GuardError)) throw new Problem(422, `${DETAIL} See the log.`);
        if (["GUARD_STARTING", "GUARD_CLOSED"].includes(error.code)) throw error;
        throw new Problem(422, DETAIL, { errors: issuesOf(error) });
      }
    },
  });
}

function issuesOf(error: GuardError) {
  if (!(error instanceof GuardValidationError)) return [{ pointer: "", detail: error.message }];
  return error.issues.map(({ path, message }) => ({
    pointer: pointerOf(path === "" ? [] : path.split(".")),
    detail: message,
  }));
}
