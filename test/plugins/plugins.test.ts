// biome-ignore-all lint/suspicious/noTemplateCurlyInString: references to the environment
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { z } from "zod";
import { buildScanners, loadConfig, pluginsOf } from "../../src/config/index.ts";
import {
  ConversationRisk,
  createScanner,
  createServer,
  GuardValidationError,
  loadPlugin,
  type ScoringFunction,
  scanPrompt,
} from "../../src/index.ts";
import { defineScanner, passed } from "../../src/plugin.ts";
import type { DefinedScanner } from "../../src/scanners/definition.ts";

const folder = mkdtempSync(join(tmpdir(), "guard-plugins-"));
afterAll(() => rmSync(folder, { recursive: true }));

/** Writes files below the folder of the tests. */
function write(files: Record<string, string>): void {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
}

/** Loads a configuration from the folder of the tests. */
function load(text: string) {
  write({ "scanners.yml": text });
  return loadConfig(join(folder, "scanners.yml"), {});
}

/** The issues of a configuration, by path, without the folder of the tests. */
async function issuesOf(text: string): Promise<Record<string, string>> {
  try {
    buildScanners(await load(text));
  } catch (error) {
    if (!(error instanceof GuardValidationError)) throw error;
    return Object.fromEntries(
      error.issues.map(({ path, message }) => [path, message.replaceAll(folder, "FOLDER").replaceAll("\\", "/")]),
    );
  }
  return {};
}

const offering = (name: string, plugins: object) =>
  JSON.stringify({ name, type: "module", exports: { ".": { import: "./index.js" } }, guard: { plugins } });

beforeAll(() => {
  write({
    // These plugins import nothing of guard: definitions are plain objects.
    "length.mjs": `
      const schema = {
        "~standard": {
          version: 1,
          vendor: "tests",
          validate({ maxLength, ...others }) {
            if (typeof maxLength !== "number") return { issues: [{ message: "expected a number", path: ["maxLength"] }] };
            return { value: { maxLength } };
          },
        },
      };
      export const Short = {
        type: "Short",
        summary: "Fails long texts.",
        sides: { input: {} },
        options: schema,
        create: ({ options: { maxLength } }) => ({
          check: (text) => ({
            isValid: text.length <= maxLength,
            score: text.length <= maxLength ? -1 : 1,
            findings: [],
            coverage: { chars: text.length, scannedChars: text.length, truncated: false, windows: 1 },
          }),
        }),
      };
      export const NoOptions = { ...Short, type: "NoOptions", options: undefined };
      export const Own = { ...Short, type: "Regex" };
      export const Sideless = { ...Short, sides: {} };
      export const Throwing = { ...Short, create() { throw new Error("no licence"); } };
      export const Empty = { ...Short, create: () => ({}) };
      export const Lazy = { ...Short, options: { "~standard": { ...schema["~standard"], validate: async () => ({}) } } };
      export const classify = (text) => (text.includes("attack") ? 0.99 : 0.01);
      export const score = () => 0.5;
      export const recognize = () => [];
    `,
    "broken.mjs": "throw new Error('cannot start');",
    "syntax.mjs": "export const",
    "nothing.mjs": "",
    "node_modules/one/package.json": offering("one", { short: "./index.js#Short", "both-offer": "./index.js#Short" }),
    "node_modules/one/index.js": 'export * from "../../length.mjs";',
    "node_modules/@scope/two/package.json": offering("@scope/two", { "both-offer": "./index.js#Short" }),
    "node_modules/@scope/two/index.js": 'export * from "../../../length.mjs";',
    // Other programs may use the key for something else.
    "node_modules/three/package.json": JSON.stringify({ name: "three", guard: { plugins: ["a"] } }),
    "node_modules/four/package.json": 'not JSON, with "guard"',
    "beside/package.json": offering("beside", { "beside-short": "./lib.mjs#Short" }),
    "beside/lib.mjs": 'export * from "../length.mjs";',
  });
});

