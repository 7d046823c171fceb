// `node scripts/check-locked.mjs` fails if an installed package differs from package-lock.json. `npm ci` would do the same, but fails if the
// lock file lacks optional packages of other platforms, and npm omits those that the registry does not have.
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const packagesIn = (file) => {
  const path = fileURLToPath(new URL(`../${file}`, import.meta.url));
  return JSON.parse(readFileSync(path, "utf8")).packages;
};
const locked = packagesIn("package-lock.json");
const installed = packagesIn("node_modules/.package-lock.json");
const differing = Object.entries(installed).filter(([path, { version, integrity, link }]) => {
  const wanted = locked[path];
  return !link && (wanted?.version !== version || wanted?.integrity !== integrity);
});
for (const [path, { version }] of differing) console.error(`${path} ${version} is not in package-lock.json`);
process.exit(differing.length === 0 ? 0 : 1);
