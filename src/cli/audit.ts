import { createReadStream, existsSync } from "node:fs";
import { createInterface } from "node:readline";
import { GuardError } from "../support/errors.ts";
import { type Command, numberOf, parse, print, UsageError } from "./command.ts";

const options = {
  first: {
    type: "string",
    value: "NUMBER",
    help: "number of the first record, if older files were deleted; default: 1",
  },
  "other-lines": { type: "boolean", help: "ignore other lines, such as log lines on standard output" },
  json: { type: "boolean", help: "print the result as JSON" },
} as const;

/** `guard-scan audit verify`: checks that the records of an audit log are complete and unchanged. */
export const audit: Command = {
  name: "audit",
  summary: "Checks the files of an audit log.",
  usage: "guard-scan audit verify FILE... [--first NUMBER] [--other-lines] [--json]",
  options,
  async run(args) {
    const { values, positionals } = parse(options, args);
    const [verb, ...given] = positionals;
    if (verb !== "verify" || given.length === 0) throw new UsageError("expected: verify FILE");
    const first = numberOf("--first", values.first) ?? 1;
    const allowsOtherLines = values["other-lines"] ?? false;
    const [{ checkChain }, { readAuditKey }, { rotatedFiles }] = await Promise.all([
      import("../audit/chain.ts"),
      import("../audit/keys.ts"),
      import("../audit/audit-file.ts"),
    ]);
    const [file = ""] = given;
    if (given.length === 1 && !existsSync(file)) throw new GuardError("GUARD_VALIDATION", `there is no file ${file}`);
    const files = given.length === 1 ? [...(await rotatedFiles(file)).map(({ path }) => path), file] : given;
    const check = await checkChain(linesOf(files), readAuditKey(process.env)?.chain, { first, allowsOtherLines });
    if (values.json) {
      await print(`${JSON.stringify({ files, ...check })}\n`);
    } else {
      for (const { line, message } of check.faults) await print(`line ${line}: ${message}\n`);
      const range = check.records > 0 ? ` (${check.first} to ${check.last})` : "";
      const lost = check.lost > 0 ? `; ${check.lost} decisions could not be recorded` : "";
      const verdict = check.faults.length === 0 ? "whole" : `${check.faults.length} faults`;
      await print(`${check.records} records${range} in ${files.length} files: ${verdict}${lost}\n`);
    }
    return check.faults.length === 0 && check.records > 0 ? 0 : 1;
  },
};

async function* linesOf(files: readonly string[]): AsyncGenerator<string> {
  for (const file of files)
    yield* createInterface({ input: createReadStream(file), crlfDelay: Number.POSITIVE_INFINITY });
}