describe("a plugin", () => {
  it.each([
    ["a file beside the configuration", "./length.mjs#Short", ""],
    ["a package", "one#Short", ""],
    ["a package with a scope", '"@scope/two#Short"', ""],
    ["a name that an installed package offers", "short", ""],
    ["a name of a package that is listed", "both-offer", "plugins: ['@scope/two']\n"],
    ["a name of a folder that is listed", "beside-short", "plugins: [./beside]\n"],
  ])("is found as %s", async (_what, type, more) => {
    const config = await load(`${more}input_scanners: [{type: ${type}, name: mine, params: {max_length: 5}}]\n`);
    const { input } = buildScanners(config);
    expect((await scanPrompt(input, "short")).resultsScore).toEqual({ mine: -1 });
    expect((await scanPrompt(input, "too long")).resultsScore).toEqual({ mine: 1 });
    const [plugin] = pluginsOf(config);
    expect(plugin).toMatchObject({
      path: "input_scanners.0.type",
      kind: "scanner",
    });
  });

  it("may be named in the environment", async () => {
    write({ "env.yml": 'input_scanners: [{type: "${PLUGIN}", params: {maxLength: 5}}]\n' });
    const config = await loadConfig(join(folder, "env.yml"), { PLUGIN: "./length.mjs#Short" });
    expect(buildScanners(config).input[0]?.type).toBe("Short");
  });

  it("is loaded by programs, which pass it on", async () => {
    const found: DefinedScanner = await loadPlugin("scanner", "./length.mjs#Short", { from: folder });
    expect((await createScanner("input", found, { max_length: 1 }).scan("ab", {})).isValid).toBe(false);
    expect(() => createScanner("output", found, {})).toThrow(
      "type: Short is not an output scanner, but an input scanner",
    );
    await expect(loadPlugin("classifier", "./length.mjs#Short", { from: folder })).rejects.toThrow(
      /Short of .*length\.mjs is no classifier: expected a function \(text\) => probability, got an object/,
    );
  });

  it("has typed options in TypeScript", async () => {
    const TooMany = defineScanner({
      type: "TooMany",
      summary: "Fails texts with too much of a letter.",
      sides: { input: {}, output: {} },
      options: z
        .object({ letter: z.string().length(1), most: z.number().default(1) })
        .refine(({ letter }) => letter !== " ", "a space is no letter"),
      create({ options: { letter, most, name } }) {
        // The types are inferred: this compiles.
        const limit: number = most;
        return {
          check(text) {
            const isValid = text.split(letter.toLowerCase()).length - 1 <= limit;
            return isValid ? passed(text) : { ...passed(text), isValid, score: name === undefined ? 1 : 0.5 };
          },
        };
      },
    });
    const made = (params: object) => createScanner("output", TooMany, { ...params });
    expect(await made({ letter: "a" }).scan("aa", {})).toMatchObject({ isValid: false, score: 1 });
    expect(await made({ letter: "a", name: "x" }).scan("aa", {})).toMatchObject({ isValid: false, score: 0.5 });
    expect(() => made({ letter: " " })).toThrow("a space is no letter");
    expect(() => made({ letter: "a", leter: "b" })).toThrow("leter: unknown key; did you mean letter?");
    expect(() => made({ most: 1 })).toThrow("letter: is required");
    // A program needs no file to give it to a server.
    const app = await createServer({
      inputScanners: [{ type: TooMany, params: { letter: "a" } }],
      app: { logLevel: "silent" },
    });
    onTestFinished(() => app.close());
    const reply = await app.inject({ method: "POST", url: "/scan/prompt", payload: { prompt: "aa" } });
    expect(reply.json()).toEqual({ is_valid: false, scanners: { TooMany: 1 } });
  });

  it("may be a NER model in every form", async () => {
    write({
      "ner.mjs":
        "export const ner = { types: ['PER'], find: (text) => text === 'Ann' ? [{ start: 0, end: 3, type: 'PER' }] : [] };",
    });
    for (const conf of [
      "./ner.mjs#ner",
      "[./ner.mjs#ner]",
      "{DEFAULT_MODEL: ./ner.mjs#ner, MODEL_TO_PRESIDIO_MAPPING: {PER: PERSON}}",
      "[{default_model: ./ner.mjs#ner}]",
    ]) {
      const config = await load(`input_scanners: [{type: Anonymize, params: {recognizer_conf: ${conf}}}]\n`);
      expect(pluginsOf(config)).toMatchObject([{ kind: "NER model", reference: "./ner.mjs#ner" }]);
      expect((await scanPrompt(buildScanners(config).input, "Ann")).sanitizedPrompt).toBe("[REDACTED_PERSON_1]");
    }
  });
});

