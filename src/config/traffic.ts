import { z } from "zod";
import { redis } from "./redis.ts";

/** The section `traffic`. */
export const traffic = z.strictObject({ redis });
