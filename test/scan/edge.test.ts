import { describe, expect, it } from "vitest";
import { parseConfig } from "../../src/config/index.ts";
import {
  GuardValidationError,
  input,
  output,
  scanConversation,
  scanOutput,
  scanPrompt,
  Vault,
} from "../../src/index.ts";
import { createScanner } from "../../src/scanners/catalog.ts";

/** The paths of the issues that a call reports. */
async function issuesOf(call: () => unknown): Promise<Record<string, string>> {
  try {
    await call();
  } catch (error) {
    expect(error).toBeInstanceOf(GuardValidationError);
    const { issues } = error as GuardValidationError;
    return Object.fromEntries(issues.map(({ path, message }) => [path, message]));
  }
  return {};
}

const scanners = [new input.InvisibleText()];
const messages = [{ role: "user", content: "Hello" }];

describe("options of a scan", () => {
  it.each([
    ["another spelling", { fail_fast: true }, { fail_fast: "unknown option; did you mean failFast?" }],
    ["a misspelling", { supress: ["Toxicity"] }, { supress: "unknown option; did you mean suppress?" }],
    [
      "a name of llm-guard's API",
      { scanners_suppress: [] },
      { scanners_suppress: "unknown option; did you mean suppress?" },
    ],
    [
      "an option of nobody's",
      { colour: 1 },
      { colour: expect.stringMatching(/^unknown option; known are: failFast, suppress, /) },
    ],
    ["a name that objects inherit", { toString: 1 }, { toString: expect.stringContaining("unknown option") }],
    ["a text for a truth value", { failFast: "yes" }, { failFast: 'expected true or false, got the text "yes"' }],
    ["null", { failFast: null }, { failFast: "expected true or false, got null" }],
    [
      "one name for a list",
      { suppress: "Toxicity" },
      { suppress: 'expected a list of names of scanners, got the text "Toxicity"' },
    ],
    ["a signal that is none", { signal: {} }, { signal: "expected an AbortSignal, got an object" }],
    [
      "a controller for its signal",
      { signal: new AbortController() },
      { signal: "expected an AbortSignal, got an object" },
    ],
    [
      "the server's word",
      { onScannerError: "fail" },
      { onScannerError: 'expected throw or block, got the text "fail"' },
    ],
    [
      "a misspelled name",
      { suppress: ["Toxicty"] },
      { "suppress.0": expect.stringMatching(/^no scanner has the name "Toxicty"/) },
    ],
    ["a vault that is none", { vault: {} }, { vault: "expected a Vault" }],
    [
      "llm-guard's fail_fast, which has no name there",
      true,
      {
        options:
          "expected an object of options, got true: llm-guard's fail_fast is the option { failFast: true } of the last argument here",
      },
    ],
    ["a list", [], { options: "expected an object of options, got a list" }],
    [
      "several at once",
      { failFast: 1, supress: [] },
      { failFast: "expected true or false, got 1", supress: expect.any(String) },
    ],
  ])("are rejected for %s", async (_what, options, issues) => {
    expect(await issuesOf(() => scanPrompt(scanners, "Hello", options as never))).toEqual(issues);
    expect(await issuesOf(() => scanOutput([], "Hello", "Hello", options as never))).toEqual(issues);
    const ofConversation = await issuesOf(() => scanConversation(scanners, messages, options as never));
    expect(Object.keys(ofConversation)).toEqual(Object.keys(issues));
  });

  it.each([
    [{ window: "3" }, { window: 'expected a whole number of at least 1, got the text "3"' }],
    [{ window: 0 }, { window: "expected a whole number of at least 1, got 0" }],
    ...[{ threshold: 1 }, { decay: 0.7 }].map((risk): [object, object] => [
      { risk },
      {
        risk: "expected a ConversationRisk, such as ConversationRisk.fromScanner(scanner, { decay: 0.7 }), got an object",
      },
    ]),
    [{ rewrite: "no" }, { rewrite: 'expected true or false, got the text "no"' }],
    [{ tool_scanners: [] }, { tool_scanners: "unknown option; did you mean toolScanners?" }],
  ])("of a conversation are rejected: %j", async (options, issues) => {
    expect(await issuesOf(() => scanConversation(scanners, messages, options as never))).toEqual(issues);
  });

  it("may be undefined, one by one or all together", async () => {
    const options = {
      failFast: undefined,
      suppress: undefined,
      signal: undefined,
      vault: undefined,
    };
    expect((await scanPrompt(scanners, "Hello", options as never)).isValid).toBe(true);
    expect((await scanPrompt(scanners, "Hello", undefined)).isValid).toBe(true);
    expect((await scanConversation(scanners, messages, { ...options, window: undefined } as never)).isValid).toBe(true);
  });

  it("may suppress scanners of guard that are not in the list", async () => {
    const report = await scanPrompt(scanners, "Hello", { suppress: ["Bias", "Gibberish"] });
    expect(report.coverage.suppressed).toEqual([]);
  });
});

