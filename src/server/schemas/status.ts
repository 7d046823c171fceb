import { z } from "zod";

/** Who answers. */
export const serviceName = z
  .object({ name: z.string().describe("The name of the service: app.name of its configuration.") })
  .describe("Name of the service.");

/** The state of the service. */
export const status = z.object({ status: z.string().describe("alive, or ready.") }).describe("State of the service.");
