import { existsSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { relative, sep } from "node:path";
import { ownFile } from "../own-files.ts";
import { version } from "../support/version.ts";
import { type Command, parse, print, UsageError } from "./command.ts";

const options = {
  force: { type: "boolean", help: "overwrite an existing file" },
} as const;

/** The configuration of the package, and its schema. */
const FILE = ownFile("scanners.yml");
const SCHEMA = ownFile("scanners.schema.json");

/** `guard-scan init`: writes a first configuration. */
export const init: Command = {
  name: "init",
  summary: "Writes a commented scanners.yml to start from.",
  usage: "guard-scan init [FILE] [--force]",
  options,
  notes: "FILE is scanners.yml by default. The file is the configuration that guard uses without one.",
  async run(args) {
    const { values, positionals } = parse(options, args);
    const [file = "scanners.yml", more] = positionals;
    if (more !== undefined) throw new UsageError(`unexpected argument ${more}`);
    const text = (await readFile(FILE, "utf8")).replace(/(?<=\$schema=).*/, schemaAddress());
    try {
      await writeFile(file, text, { flag: values.force ? "w" : "wx" });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
      throw new UsageError(`${file} exists; use --force to overwrite it`);
    }
    await print(
      `Wrote ${file}. Start the HTTP API with it: npx guard-scan serve${file === "scanners.yml" ? "" : ` --config ${file}`}\n`,
    );
    return 0;
  },
};

/** The address of the schema for editors: in the project if guard is installed there, otherwise on a CDN. */
function schemaAddress(): string {
  const path = relative(process.cwd(), SCHEMA);
  const isInProject = path.split(sep)[0] === "node_modules" && existsSync(path);
  return isInProject
    ? `./${path.split(sep).join("/")}`
    : `https://unpkg.com/guard-scan@${version}/scanners.schema.json`;
}
