/**
 * What becomes of a scan that was chosen for the shadow. `same` and `differs`: the shadow has judged it. `failed`: the shadow gave an error.
 * `dropped`: the server had no time for it. `not_compared`: nobody kept the text, the request had thresholds of its own, or the shadow does
 * not have its profile.
 */
export const SHADOW_RESULTS = ["same", "differs", "failed", "dropped", "not_compared"] as const;
export type ShadowResult = (typeof SHADOW_RESULTS)[number];