describe("a file with an unusable plugin", () => {
  const scanner = (type: string, params = "{max_length: 5}", more = "") =>
    `${more}input_scanners:\n  - type: ${type}\n    params: ${params}\n`;

  it.each([
    ["no file", scanner("./missing.mjs#Short"), "input_scanners.0.type", "there is no file FOLDER/missing.mjs"],
    [
      "no export",
      scanner("./length.mjs#Shrt"),
      "input_scanners.0.type",
      "FOLDER/length.mjs has no export Shrt; did you mean Short?",
    ],
    ["no exports at all", scanner("./nothing.mjs#Short"), "input_scanners.0.type", "it exports nothing"],
    [
      "a module that throws",
      scanner("./broken.mjs#Short"),
      "input_scanners.0.type",
      "FOLDER/broken.mjs could not be loaded: cannot start",
    ],
    ["a module that is no JavaScript", scanner("./syntax.mjs#Short"), "input_scanners.0.type", "could not be loaded"],
    [
      "no package",
      scanner("nowhere#Short"),
      "input_scanners.0.type",
      "the package nowhere is not installed: it is in no node_modules folder of FOLDER",
    ],
    ["no module of a package", scanner("one/sub#Short"), "input_scanners.0.type", "does not export ./sub"],
    [
      "a module of Node.js",
      scanner("fs#readFile"),
      "input_scanners.0.type",
      "expected an import path such as ./file.js#export",
    ],
    [
      "a URL",
      scanner('"https://example.org/a.js#Short"'),
      "input_scanners.0.type",
      "expected an import path such as ./file.js#export",
    ],
    ["code in a URL", scanner('"data:text/javascript,1#Short"'), "input_scanners.0.type", "expected an import path"],
    [
      "a name that two packages offer",
      scanner("both-offer"),
      "input_scanners.0.type",
      "@scope/two and one both have a plugin both-offer",
    ],
    [
      "an unknown name",
      scanner("shrt"),
      "input_scanners.0.type",
      "no package installed beside FOLDER or beside guard has a plugin shrt; did you mean short?",
    ],
    [
      "a name that is not listed",
      scanner("short", "{}", "plugins: [./beside]\n"),
      "input_scanners.0.type",
      "no package listed under plugins has a plugin short; known plugins: beside-short",
    ],
    [
      "a listed package that is not there",
      scanner("InvisibleText", "{}", "plugins: [nowhere]\n"),
      "plugins.0",
      "the package nowhere is not installed",
    ],
    [
      "a listed folder that is none",
      scanner("InvisibleText", "{}", "plugins: [one, ./x]\n"),
      "plugins.1",
      "there is no package.json in FOLDER/x",
    ],
    [
      "a listed package without plugins",
      scanner("InvisibleText", "{}", "plugins: [three]\n"),
      "plugins.0",
      "has no plugins",
    ],
    [
      "something else than a scanner",
      scanner("./length.mjs#classify"),
      "input_scanners.0.type",
      "classify of FOLDER/length.mjs is no scanner: expected the definition of a scanner",
    ],
    [
      "the type of a scanner of guard",
      scanner("./length.mjs#Own"),
      "input_scanners.0.type",
      "type: a built-in scanner has this type",
    ],
    ["no side", scanner("./length.mjs#Sideless"), "input_scanners.0.type", "sides: expected input, output or both"],
    [
      "the wrong side",
      "output_scanners: [{type: ./length.mjs#Short}]\n",
      "output_scanners.0.type",
      "Short is not an output scanner",
    ],
    [
      "an unknown option",
      scanner("./length.mjs#Short", "{max_length: 5, min_length: 1}"),
      "input_scanners.0.params.min_length",
      "unknown key",
    ],
    [
      "an option that is wrong",
      scanner("./length.mjs#Short", "{max_length: no}"),
      "input_scanners.0.params.max_length",
      "expected a number",
    ],
    [
      "an option in two spellings",
      scanner("./length.mjs#Short", "{max_length: 5, maxLength: 6}"),
      "input_scanners.0.params.max_length",
      "is given twice",
    ],
    [
      "an option of a scanner without any",
      scanner("./length.mjs#NoOptions"),
      "input_scanners.0.params.max_length",
      "unknown key",
    ],
    [
      "options that are checked too late",
      scanner("./length.mjs#Lazy"),
      "input_scanners.0.params",
      "must be synchronous",
    ],
    ["a scanner that cannot be made", scanner("./length.mjs#Throwing"), "input_scanners.0.params", "Short: no licence"],
    [
      "a scanner without a check",
      scanner("./length.mjs#Empty"),
      "input_scanners.0.params",
      "create() of Short did not return a scanner: check: ",
    ],
    [
      "a classifier that is none",
      scanner("PromptInjection", "{classifier: ./length.mjs#Short}"),
      "input_scanners.0.params.classifier",
      "is no classifier: expected a function (text) => probability, got an object",
    ],
    [
      "a recognizer that is not there",
      scanner("Anonymize", "{recognizers: [./length.mjs#recognize, missing]}"),
      "input_scanners.0.params.recognizers.1",
      "no package installed beside FOLDER or beside guard has a plugin missing; known plugins: both-offer, short",
    ],
    [
      "a NER model that is none",
      scanner("Anonymize", "{recognizer_conf: [./length.mjs#score]}"),
      "input_scanners.0.params.recognizer_conf.0",
      "is no NER model: expected a NER model { types: [...], find(text) }, got a function",
    ],
    [
      "a scoring function that is not there",
      `${scanner("InvisibleText", "{}")}conversation: {risk: {enabled: true, scoring_function: ./length.mjs#scores}}`,
      "conversation.risk.scoring_function",
      "has no export scores; did you mean score?",
    ],
  ])("reports %s", async (_what, text, path, message) => {
    const issues = await issuesOf(text);
    expect(Object.keys(issues)).toContain(path);
    expect(issues[path]).toContain(message);
    expect(Object.keys(issues)).toHaveLength(1);
  });

  it("of an unknown kind is an error that suggests the known one", async () => {
    await expect(loadPlugin("scaner" as "scanner", "./length.mjs#Short", { from: folder })).rejects.toThrow(
      "kind: unknown kind; did you mean scanner?",
    );
  });

  it("does not search packages unless a name requires it", async () => {
    // A listed package that is missing would be an error. This file lists none, and no name belongs to a plugin.
    const config = await load("input_scanners: [{type: Anonymize, params: {recognizer_conf: embedded:ner}}]\n");
    expect(pluginsOf(config)).toEqual([]);
  });
});

