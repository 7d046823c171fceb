import { existsSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { relative, sep } from "node:path";
import { ownFile } from "../own-files.ts";
import { version } from "../support/version.ts";
import { type Command, parse, print, UsageError } from "./command.ts";

const options = {
  force: { type: "boolean", help: "write over a file that is there already" },
} as const;

/** The file that comes with the package, and its schema beside it. */
const FILE = ownFile("scanners.yml");
const SCHEMA = ownFile("scanners.schema.json");

/** `guard-scan init`: a configuration to begin with. */
export const init: Command = {
  name: "init",
  summary: "Writes a scanners.yml with comments to begin with.",
  usage: "guard-scan init [FILE] [--force]",
  options,
  notes:
    "The file is guard's own configuration: what is active in it is what guard does without one. FILE is scanners.yml by default.",
  async run(args) {
    const { values, positionals } = parse(options, args);
    const [file = "scanners.yml", more] = positionals;
    if (more !== undefined) throw new UsageError(`unexpected argument ${more}`);
    const text = (await readFile(FILE, "utf8")).replace(/(?<=\$schema=).*/, schemaAddress());
    try {
      await writeFile(file, text, { flag: values.force ? "w" : "wx" });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
      throw new UsageError(`${file} is there already; --force writes over it`);
    }
    await print(
      `${file} is written. guard-scan serve${file === "scanners.yml" ? "" : ` --config ${file}`} starts the HTTP API with it.\n`,
    );
    return 0;
  },
};

/** Where editors find the schema: in the project where guard is installed in it, otherwise where packages are published. */
function schemaAddress(): string {
  const path = relative(process.cwd(), SCHEMA);
  const isInProject = path.split(sep)[0] === "node_modules" && existsSync(path);
  return isInProject
    ? `./${path.split(sep).join("/")}`
    : `https://unpkg.com/guard-scan@${version}/scanners.schema.json`;
}
