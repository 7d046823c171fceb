import { didYouMean } from "../support/did-you-mean.ts";
import { type Command, lineWidth, parse, print, UsageError } from "./command.ts";

const options = {
  json: { type: "boolean", help: "print JSON" },
} as const;

/** `guard-scan scanners`: lists the scanners, or describes one. */
export const scanners: Command = {
  name: "scanners",
  summary: "Lists the scanners, or describes one with its options and examples.",
  usage: "guard-scan scanners [NAME] [--json]",
  options,
  notes: "NAME may be a plugin: ./file.js#export, package#export, or a name that an installed package offers.",
  async run(args) {
    const { values, positionals } = parse(options, args);
    const [name, more] = positionals;
    if (more !== undefined) throw new UsageError(`unexpected argument ${more}`);
    // Imported late, because these modules load the addon.
    const [{ scannerReference, scannerReferences }, { pluginList, scannerList, scannerPage }, { PluginLoader }] =
      await Promise.all([
        import("./scanners/reference.ts"),
        import("./scanners/text-pages.ts"),
        import("../plugins/load.ts"),
      ]);
    const plugins = new PluginLoader({ from: "." });
    const references = scannerReferences();
    if (name === undefined) {
      await print(
        values.json
          ? json(references.map(({ type, sides, summary }) => ({ type, sides, summary })))
          : scannerList(references, lineWidth()) + pluginList(await plugins.packagePlugins()),
      );
      return 0;
    }
    const types = references.map(({ type }) => type);
    const found =
      references.find(({ type }) => type.toLowerCase() === name.toLowerCase()) ??
      ((await plugins.isReference(name)) ? scannerReference(await plugins.load("scanner", name)) : undefined);
    if (!found)
      throw new UsageError(
        `unknown scanner ${name}${didYouMean(name, types) || `; expected one of: ${types.join(", ")}`}`,
      );
    await print(values.json ? json(found) : scannerPage(found));
    return 0;
  },
};

function json(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}