describe("a scanner of a program", () => {
  const definition = {
    type: "Mine",
    summary: "Passes all texts.",
    sides: { input: {} },
    create: () => ({ check: (text: string) => passed(text) }),
  };
  const create = (fields: object) => () => createScanner("input", defineScanner({ ...definition, ...fields }));

  it("is created from a valid definition", () => {
    expect(create({})().type).toBe("Mine");
  });

  it.each<[object, string]>([
    [{ type: "Secrets" }, "type: a built-in scanner has this type"],
    [{ type: "a name" }, "type: expected a name of letters, digits"],
    [{ summary: undefined }, "summary: "],
    [{ sides: {} }, "sides: expected input, output or both"],
    [{ sides: { Input: {} } }, "sides.Input: unknown key; did you mean input?"],
    [{ options: {} }, "options: expected a schema"],
    [{ create: undefined }, "create: expected a function"],
    [{ create: () => undefined }, "create() of Mine did not return a scanner: "],
    [{ create: () => ({}) }, "create() of Mine did not return a scanner: check: expected a function"],
    [{ create: () => ({ ...definition.create(), sanitizes: 1 }) }, "did not return a scanner: sanitizes: "],
    [{ detects: true }, "did not return a scanner: detect: expected a function, because the definition has detects"],
  ])("is refused when it is created: %j", (fields, message) => {
    expect(create(fields)).toThrow(GuardValidationError);
    expect(create(fields)).toThrow(message);
  });
});

