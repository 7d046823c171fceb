// `node scripts/bundle.mjs` bundles the JavaScript of src/ into a few files in dist/, beside the declarations that tsc writes. Node.js takes about
// a millisecond to load a module, so hundreds of small modules start slowly.
import { existsSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { isBuiltin } from "node:module";
import { dirname, join, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";

const root = fileURLToPath(new URL("..", import.meta.url));
const dist = join(root, "dist");
const manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));

/**
 * Small packages whose code is in dist/, so that users install fewer packages and programs start sooner. They are devDependencies, except
 * for zod, which the types of the public API refer to.
 */
const BUNDLED = [
  ...["csv-parse", "eventsource-parser", "fastify-plugin", "ipaddr.js", "js-yaml", "lru-cache", "p-limit", "zod"],
  // The dependencies of those above and of @fastify/swagger are bundled with them.
  ...["@fastify/swagger", "debug", "fast-uri", "json-schema-resolver", "ms", "openapi-types", "rfdc", "yaml"],
  ...["d3-array", "internmap", "yocto-queue"],
];

/** Packages that npm installs for users, or that users install for one feature. `debug` does without supports-color. */
const INSTALLED = [...Object.keys(manifest.dependencies), ...Object.keys(manifest.peerDependencies), "supports-color"];

/** @throws Error for a package that users would not have. */
function isExternal(id) {
  if (!/^[^./]/.test(id) || id.startsWith("\0")) return false;
  if (isBuiltin(id)) return true;
  const isOf = (name) => id === name || id.startsWith(`${name}/`);
  if (BUNDLED.some(isOf)) return false;
  if (INSTALLED.some(isOf)) return true;
  throw new Error(`src/ imports ${id}, which is neither bundled nor installed for users`);
}

/** The modules that package.json exports, and the command. */
const PUBLISHED = [...Object.values(manifest.exports), ...Object.values(manifest.bin)]
  .map((target) => target.default ?? target)
  .filter((file) => file.endsWith(".js"))
  .map((file) => file.replace(/^(?:\.\/)?dist\/(.+)\.js$/, "$1"));

/** The entry points of processes that guard starts. */
const PROGRAMS = ["server/process/workers/worker", "cli/batch/worker"];

/** Further modules that scripts, benchmarks and tests load from dist/. */
const FOR_TOOLS = [
  "config/index",
  "conversation/assembled-texts",
  "support/errors",
  "messages/read-conversation",
  "models/engine",
  "scanners/catalog",
  "http-server/problem",
  "server/vault/vault-seal",
  "support/strict-json",
  "text/statements",
  "http-formats/formats",
  "http-formats/request-parts",
  "http-formats/sse",
];

/**
 * Returns the candidate modules of each large file. A module is put into the first file that it is a candidate for, and rolldown places the rest.
 *
 * Modules that are loaded together are in one file, and a program loads no code that it does not use: help needs no scanners, a remote guard no
 * addon, a list of scanners no configuration, and `guard scan` no server. A list also has the imports of its modules, because rolldown would
 * add them to the file anyway.
 */
