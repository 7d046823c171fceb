// Writes the tarballs of a release into npm/, or into the folder after `--out`. `node scripts/pack.mjs main` packs guard-scan, and
// `node scripts/pack.mjs platform` the package with the addon and the ONNX Runtime library of this platform. Without an argument it packs
// both. `node scripts/pack.mjs image` rewrites package.json for the container image.
import { execFileSync } from "node:child_process";
import { copyFileSync, cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

const root = fileURLToPath(new URL("..", import.meta.url));
const { values, positionals } = parseArgs({ options: { out: { type: "string" } }, allowPositionals: true });
const out = resolve(values.out ?? join(root, "npm"));
const manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));

/** The fields of npm packages for the targets of package.json. The loader that napi generates looks for these names. */
const PLATFORMS = {
  "x86_64-unknown-linux-gnu": { abi: "linux-x64-gnu", os: "linux", cpu: "x64", libc: "glibc" },
  "aarch64-unknown-linux-gnu": { abi: "linux-arm64-gnu", os: "linux", cpu: "arm64", libc: "glibc" },
  "x86_64-unknown-linux-musl": { abi: "linux-x64-musl", os: "linux", cpu: "x64", libc: "musl" },
  "aarch64-unknown-linux-musl": { abi: "linux-arm64-musl", os: "linux", cpu: "arm64", libc: "musl" },
  "aarch64-apple-darwin": { abi: "darwin-arm64", os: "darwin", cpu: "arm64" },
  "x86_64-pc-windows-msvc": { abi: "win32-x64-msvc", os: "win32", cpu: "x64" },
  "aarch64-pc-windows-msvc": { abi: "win32-arm64-msvc", os: "win32", cpu: "arm64" },
};

/** The files of onnxruntime-node that the CPU provider needs. Its Linux libraries need glibc; Alpine has a package of its own. */
const RUNTIME_FILES = {
  linux: ["libonnxruntime.so.1"],
  darwin: ["libonnxruntime.1.dylib"],
  win32: ["onnxruntime.dll", "DirectML.dll"],
};

const platforms = manifest.napi.targets.map((target) => {
  if (!PLATFORMS[target])
    throw new Error(`package.json names the target ${target}, which scripts/pack.mjs does not know`);
  return PLATFORMS[target];
});
const packageOf = ({ abi }) => `${manifest.name}-${abi}`;

function stage(name) {
  const folder = join(out, name);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  return folder;
}

function pack(folder, content) {
  writeFileSync(join(folder, "package.json"), `${JSON.stringify(content, null, 2)}\n`);
  const npm = process.platform === "win32" ? "npm.cmd" : "npm";
  const options = {
    cwd: out,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "inherit"],
    // Windows starts npm.cmd only in a shell, which splits arguments at spaces, so the path is relative.
    shell: process.platform === "win32",
  };
  const [{ filename, size }] = JSON.parse(execFileSync(npm, ["pack", "--json", `./${basename(folder)}`], options));
  console.log(`${relative(root, join(out, filename))}  ${(size / 1e6).toFixed(1)} MB`);
}

function main() {
  const folder = stage(manifest.name);
  for (const path of [...manifest.files, "README.md", "LICENSE"]) {
    if (!existsSync(join(root, path))) throw new Error(`${path} is missing. Run npm run build.`);
    cpSync(join(root, path), join(folder, path), { recursive: true });
  }
  removeInternalTypes(folder);
  const { scripts: _scripts, devDependencies: _development, napi: _napi, ...content } = manifest;
  pack(folder, {
    ...content,
    optionalDependencies: Object.fromEntries(platforms.map((p) => [packageOf(p), manifest.version])),
  });
}

/** Deletes the declarations of modules that no entry point of the package refers to. They are two thirds of all files. */
function removeInternalTypes(folder) {
  const reached = new Set();
  const visit = (file) => {
    if (reached.has(file)) return;
    reached.add(file);
    for (const [, path] of readFileSync(file, "utf8").matchAll(/(?:\bfrom |\bimport\(|^import )"(\.[^"]+)"/gm)) {
      visit(join(dirname(file), path.replace(/\.(c?)[jt]s$/, ".d.$1ts")));
    }
  };
  for (const { types } of Object.values(manifest.exports)) if (types) visit(join(folder, types));
  for (const entry of readdirSync(join(folder, "dist"), { recursive: true })) {
    const file = join(folder, "dist", entry);
    if (file.endsWith(".d.ts") && !reached.has(file)) rmSync(file);
  }
}

function platform() {
  const [addon, ...others] = readdirSync(join(root, "native")).filter((name) => name.endsWith(".node"));
  // It is unknown which of several addons is the latest build.
  if (others.length > 0)
    throw new Error(`native/ has several addons: ${[addon, ...others].join(", ")}. Delete all but one.`);
  const found = platforms.find(({ abi }) => addon === `guard.${abi}.node`);
  if (!found) throw new Error(`native/ has no addon for a published platform. Run npm run build.`);
  const { abi, os, cpu, libc } = found;
  const folder = stage(packageOf(found));
  copyFileSync(join(root, "native", addon), join(folder, addon));
  const files = [addon];
  const hasRuntime = libc !== "musl";
  if (hasRuntime) {
    const runtime = join(root, "node_modules/onnxruntime-node/bin/napi-v6", os, cpu);
    for (const file of RUNTIME_FILES[os]) {
      copyFileSync(join(runtime, file), join(folder, file));
      files.push(file);
    }
  }
  copyFileSync(join(root, "LICENSE"), join(folder, "LICENSE"));
  const { version, license, repository, engines } = manifest;
  pack(folder, {
    ...{
      name: packageOf(found),
      version,
      description: hasRuntime
        ? `guard-scan for ${abi}, with ONNX Runtime (MIT, Microsoft Corporation)`
        : `guard-scan for ${abi}, which uses the ONNX Runtime of the system`,
    },
    ...{ license, repository, engines, main: addon, files, os: [os], cpu: [cpu], ...(libc ? { libc: [libc] } : {}) },
  });
}

/** The optional packages that the server and the commands use. Libraries such as SDKs of models come with the program that uses guard. */
const OF_FEATURES =
  /^@grpc\/|^@opentelemetry\/|^@modelcontextprotocol\/|^@huggingface\/hub$|^@fastify\/swagger-ui$|^ioredis$/;

/** Makes the optional packages of features ordinary dependencies, which `npm prune` keeps. */
function image() {
  const { devDependencies, peerDependencies, peerDependenciesMeta: _meta, ...content } = manifest;
  const kept = Object.keys(peerDependencies).filter((name) => OF_FEATURES.test(name));
  const dependencies = {
    ...content.dependencies,
    ...Object.fromEntries(kept.map((name) => [name, devDependencies[name]])),
  };
  writeFileSync(join(root, "package.json"), `${JSON.stringify({ ...content, dependencies }, null, 2)}\n`);
}

const [part] = positionals;
if (part === "image") image();
else {
  mkdirSync(out, { recursive: true });
  if (part !== "platform") main();
  if (part !== "main") platform();
}
