/**
 * Results of sampled scans. `same` and `differs`: the verdicts were compared. `failed`: the shadow had an error. `dropped`: the server was
 * busy. `not_compared`: the text was not kept, the request had thresholds, or the shadow lacks the profile.
 */
export const SHADOW_RESULTS = ["same", "differs", "failed", "dropped", "not_compared"] as const;
export type ShadowResult = (typeof SHADOW_RESULTS)[number];