function modulesByFile(getModuleInfo) {
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
  const remote = reachedFrom(["guard/remote/index", "guard/remote/reply-schemas"].map(sourceOf));
  const core = reachedFrom([sourceOf("index")]);
  const cli = reachedFrom([sourceOf("cli/main")]);
  const server = reachedFrom([sourceOf("server/index")]);
  const light = reachedFrom(
    PUBLISHED.filter((name) => /^(?:guard\/remote|http-formats|integrations)\//.test(name)).map(sourceOf),
  );
  // A proxy with a remote guard shares the code that listens with the server, and needs no addon.
  const proxy = reachedFrom([sourceOf("proxy/index")]);
  const config = reachedFrom([sourceOf("guard/create-guard")]);
  const suite = reachedFrom([sourceOf("cli/suite")]);
  const scanning = new Set([...config, ...suite, ...server]);
  return {
    // Browsers load these two files, so no module that needs Node.js may be in them.
    "remote-base": both(remote, core),
    remote,
    base: both(cli, core),
    light: both(new Set([...light, ...proxy]), core),
    core,
    // Code that a proxy shares with `guard scan`, which needs no listener and no metrics.
    scan: both(proxy, new Set([...config, ...suite])),
    proxy: both(proxy, new Set([...cli, ...scanning])),
    wire: both(light, new Set([...cli, ...scanning])),
    helpers: both(cli, scanning),
    config,
    // The entry point awaits the command that it runs. In one file, the two would wait for each other.
    commands: new Set([...cli].filter((id) => id !== sourceOf("cli/main"))),
    suite,
    server,
  };
}

const sourceOf = (name) => join(root, "src", `${name}.ts`);
const both = (one, other) => new Set([...one].filter((id) => other.has(id)));

/** The name of the package that a file belongs to. */
const packageOf = (file) => /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(file.split(sep).join("/"))?.[1];

/** Returns the licences of the bundled packages, which must be distributed with their code. */
function licenseNotices(files) {
  const packages = new Map(files.map((file) => [packageOf(file), file]).filter(([name]) => name));
  const texts = [...packages].sort().map(([name, file]) => {
    let folder = dirname(file);
    // Subfolders of a package may have a package.json that only sets the module type.
    while (manifestIn(folder)?.name !== name) folder = dirname(folder);
    const license = readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry));
    if (!license) throw new Error(`the package ${name} is bundled, but has no licence file`);
    const { version, license: id } = manifestIn(folder);
    return `${name} ${version} (${id})\n\n${readFileSync(join(folder, license), "utf8").trim()}\n`;
  });
  return `The files in this folder contain code of these packages.\n\n${texts.join(`\n${"-".repeat(78)}\n\n`)}`;
}

function manifestIn(folder) {
  const path = join(folder, "package.json");
  return existsSync(path) ? JSON.parse(readFileSync(path, "utf8")) : undefined;
}

/** The large files. A module goes into the first one that it is a candidate for. */
const FILES = [
  "remote-base",
  "remote",
  "base",
  "light",
  "core",
  "scan",
  "proxy",
  "wire",
  "helpers",
  "config",
  "commands",
  "suite",
  "server",
];

/** Every file imports rolldown's helpers. Without this change, none of them could be loaded by a browser. */
function withoutNodeImport(code) {
  const portable = code
    .replace('import { createRequire } from "node:module";\n', "")
    .replace(
      /var __require = .*;/,
      'var __require = (id) => process.getBuiltinModule("node:module").createRequire(import.meta.url)(id);',
    );
  if (/\bimport\b(?!\.meta)/.test(portable)) throw new Error("rolldown's helpers import more than createRequire");
  return portable;
}

let modules;
const bundle = await rolldown({
  cwd: root,
  platform: "node",
  input: Object.fromEntries(
    [...new Set([...PUBLISHED, ...PROGRAMS, ...FOR_TOOLS])].map((name) => [name, `src/${name}.ts`]),
  ),
  external: isExternal,
  plugins: [
    {
      name: "version",
      // From src/, the version is read from package.json. Bundlers of users move the code away from that file.
      load: (id) =>
        id === sourceOf("support/version") ? `export const version = ${JSON.stringify(manifest.version)};` : undefined,
    },
    {
      name: "portable-runtime",
      generateBundle(_, written) {
        const [runtime] = Object.values(written).filter(({ name }) => name === "rolldown-runtime");
        runtime.code = withoutNodeImport(runtime.code);
      },
    },
    {
      name: "files",
      buildEnd() {
        modules = modulesByFile((id) => this.getModuleInfo(id));
      },
      generateBundle(_, written) {
        const files = Object.values(written).flatMap((file) => file.moduleIds ?? []);
        this.emitFile({ type: "asset", fileName: "THIRD-PARTY-NOTICES.txt", source: licenseNotices(files) });
      },
    },
  ],
});
// The file names contain hashes, so files of earlier runs would stay.
for (const file of existsSync(dist) ? readdirSync(dist, { recursive: true }) : []) {
  if (file.endsWith(".js") && !file.startsWith(join("server", "console"))) rmSync(join(dist, file));
}
await bundle.write({
  dir: dist,
  format: "esm",
  // Errors and scanners are recognised by class name, and rolldown renames classes whose names collide.
  keepNames: true,
  // src/own-files.ts depends on the depth of these files.
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
