import type { FastifyInstance } from "fastify";
import { describeScanners } from "../callers/describe-profile.ts";
import type { Profiles } from "../callers/profiles.ts";
import { authProblems } from "../http/problem-replies.ts";
import { profileListExample } from "../schemas/console.ts";
import { jsonReply } from "./replies.ts";

/** `GET /profiles`: the rights of the caller, and the profiles that it may use with their scanners. */
export async function profilesRoute(app: FastifyInstance, { profiles }: { profiles: Profiles }): Promise<void> {
  app.get("/profiles", {
    config: { problems: authProblems },
    schema: {
      tags: ["Status"],
      operationId: "profiles",
      summary: "What the credential may do, and the scanners that check its texts",
      response: jsonReply("ProfileList", profileListExample),
    },
    handler: async ({ credential, rights }) => ({
      credential: credential?.name ?? null,
      may_suppress: rights.maySuppress,
      may_add_recognizers: rights.mayAddRecognizers,
      may_add_exceptions: rights.mayAddExceptions,
      may_review: rights.mayReview,
      may_administer: rights.mayAdminister,
      profiles: profiles.allowed(rights).map(({ name, service, variants }) => ({
        name,
        is_default: name === rights.profile,
        may_set_thresholds: variants !== undefined,
        scanners: describeScanners(service),
      })),
    }),
  });
}
