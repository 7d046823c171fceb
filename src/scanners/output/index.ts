export { BanSubstrings } from "../shared/ban-substrings.ts";
export { Regex } from "../shared/regex.ts";
