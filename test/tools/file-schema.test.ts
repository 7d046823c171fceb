// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the syntax under test
import { readFileSync } from "node:fs";
import { Ajv } from "ajv";
import { load } from "js-yaml";
import { describe, expect, it } from "vitest";

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), "utf8");

describe("scanners.schema.json", () => {
  // strict: false allows keywords for editors, such as doNotSuggest.
  const ajv = new Ajv({ strict: false, allErrors: true });
  const validate = ajv.compile(JSON.parse(read("scanners.schema.json")));

  /** The paths of the schema's errors in a file. */
  function faults(text: string): string[] {
    validate(load(text));
    return [...new Set((validate.errors ?? []).map(({ instancePath }) => instancePath))];
  }

  it("is named by the default file, which it accepts", () => {
    const text = read("scanners.yml");
    expect(text).toMatch(/^# yaml-language-server: \$schema=\.\/scanners\.schema\.json\n/);
    expect(faults(text)).toEqual([]);
  });

  it("accepts that file with all of its examples", () => {
    const examples = read("scanners.yml")
      .split("\n")
      // Removes the comment sign of commented examples, which are indented like the list or the section.
      .map((line) => line.replace(/^(\s*)# (?=(?: *- type: | {2,}[\w ]+:| {2,}- |auth:))/, "$1"))
      .join("\n");
    expect(examples).toMatch(/^auth:/m);
    expect(examples).toMatch(/^ {2}- type: BanTopics/m);
    expect(faults(examples)).toEqual([]);
  });

  it("accepts the files of llm-guard", () => {
    const tests = read("test/config/config.test.ts");
    // The examples come from the tests of the configuration, which build the scanners.
    const files = [...tests.matchAll(/`(\n(?:[^`]*\n)?auth:\n[^`]*)`/g)].map(
      ([, text]) => text?.replaceAll("\\$", "$") ?? "",
    );
    expect(files.length).toBeGreaterThan(1);
    for (const file of files) expect(faults(file)).toEqual([]);
  });

  it.each([
    ["sections with nothing in them", "app:\ncache:\ninput_scanners:\nconversation:\n"],
    [
      "references in the place of values",
      'app: {port: "${PORT:1}", log_json: "${JSON}"}\nrate_limit: {key: "${KEY:ip}"}\n',
    ],
    [
      "keys in camelCase",
      "app: {logLevel: info}\ninputScanners: [{type: Regex, params: {patterns: [a], isBlocked: true}}]\n",
    ],
    ["required keys in either spelling", "input_scanners: [{type: Language, params: {validLanguages: [en]}}]\n"],
    ["a rate of false positives", "input_scanners: [{type: Toxicity, params: {threshold: {fpr: 0.01}}}]\n"],
    ["parameters that are empty", "input_scanners: [{type: Toxicity, params: }]\n"],
    ["one way to authenticate, or several", "auth: {type: http_bearer, token: x}\n"],
    [
      "models for names in every form",
      "output_scanners: [{type: Sensitive, params: {recognizer_conf: [a/b, {DEFAULT_MODEL: x}]}}]\n",
    ],
  ])("accepts %s", (_what, text) => {
    expect(faults(text)).toEqual([]);
  });

  it.each([
    ["an unknown section", "colour: red", ""],
    ["an unknown key", "app: {prot: 1}", "/app"],
    ["a wrong type", "app: {port: high}", "/app/port"],
    ["a wrong type in camelCase", "app: {scanFailFast: maybe}", "/app/scanFailFast"],
    ["an unknown scanner", "input_scanners: [{type: Nope}]", "/input_scanners/0/type"],
    ["a scanner of the other side", "output_scanners: [{type: PromptInjection}]", "/output_scanners/0/type"],
    ["an unknown parameter", "input_scanners: [{type: Toxicity, params: {treshold: 1}}]", "/input_scanners/0/params"],
    [
      "a value out of range",
      "input_scanners: [{type: Toxicity, params: {threshold: 2}}]",
      "/input_scanners/0/params/threshold",
    ],
    [
      "a word of another list",
      "input_scanners: [{type: Toxicity, params: {match_type: all}}]",
      "/input_scanners/0/params/match_type",
    ],
    ["a parameter that is missing", "input_scanners: [{type: Regex, params: {}}]", "/input_scanners/0/params"],
    ["parameters that are missing", "input_scanners: [{type: Regex}]", "/input_scanners/0"],
    [
      "what only a program can give",
      "output_scanners: [{type: Deanonymize, params: {vault: x}}]",
      "/output_scanners/0/params/vault",
    ],
    [
      "the path of a model that is no text",
      "input_scanners: [{type: Toxicity, params: {model_path: [x]}}]",
      "/input_scanners/0/params/model_path",
    ],
    ["a credential without its token", "auth: {type: http_bearer}", "/auth"],
    ["an empty auth section", "auth:", "/auth"],
  ])("rejects %s", (_what, text, path) => {
    expect(faults(text)).toContain(path);
  });
});
