// Configuration files: each is accepted, or rejected with a validation error that names the place.
import { readFileSync } from "node:fs";
import fc from "fast-check";
import { parseConfig } from "../../dist/config/index.js";
import { GuardValidationError } from "../../dist/support/errors.js";
import { mutatedText } from "./mutate.mjs";

const text = (path) => readFileSync(new URL(path, import.meta.url), "utf8");
const whole = text("../../scanners.yml");
const small = `app: {port: 8000, log_level: info}
auth: [{type: http_bearer, token: "\${TOKEN:x}", name: a}]
rate_limit: {enabled: true, limit: "10/minute", key: credential}
input_scanners:
  - type: BanSubstrings
    params: {substrings: [a, b], match_type: word}
  - type: Regex
    params: {patterns: ["a+"], is_blocked: true}
profiles: {strict: {input_scanners: [{type: Secrets}]}}
`;

export const property = fc.property(
  mutatedText([small, small, small, text("../../examples/scanners.yml"), whole]),
  (yaml) => {
    try {
      parseConfig(yaml, { env: { TOKEN: "t" } });
    } catch (error) {
      if (!(error instanceof GuardValidationError) || error.issues.length === 0) throw error;
    }
  },
);
