import { isRecord } from "../support/is-record.ts";
import { UsageError } from "./command.ts";

/** The parameters of a scanner, from the JSON behind `--params`. */
export function readParams(type: string, json: string): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch (error) {
    throw new UsageError(`--params of ${type}: not JSON: ${(error as Error).message}`);
  }
  if (!isRecord(value)) throw new UsageError(`--params of ${type}: expected a JSON object`);
  return value;
}
