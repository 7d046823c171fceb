import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { parseConfig } from "../../src/config/index.ts";
import { Engine } from "../../src/models/engine.ts";
import { describeModel } from "../../src/models/model-description.ts";
import { startServer } from "../../src/server/index.ts";
import { exclusiveClassifier } from "../support/model-fixtures.ts";

it("logs at the start the file, scanners, models, auth, address, and keys without effect", async () => {
  const text = `
app: { lazy_load: true }
auth: { type: http_bearer, token: hush-hush }
input_scanners:
  - { type: Regex, name: Keys, params: { patterns: [x] } }
  - { type: PromptInjection, params: { model_path: "${exclusiveClassifier}", model_onnx_file_name: model.onnx, low_cpu_mem_usage: true } }
output_scanners:
  - { type: Language, params: { valid_languages: [en] } }
`;
  const lines: string[] = [];
  const source = { file: "/etc/guard/scanners.yml", from: "CONFIG_FILE" };
  const server = await startServer({
    ...{ config: parseConfig(text), source, port: 0 },
    logger: { write: (line) => lines.push(line) },
  });
  await server.close();
  const log = lines.map((line) => JSON.parse(line));
  const said = (msg: string) => log.find((line) => line.msg === msg);
  const model = `${exclusiveClassifier}:model.onnx`;
  expect(said("configuration")).toMatchObject(source);
  expect(said("scanners")).toMatchObject({
    input: ["Keys (a Regex)", `PromptInjection (${model})`],
    output: ["Language (embedded:language)"],
  });
  expect(said("models").models).toEqual([
    { model, here: true, size: expect.any(Number) },
    expect.objectContaining({
      ...{ model: "embedded:language", here: true, size: expect.any(Number), license: "Apache-2.0" },
    }),
  ]);
  expect(said("serving")).toMatchObject({ url: server.url, auth: ["http_bearer"] });
  expect(log.filter(({ level }) => level === 40).map(({ msg }) => msg)).toContainEqual(
    expect.stringMatching(/^low_cpu_mem_usage has no effect: .* \(input_scanners\.1\.params\.low_cpu_mem_usage\)$/),
  );
  expect(lines.join("")).not.toContain("hush-hush");
});

it("logs the languages of a model, or those of its heads", async () => {
  const folder = mkdtempSync(join(tmpdir(), "guard-facts-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const facts = (config: object) => {
    writeFileSync(join(folder, "config.json"), JSON.stringify(config));
    return describeModel(folder, new Engine());
  };
  expect(facts({ license: "MIT" })).toEqual({ model: folder, here: true, size: expect.any(Number), license: "MIT" });
  expect(facts({ guard: { languages: ["en", "ru"] } }).languages).toEqual(["en", "ru"]);
  const heads = [{ name: "a", languages: ["en"] }, { name: "b" }, { name: "c", languages: ["zh"] }];
  expect(facts({ guard: { heads } }).languages).toEqual({ a: ["en"], c: ["zh"] });
  expect(describeModel("example-org/nothing", new Engine())).toEqual({ model: "example-org/nothing", here: false });
});
