import type { FastifyInstance } from "fastify";
import { assertAdministering } from "../../http-server/callers/rights.ts";
import { Problem, pointerOf } from "../../http-server/problem.ts";
import { GuardError, GuardValidationError } from "../../support/errors.ts";
import { notAdministering, notReady, type ProblemReplies } from "../http/problem-replies.ts";

/** What the route needs. */
export interface ReloadRouteOptions {
  /**
   * Reads the configuration anew, and resolves with the hash of the one that is served now.
   *
   * @throws GuardValidationError with the paths of the values at fault.
   */
  reload(): Promise<string>;
}

const DETAIL = "The configuration cannot be used: the one before is still served.";

/** It is no named schema: most servers have no route with it. */
const reloaded = {
  schema: {
    type: "object",
    properties: {
      config: {
        type: "string",
        description: "Hash of the configuration that is served now, as guard_config_info and the audit log have it.",
      },
    },
    required: ["config"],
  },
  example: { config: "3b1d5d60ad2cb9f1" },
};

const problems: ProblemReplies = {
  ...notAdministering,
  422: {
    description: "A configuration that cannot be used",
    example: new Problem(422, DETAIL, {
      errors: [{ pointer: "/input_scanners/0/type", detail: "unknown scanner Toxicty" }],
    }),
  },
  ...notReady,
};

/** `POST /admin/reload`: reads the configuration anew, and answers when it is served or when it turned out that it cannot be. */
export async function reloadRoute(app: FastifyInstance, { reload }: ReloadRouteOptions): Promise<void> {
  app.post("/admin/reload", {
    config: { problems },
    schema: {
      tags: ["Admin"],
      operationId: "reload",
      summary: "Reads the configuration anew, and serves it if it can be used",
      response: { 200: { description: "OK", content: { "application/json": reloaded } } },
    },
    // Before the body is read: nobody else may make the service wait for one.
    onRequest: async ({ rights }) => assertAdministering(rights),
    handler: async () => {
      try {
        return { config: await reload() };
      } catch (error) {
        if (!(error instanceof GuardError)) throw new Problem(422, `${DETAIL} The log says why.`);
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
