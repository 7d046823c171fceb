import { CONVERSATION_RISK } from "../scan/report.ts";
import { scannerClasses } from "../scanners/catalog.ts";
import { didYouMean } from "../support/did-you-mean.ts";
import { GuardValidationError, type ValidationIssue } from "../support/errors.ts";
import { parseOptions, toSnakeCase } from "../support/options.ts";
import { MAIN_PROFILE } from "./main-profile.ts";
import { hasScanner, profilesOf } from "./profiles.ts";
import { type Config, type ConfigInput, configSchema, type ScannerEntry } from "./schema.ts";

/**
 * Validates a configuration of a program, and adds defaults.
 *
 * @throws GuardValidationError with the path of every invalid value.
 */
export function checkConfig(config: ConfigInput): Config {
  const checked = parseOptions(configSchema, config);
  const issues = profileIssues(checked);
  if (issues.length > 0) throw new GuardValidationError(issues);
  return checked;
}

/** Checks rules that concern several sections. */
export function checkSections(config: Config): void {
  const issues = profileIssues(config).map(({ path, message }) => ({ path: toSnakeCase(path), message }));
  issues.push(...maskingIssues(config), ...allowIssues(config));
  for (const { name, config: own } of profilesOf(config)) {
    const prefix = name === MAIN_PROFILE ? "" : `profiles.${name}.`;
    issues.push(...scannerIssues(own).map(({ path, message }) => ({ path: prefix + path, message })));
  }
  if (issues.length > 0) throw new GuardValidationError(issues);
}

/** Finds unknown profiles in `auth`. */
function profileIssues({ auth = [], profiles }: Config): ValidationIssue[] {
  const names = [MAIN_PROFILE, ...Object.keys(profiles)];
  const unknown = (name: string) =>
    `unknown profile ${name}${didYouMean(name, names) || `; known profiles: ${names.join(", ")}`}`;
  return auth.flatMap(({ profile: own, mayChoose }, index) =>
    [
      ...(own === undefined ? [] : [[own, "profile"] as const]),
      ...(mayChoose ?? []).map((name, at) => [name, `mayChoose.${at}`] as const),
    ].flatMap(([name, path]) =>
      names.includes(name) ? [] : [{ path: `auth.${index}.${path}`, message: unknown(name) }],
    ),
  );
}

/** Finds names in `app.masking` that no scanner has. */
function maskingIssues(config: Config): ValidationIssue[] {
  const profiles = profilesOf(config);
  const issuesOf = (prefix: string, masking: readonly string[], among: readonly Config[]) =>
    masking.flatMap((name, index) => {
      if (among.some((own) => hasScanner(own, name))) return [];
      return [{ path: `${prefix}app.masking.${index}`, message: `there is no scanner ${name}` }];
    });
  const own = Object.entries(config.profiles).flatMap(([name, { app }]) => {
    const among = profiles.filter((profile) => profile.name === name).map((profile) => profile.config);
    return issuesOf(`profiles.${name}.`, app?.masking ?? [], among);
  });
  const all = profiles.map((profile) => profile.config);
  return [...issuesOf("", config.app.masking, all), ...own];
}

/** Finds names in `allow` that no scanner has. */
function allowIssues(config: Config): ValidationIssue[] {
  const profiles = profilesOf(config).map((profile) => profile.config);
  return (config.allow ?? []).flatMap(({ scanners }, index) =>
    scanners.flatMap((name, at) =>
      name === CONVERSATION_RISK || profiles.some((own) => hasScanner(own, name))
        ? []
        : [{ path: `allow.${index}.scanners.${at}`, message: `there is no scanner ${name}` }],
    ),
  );
}

function scannerIssues(config: Config): ValidationIssue[] {
  const issues: ValidationIssue[] = [];
  if (config.inputScanners.length + config.outputScanners.length === 0) {
    issues.push({ path: "input_scanners", message: "there are no scanners: every text would pass" });
  }
  const detecting = [...scannerClasses("input").values()].filter(({ definition }) => definition.detects);
  const known = detecting.map(({ type }) => type);
  const { enabled, scoringFunction } = config.conversation.risk;
  const detects = ({ type }: ScannerEntry) =>
    typeof type === "string" ? known.includes(type) : type.definition.detects === true;
  if (enabled && !scoringFunction && !config.inputScanners.some(detects)) {
    const message =
      `needs a scanner in input_scanners that returns the probability of an attack: ${known.join(" or ")}; ` +
      "or a scoring_function";
    issues.push({ path: "conversation.risk.enabled", message });
  }
  return issues;
}
