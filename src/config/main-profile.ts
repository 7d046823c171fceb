/** The name of the profile that a configuration describes outside of `profiles`. */
export const MAIN_PROFILE = "default";