describe("a scanner called in llm-guard's way", () => {
  it("reports how to pass a prompt before an output", async () => {
    const scanner = new output.Regex({ patterns: ["x"] });
    expect(await issuesOf(() => scanner.scan("the prompt", "the output" as never))).toEqual({
      context: "expected an object, got a string: llm-guard's scan(prompt, output) is scan(output, { prompt }) here",
    });
  });

  it("reports how to pass a vault", async () => {
    expect(await issuesOf(() => new input.Anonymize(new Vault() as never))).toEqual({
      options: "expected an object of options, got a Vault: write new Anonymize({ vault })",
    });
    expect(await issuesOf(() => new output.Deanonymize(new Vault() as never))).toEqual({
      options: "expected an object of options, got a Vault: write new Deanonymize({ vault })",
    });
  });

  it.each([
    [new Date(), "a Date"],
    [["politics"], "an Array"],
    ["politics", "a string"],
    [new Map([["threshold", 0.5]]), "a Map"],
    [0.5, "a number"],
  ])("is rejected with options that are not an object: %j", async (options, what) => {
    expect(await issuesOf(() => new input.Toxicity(options as never))).toEqual({
      options: `expected an object of options, got ${what}`,
    });
  });
});

describe("an invalid parameter", () => {
  it.each([
    ["Toxicity", { threshold: 3 }, { threshold: "must be at most 1, got 3" }],
    ["Toxicity", { treshold: 0.5 }, { treshold: "unknown key; did you mean threshold?" }],
    ["Toxicity", { threshold: { fpr: 2 } }, { "threshold.fpr": "must be below 1, got 2" }],
    ["TokenLimit", { limit: "5" }, { limit: 'expected a number, got the text "5"' }],
    ["TokenLimit", { limit: 1.5 }, { limit: "expected a whole number, got 1.5" }],
    ["TokenLimit", { limit: 0 }, { limit: "must be at least 1, got 0" }],
    ["Regex", {}, { patterns: "is required" }],
    ["Regex", { patterns: [] }, { patterns: "must not be empty" }],
    ["Regex", { patterns: [""] }, { "patterns.0": "must not be empty" }],
    ["Regex", { patterns: "a" }, { patterns: "expected a list, got a text" }],
    [
      "Regex",
      { patterns: ["a"], match_type: "serach" },
      { matchType: "must be one of search, fullmatch or all, got serach; did you mean search?" },
    ],
    [
      "Regex",
      { patterns: ["a"], matchType: "FULLMATCH" },
      { matchType: "must be one of search, fullmatch or all, got FULLMATCH; did you mean fullmatch?" },
    ],
    ["Regex", { patterns: ["a"], redact: "maybe" }, { redact: 'expected true or false, got the text "maybe"' }],
    ["Regex", { patterns: ["a"], isblocked: true }, { isblocked: "unknown key; did you mean isBlocked?" }],
    ["Regex", { patterns: ["a"], is_blockd: true }, { is_blockd: "unknown key; did you mean is_blocked?" }],
    [
      "Regex",
      { bad_patterns: ["a"] },
      { patterns: "is required", bad_patterns: "unknown key; llm-guard's bad_patterns is patterns here" },
    ],
    [
      "Code",
      { denied: ["Python"] },
      { languages: "is required", denied: "unknown key; llm-guard's denied is languages here" },
    ],
    ["InvisibleText", { color: "red" }, { color: "unknown key; known are: name, mode, allow" }],
  ])("of %s: %j", async (type, params, issues) => {
    expect(await issuesOf(() => createScanner("input", type, params))).toEqual(issues);
  });

  it("of a constructor is corrected in camelCase", async () => {
    const options = { max_time: 5, maxTme: 5 } as never;
    expect(await issuesOf(() => new output.ReadingTime(options))).toMatchObject({
      max_time: "unknown key; did you mean maxTime?",
      maxTme: "unknown key; did you mean maxTime?",
    });
  });

  it.each([
    ["input", "Toxicty", "unknown input scanner Toxicty; did you mean Toxicity?"],
    ["input", "prompt_injection", "unknown input scanner prompt_injection; did you mean PromptInjection?"],
    [
      "input",
      "PromptInjectionV2",
      "unknown input scanner PromptInjectionV2; llm-guard's PromptInjectionV2 is PromptInjection here",
    ],
    ["output", "Refutation", "unknown output scanner Refutation; llm-guard's Refutation is FactualConsistency here"],
    [
      "output",
      "TokenLimit",
      expect.stringMatching(/^unknown output scanner TokenLimit: it is an input scanner; known are: /),
    ],
    ["input", "Nothing", expect.stringMatching(/^unknown input scanner Nothing; known are: Anonymize, /)],
  ] as const)("is reported with the intended one: %s %s", async (side, type, message) => {
    expect(await issuesOf(() => createScanner(side, type))).toEqual({ type: message });
  });
});

