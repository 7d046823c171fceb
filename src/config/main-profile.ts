/** The name of the profile that the settings outside of `profiles` form. */
export const MAIN_PROFILE = "default";
