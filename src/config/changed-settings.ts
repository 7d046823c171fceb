import { isRecord } from "../support/is-record.ts";
import { toSnakeCase } from "../support/options.ts";
import type { Config } from "./schema.ts";

/** Scanners, credentials and exceptions are shown elsewhere. Credentials have secrets, and exceptions quote texts. */
const LEFT_OUT = ["inputScanners", "outputScanners", "profiles", "auth", "allow"];

/** A setting with its path in the file, and its value in JSON. */
export interface ShownSetting {
  name: string;
  value: string;
}

/** Returns the settings that differ from the defaults, without passwords in addresses. */
export function changedSettings(config: Config, defaults: Config): ShownSetting[] {
  const initial = new Map(flatten(defaults).map(({ name, value }) => [name, value]));
  return flatten(config).filter(({ name, value }) => initial.get(name) !== value);
}

function flatten(config: Config): ShownSetting[] {
  const collect = (value: unknown, path: string): ShownSetting[] => {
    if (value === undefined || value === null) return [];
    if (!isRecord(value)) return [{ name: path, value: JSON.stringify(withoutPasswords(value)) ?? typeof value }];
    return Object.entries(value).flatMap(([key, inner]) => collect(inner, `${path}.${toSnakeCase(key)}`));
  };
  return Object.entries(config)
    .filter(([key]) => !LEFT_OUT.includes(key))
    .flatMap(([key, value]) => collect(value, toSnakeCase(key)));
}

/** Removes user, password and query of addresses. */
function withoutPasswords(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutPasswords);
  if (typeof value !== "string" || !/^[a-z][a-z+]*:\/\//i.test(value)) return value;
  return URL.canParse(value) ? value.replace(/^([^/]*\/\/)[^/]*@/, "$1").replace(/[?#].*$/s, "") : "…";
}
