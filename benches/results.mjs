// Where benchmarks keep their figures.
import { mkdirSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const FOLDER = new URL("../bench-results/", import.meta.url);

/** The path of a file in bench-results/. The folder is created if it is missing. */
export function resultPath(file) {
  mkdirSync(FOLDER, { recursive: true });
  return fileURLToPath(new URL(file, FOLDER));
}

/** Writes figures to bench-results/NAME.json with the date, and prints the path. */
export function saveResults(name, figures) {
  writeFileSync(resultPath(`${name}.json`), `${JSON.stringify({ date: new Date(), ...figures }, null, 2)}\n`);
  console.log(`Written to bench-results/${name}.json`);
}
