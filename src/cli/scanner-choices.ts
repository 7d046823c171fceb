import { parseParams, UsageError } from "./command.ts";
import type { ScannerChoice } from "./suite.ts";

/** An argument of the command line, as `parseArgs` returns it. */
export interface ArgumentToken {
  kind: string;
  name?: string;
  value?: string | undefined;
}

/** The scanners of the command line, each with the `--params` that follow it. */
export function readChoices(tokens: readonly ArgumentToken[]): ScannerChoice[] {
  const choices: (Omit<ScannerChoice, "params"> & { params?: ScannerChoice["params"] })[] = [];
  for (const { kind, name, value = "" } of tokens) {
    if (kind !== "option") continue;
    if (name === "scanner") choices.push({ type: value });
    if (name !== "params") continue;
    const last = choices.at(-1);
    if (!last || last.params) throw new UsageError("--params must follow the --scanner that it is for");
    last.params = parseParams(last.type, value);
  }
  return choices.map(({ type, params = {} }) => ({ type, params }));
}
