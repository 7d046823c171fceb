import { cpSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { type ConfigInput, checkConfig } from "../../../src/config/index.ts";
import { Engine } from "../../../src/models/engine.ts";
import { defineScanner, passed } from "../../../src/plugin.ts";
import { fingerprintOf } from "../../../src/server/cache/fingerprint.ts";

const BASE: ConfigInput = { inputScanners: [{ type: "BanSubstrings", params: { substrings: ["a"] } }] };
const of = (more: ConfigInput = {}, engine = new Engine()) => fingerprintOf(checkConfig({ ...BASE, ...more }), engine);

function folder(): string {
  const made = mkdtempSync(join(tmpdir(), "guard-fingerprint-"));
  onTestFinished(() => rmSync(made, { recursive: true }));
  return made;
}

describe("the fingerprint of a configuration", () => {
  it("is equal for configurations with equal results", () => {
    const same: ConfigInput[] = [
      {},
      { app: { port: 1, name: "Other", scanPromptTimeout: 1, queueSize: 1, logLevel: "debug" } },
      { rateLimit: { enabled: true }, metrics: { exporter: "none" }, cache: { enabled: true, ttl: 5 } },
    ];
    expect(new Set(same.map((config) => of(config))).size).toBe(1);
    const embedded = new Engine();
    embedded.linear("embedded:gibberish");
    expect(of({}, embedded)).toBe(of());
  });

  it("differs if results may differ", () => {
    const others: ConfigInput[] = [
      {},
      { inputScanners: [{ type: "BanSubstrings", params: { substrings: ["b"] } }] },
      { inputScanners: [{ type: "BanSubstrings", name: "Other", params: { substrings: ["a"] } }] },
      { outputScanners: [{ type: "BanSubstrings", params: { substrings: ["a"] } }] },
      { app: { scanFailFast: true } },
      { app: { onScannerError: "block" } },
      { app: { requireFullCoverage: true } },
      { app: { maxMessages: 2 } },
      { conversation: { window: 2 } },
      { conversation: { scanToolMessages: false } },
      { auth: { type: "http_bearer", token: "x" } },
      { auth: { type: "http_bearer", token: "y" } },
    ];
    expect(new Set(others.map((config) => of(config))).size).toBe(others.length);
  });

  it("is unique if a parameter is a function or an instance", () => {
    const withFunction = { inputScanners: [{ type: "PromptInjection", params: { classifier: () => 0 } }] };
    expect(of(withFunction)).not.toBe(of(withFunction));
    const withInstance = { inputScanners: [{ type: "Regex", params: { patterns: [/x/] } }] };
    expect(of(withInstance)).not.toBe(of(withInstance));
    const definition = {
      type: "Own",
      summary: "Own.",
      sides: { input: {} },
      create: () => ({ check: (text: string) => passed(text) }),
    };
    const withPlugin = { inputScanners: [{ type: defineScanner(definition) }] };
    expect(of(withPlugin)).not.toBe(of(withPlugin));
  });

  it("changes with the file that a parameter names", () => {
    const tokenizer = join(folder(), "tokenizer.json");
    writeFileSync(tokenizer, "{}");
    const config = { inputScanners: [{ type: "TokenLimit", params: { tokenizer } }] };
    const before = of(config);
    expect(of(config)).toBe(before);
    writeFileSync(tokenizer, "{ }");
    expect(of(config)).not.toBe(before);
  });

  it("changes with the model, and is equal for one commit in any cache folder", () => {
    const model = join(folder(), "linear");
    cpSync("test/fixtures/linear", model, { recursive: true });
    const engine = new Engine();
    engine.linear(model);
    const before = of({}, engine);
    expect(before).not.toBe(of());
    expect(of({}, engine)).toBe(before);
    utimesSync(join(model, "model.bin"), 1, 1);
    expect(of({}, engine)).not.toBe(before);

    const inCommit = () => {
      const made = join(folder(), "snapshots", "0123456789abcdef0123456789abcdef01234567", "onnx");
      cpSync("test/fixtures/linear", made, { recursive: true });
      const other = new Engine();
      other.linear(made);
      return of({}, other);
    };
    expect(inCommit()).toBe(inCommit());
  });
});
