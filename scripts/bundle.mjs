// Puts the JavaScript of src/ into a few files in dist/, beside the declarations that tsc writes there: `node scripts/bundle.mjs`. Node.js
// takes about a millisecond for each module that it loads, so that hundreds of small ones are slow to start.
import { existsSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { dirname, join, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";

const root = fileURLToPath(new URL("..", import.meta.url));
const dist = join(root, "dist");
const manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));

/** The small packages that every program needs which imports guard. The others are left where npm installs them. */
const BUNDLED = ["d3-array", "internmap", "ipaddr.js", "js-yaml", "lru-cache", "p-limit", "yocto-queue", "zod"];

/** What the package exports, and its command. */
const PUBLISHED = [...Object.values(manifest.exports), ...Object.values(manifest.bin)]
  .map((target) => target.default ?? target)
  .filter((file) => file.endsWith(".js"))
  .map((file) => file.replace(/^(?:\.\/)?dist\/(.+)\.js$/, "$1"));

/** Programs of processes that guard starts. */
const PROGRAMS = ["server/workers/entry"];

/** What the tools of this repository load besides. */
const FOR_TOOLS = [
  "cli/language-cards",
  "config/index",
  "conversation/assembled",
  "support/errors",
  "messages/read",
  "models/engine",
  "reference/generated-files",
  "reference/manifests",
  "scanners/catalog",
  "server/problem",
  "server/vault-seal",
  "support/strict-json",
  "text/statements",
  "http-formats/formats",
  "http-formats/sse",
];

/**
 * Returns the modules that could be in each of the large files; a module is in the first that it could be in. What is loaded together lies together, and nothing is loaded for what a program
 * does not use: help needs no scanners, a guard elsewhere no addon, lists of scanners no configuration, and `guard scan` no server. The modules that are left
 * lie where rolldown puts them. What a module imports is in its own list as well: rolldown would put it there otherwise.
 */
function modulesOfFiles(getModuleInfo) {
  const reachedFrom = (ids) => {
    const found = new Set();
    const visit = (id) => {
      const info = getModuleInfo(id);
      if (found.has(id) || info.isExternal) return;
      found.add(id);
      info.importedIds.forEach(visit);
    };
    for (const id of ids) visit(id);
    return found;
  };
  const core = reachedFrom([sourceOf("index")]);
  const cli = reachedFrom([sourceOf("cli/main")]);
  const server = reachedFrom([sourceOf("server/index")]);
  const light = reachedFrom(
    PUBLISHED.filter((name) => /^(?:guard\/remote|http-formats|integrations)\//.test(name)).map(sourceOf),
  );
  // A proxy that asks a guard elsewhere shares how it listens with the server, and has no addon either.
  const proxy = reachedFrom([sourceOf("proxy/index")]);
  const config = reachedFrom([sourceOf("guard/create-guard")]);
  const suite = reachedFrom([sourceOf("cli/suite")]);
  const scanning = new Set([...config, ...suite, ...server]);
  return {
    base: both(cli, core),
    light: both(new Set([...light, ...proxy]), core),
    core,
    // What a proxy shares with `guard scan`, which needs nothing of how servers listen and count.
    scan: both(proxy, new Set([...config, ...suite])),
    proxy: both(proxy, new Set([...cli, ...scanning])),
    wire: both(light, new Set([...cli, ...scanning])),
    helpers: both(cli, scanning),
    config,
    // The command itself waits for what it runs, which would never be loaded if that had to wait for the file of the command.
    commands: new Set([...cli].filter((id) => id !== sourceOf("cli/main"))),
    suite,
    server,
  };
}

const sourceOf = (name) => join(root, "src", `${name}.ts`);
const both = (one, other) => new Set([...one].filter((id) => other.has(id)));

/** The name of the package that a file belongs to. */
const packageOf = (file) => /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(file.split(sep).join("/"))?.[1];

/** The licences of the packages whose code is in dist/, which have to go with it. */
function notices(files) {
  const packages = new Map(files.map((file) => [packageOf(file), file]).filter(([name]) => name));
  const texts = [...packages].sort().map(([name, file]) => {
    let folder = dirname(file);
    // Packages have further files of this name in their folders, which say nothing but what kind of modules lie there.
    while (manifestIn(folder)?.name !== name) folder = dirname(folder);
    const license = readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry));
    if (!license) throw new Error(`the package ${name} has no licence that could go with its code`);
    const { version, license: id } = manifestIn(folder);
    return `${name} ${version} (${id})\n\n${readFileSync(join(folder, license), "utf8").trim()}\n`;
  });
  return `The files beside this one hold code of these packages.\n\n${texts.join(`\n${"-".repeat(78)}\n\n`)}`;
}

function manifestIn(folder) {
  const path = join(folder, "package.json");
  return existsSync(path) ? JSON.parse(readFileSync(path, "utf8")) : undefined;
}

/** The large files, in the order in which a module is tried for them. */
const FILES = ["base", "light", "core", "scan", "proxy", "wire", "helpers", "config", "commands", "suite", "server"];

let modules;
const bundle = await rolldown({
  cwd: root,
  platform: "node",
  input: Object.fromEntries(
    [...new Set([...PUBLISHED, ...PROGRAMS, ...FOR_TOOLS])].map((name) => [name, `src/${name}.ts`]),
  ),
  external: (id) => /^[^./]/.test(id) && !BUNDLED.some((name) => id === name || id.startsWith(`${name}/`)),
  plugins: [
    {
      name: "files",
      buildEnd() {
        modules = modulesOfFiles((id) => this.getModuleInfo(id));
      },
      generateBundle(_, written) {
        const files = Object.values(written).flatMap((file) => file.moduleIds ?? []);
        this.emitFile({ type: "asset", fileName: "THIRD-PARTY-NOTICES.txt", source: notices(files) });
      },
    },
  ],
});
// What an earlier run wrote has other names.
for (const file of existsSync(dist) ? readdirSync(dist, { recursive: true }) : []) {
  if (file.endsWith(".js") && !file.startsWith(join("server", "page"))) rmSync(join(dist, file));
}
await bundle.write({
  dir: dist,
  format: "esm",
  // Errors and scanners are told apart by the names of their classes, also where two files have one of the same name.
  keepNames: true,
  // Directly in dist/: see src/own-files.ts.
  chunkFileNames: "[name]-[hash].js",
  codeSplitting: {
    groups: FILES.map((name, index) => ({
      name,
      test: (id) => modules[name].has(id),
      priority: FILES.length - index,
    })),
  },
});
await bundle.close();
