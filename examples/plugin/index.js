// The exports for import paths: `guard-plugin-example#Blocklist`.
export { Blocklist } from "./blocklist.js";
export { classify } from "./classifier.js";
export { employees } from "./employees.js";
export { names } from "./names.js";
export { secrecy } from "./secrecy.js";