describe("a plugin with invalid results", () => {
  const WHOLE = "{ chars: text.length, scannedChars: text.length, truncated: false, windows: 1 }";
  const verdict = (fields: string) => `({ isValid: true, score: -1, findings: [], coverage: ${WHOLE}, ${fields} })`;
  const bodies: Record<string, string> = {
    throws: "(() => { throw new Error(text); })()",
    rejects: "Promise.reject(text)",
    nothing: "undefined",
    nan: verdict("score: NaN"),
    "a score above 1": verdict("score: 2, isValid: false"),
    "a score that contradicts": verdict("score: 1"),
    "a probability above 1": verdict("probability: 1.5"),
    "a text that is none": verdict("sanitized: 5"),
    "findings outside of the text": verdict("findings: [{ start: 0, end: text.length + 1, type: 'x', score: 1 }]"),
    "findings that are none": verdict("findings: [null]"),
    "more coverage than there is": verdict("coverage: { chars: 1e9, scannedChars: 1e9, truncated: false, windows: 1 }"),
    "no coverage": verdict("coverage: undefined"),
  };
  const serve = async (file: string) => {
    const config = await load(file);
    const app = await createServer({ ...config, app: { ...config.app, logLevel: "silent" } });
    await app.ready();
    return app;
  };
  let throwing: Awaited<ReturnType<typeof serve>>;
  let blocking: Awaited<ReturnType<typeof serve>>;

  beforeAll(async () => {
    const named = Object.entries(bodies).map(([name, body], index) => ({ name, body, id: `s${index}` }));
    const definition = (body: string) =>
      `{ type: "Bad", summary: "Bad.", sides: { input: {} }, create: () => ({ check: (text) => ${body} }) }`;
    write({
      "bad.mjs": [...named, { body: "new Promise(() => {})", id: "slow" }]
        .map(({ id, body }) => `export const ${id} = ${definition(body)};`)
        .join("\n"),
      "wrong.mjs": `
        export const number = () => Number.NaN;
        export const entities = () => [{ start: 5, end: 2, type: "X" }];
        export const ner = { types: ["PER"], find: () => [{ start: 0, end: 1, type: "ORG" }] };
      `,
    });
    const list = named.map(({ name, id }) => `  - {type: ./bad.mjs#${id}, name: ${name}}\n`).join("");
    const file = `input_scanners:\n${list}  - {type: ./bad.mjs#slow, name: slow}\n`;
    throwing = await serve(`${file}app: {scan_prompt_timeout: 0.3}\n`);
    blocking = await serve(`${file}app: {on_scanner_error: block}\n`);
  });
  afterAll(() => Promise.all([throwing.close(), blocking.close()]));

  /** Scans a prompt with only one of the scanners. */
  const scan = (app: typeof throwing, only: string) => {
    const suppressed = [...Object.keys(bodies), "slow"].filter((name) => name !== only);
    const payload = { prompt: "my private text", scanners_suppress: suppressed, details: true };
    return app.inject({ method: "POST", url: "/scan/prompt", payload });
  };

  it.each(Object.keys(bodies))("never passes: %s", async (name) => {
    const failed = await scan(throwing, name);
    expect(failed.statusCode).toBe(500);
    expect(failed.json().detail).toBe(`The scanner ${name} failed.`);
    expect(failed.payload).not.toContain("private");
    const blocked = await scan(blocking, name);
    expect(blocked.json()).toMatchObject({
      is_valid: false,
      scanners: { [name]: 1 },
      coverage: { failed: [name], scanned_chars: 0 },
    });
  });

  it("is stopped by the timeout of the request", async () => {
    expect((await scan(throwing, "slow")).statusCode).toBe(504);
  });

  it.each([
    ["a classifier", "PromptInjection, params: {classifier: ./wrong.mjs#number}"],
    ["a recognizer", "Anonymize, params: {recognizers: [./wrong.mjs#entities], recognizer_conf: []}"],
    ["a NER model", "Anonymize, params: {recognizer_conf: ./wrong.mjs#ner}"],
  ])("never passes: %s", async (_what, type) => {
    const { input } = buildScanners(await load(`input_scanners: [{type: ${type}}]\n`));
    await expect(scanPrompt(input, "some text")).rejects.toMatchObject({ code: "GUARD_SCANNER" });
  });

  it("never passes: a scoring function", async () => {
    const { conversation } = await load(
      "input_scanners: [{type: InvisibleText}]\nconversation: {risk: {enabled: true, scoring_function: ./wrong.mjs#number}}\n",
    );
    const { scoringFunction } = conversation.risk;
    const risk = new ConversationRisk(scoringFunction as ScoringFunction);
    await expect(risk.assess(["some text"])).rejects.toMatchObject({ code: "GUARD_SCANNER" });
  });
});
