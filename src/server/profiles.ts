import type { FastifyInstance, FastifyRequest } from "fastify";
import fp from "fastify-plugin";
import type { ScanService } from "../service.ts";

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
}

/** The name of the profile that the configuration describes outside of `profiles`. */
export const MAIN_PROFILE = "default";

/** Gives every request its profile. */
export const profiles = fp(async (app: FastifyInstance, { main }: { main: Profile }) => {
  app.decorateRequest("profile", null as unknown as Profile);
  app.addHook("onRequest", async (request: FastifyRequest) => {
    request.profile = main;
  });
});