describe("an invalid file", () => {
  const minimal = "input_scanners: [{type: InvisibleText}]\n";
  const told = async (text: string, env = {}) => {
    const issues = await issuesOf(() => parseConfig(text, { env, file: "test.yml" }));
    return Object.fromEntries(
      Object.entries(issues).map(([path, message]) => [path, message.replace(/ \(test.*/, "")]),
    );
  };

  it.each([
    [`${minimal}ouput_scanners: []`, { ouput_scanners: "unknown key; did you mean output_scanners?" }],
    [`${minimal}app: {prot: 1}`, { "app.prot": "unknown key; did you mean port?" }],
    [`${minimal}app: {port: "80"}`, { "app.port": 'expected a number, got the text "80"' }],
    [`${minimal}app: {port: 80000}`, { "app.port": "must be at most 65535, got 80000" }],
    [
      `${minimal}app: {log_level: LOUD}`,
      { "app.log_level": "must be one of trace, debug, info, warn, error, fatal or silent, got loud" },
    ],
    [
      `${minimal}app: {trust_proxy: all}`,
      { "app.trust_proxy": "expected true or false, a number or a list, got a text" },
    ],
    [
      "input_scanners: [{typ: InvisibleText}]",
      { "input_scanners.0.type": "is required", "input_scanners.0.typ": "unknown key; did you mean type?" },
    ],
    [
      "input_scanners: [{type: Regex, params: {patterns: [a], isblocked: true}}]",
      { "input_scanners.0.params.isblocked": "unknown key; did you mean is_blocked?" },
    ],
    [
      `${minimal}auth: {type: http_bearer, tokn: x}`,
      { "auth.token": "is required", "auth.tokn": "unknown key; did you mean token?" },
    ],
  ])("is reported with the intended spelling: %s", async (text, issues) => {
    expect(await told(text)).toEqual(issues);
  });

  it("is never quoted if it may contain a secret", async () => {
    const texts = [
      `${minimal}auth: {type: http_bearer, token: 4711081547110815}`,
      `${minimal}auth: {type: CANARY4711, token: x}`,
      `${minimal}auth: {type: api_key, keys: CANARY4711}`,
      `${minimal}auth: {type: api_key, keys: [4711081547110815]}`,
      `${minimal}auth: CANARY4711`,
      `${minimal}app: {port: CANARY4711, log_level: CANARY4711, log_json: CANARY4711, trust_proxy: CANARY4711}`,
      `${minimal}app: {port: "\${SECRET}"}`,
      "input_scanners: [{type: Regex, params: {patterns: [a], match_type: CANARY4711, is_blocked: CANARY4711}}]",
    ];
    for (const text of texts) {
      const message = JSON.stringify(await told(text, { SECRET: "CANARY4711" }));
      expect(message).not.toBe("{}");
      expect(message, text).not.toMatch(/CANARY|4711/i);
    }
  });
});
