import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { type Command, parse, print, UsageError } from "../src/cli/command.ts";
import { ownFile } from "../src/own-files.ts";
import { formatFiles } from "./generate/format.ts";
import { generatedFiles, modelManifests } from "./generate/generated-files.ts";

const options = {
  check: { type: "boolean", help: "write nothing; fail if a file is not up to date" },
} as const;

/** Writes the files that are made from the scanners' definitions, the shapes of messages and the models. */
export const generate: Command = {
  name: "generate",
  summary: "Writes types, indexes, documentation, the schema of scanners.yml and the manifests of the models.",
  usage: "npm run generate [-- --check]",
  options,
  async run(args) {
    const { values, positionals } = parse(options, args);
    if (positionals.length > 0) throw new UsageError(`unexpected argument ${positionals[0]}`);
    // First the manifests: the pages are made from files of models, which are compared with them.
    const stale = [modelManifests, () => formatFiles(generatedFiles())].flatMap((files) => {
      const changed = changedFiles(files());
      if (!values.check) writeFiles(changed);
      return [...changed.keys()];
    });
    for (const path of stale) await print(`${values.check ? "stale" : "written"}: ${path}\n`);
    if (!values.check || stale.length === 0) return 0;
    await print("Run npm run generate, and commit what it writes.\n");
    return 1;
  },
};

function changedFiles(files: ReadonlyMap<string, string>): Map<string, string> {
  const isCurrent = (path: string, text: string) =>
    existsSync(ownFile(path)) && readFileSync(ownFile(path), "utf8") === text;
  return new Map([...files].filter(([path, text]) => !isCurrent(path, text)));
}

function writeFiles(files: ReadonlyMap<string, string>): void {
  for (const [path, text] of files) {
    mkdirSync(dirname(ownFile(path)), { recursive: true });
    writeFileSync(ownFile(path), text);
  }
}
