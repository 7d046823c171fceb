import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { ERROR_CODES } from "../../tools/generate/error-codes.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));

/** Environment variables that begin like codes. */
const VARIABLES = [
  "EXCEPTIONS_KEY",
  "AUDIT_KEY",
  "BACKEND",
  "CACHE_KEY",
  "EVAL_DATA",
  "MODELS_DIR",
  "ONNX_LIBRARY",
  "ONNX_PROVIDERS",
  "ONNX_THREADS",
  "VAULT_KEY",
];

describe("the page of errors", () => {
  it("has every code of the source, and no other", () => {
    const found = new Set<string>();
    const mentioned = new Set<string>();
    for (const folder of ["src", "crates/guard-node/src", "crates/guard-core/src"]) {
      for (const file of readdirSync(root + folder, { recursive: true, encoding: "utf8" })) {
        if (!/\.(ts|rs)$/.test(file)) continue;
        const text = readFileSync(`${root}${folder}/${file}`, "utf8");
        for (const [, code] of text.matchAll(/"(GUARD_[A-Z_]+)"/g)) found.add(code as string);
        for (const [code] of text.matchAll(/\bGUARD_[A-Z_]+/g)) mentioned.add(code);
      }
    }
    for (const name of VARIABLES) found.delete(`GUARD_${name}`);
    expect([...found].filter((code) => !(code in ERROR_CODES))).toEqual([]);
    expect(Object.keys(ERROR_CODES).filter((code) => !mentioned.has(code))).toEqual([]);
  });
});
