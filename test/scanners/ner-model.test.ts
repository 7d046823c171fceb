import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, it } from "vitest";
import { Vault } from "../../src/scan/vault.ts";
import { createScanner } from "../../src/scanners/catalog.ts";
import { Anonymize } from "../../src/scanners/generated/input-scanners.ts";
import { Deanonymize, Sensitive } from "../../src/scanners/generated/output-scanners.ts";
import { scanned } from "../support/rewritten.ts";
import { issuesOf } from "../support/validation-issues.ts";

const names = fileURLToPath(new URL("../fixtures/names", import.meta.url));
const twoHeads = fileURLToPath(new URL("../fixtures/two-heads", import.meta.url));
const scratch = mkdtempSync(join(tmpdir(), "guard-names-"));
afterAll(() => rmSync(scratch, { recursive: true }));

type Options = NonNullable<ConstructorParameters<typeof Sensitive>[0]>;

/** Copies the model with other label names. */
function relabelled(labels: Record<string, string>): string {
  const copy = mkdtempSync(join(scratch, "model"));
  for (const file of ["tokenizer.json", "model.onnx"]) copyFileSync(join(names, file), join(copy, file));
  const config = readFileSync(join(names, "config.json"), "utf8");
  const changed = config.replace(/(PERSON|LOCATION|ORGANIZATION)/g, (label) => labels[label] ?? label);
  writeFileSync(join(copy, "config.json"), changed);
  return copy;
}

async function redacted(text: string, options: Options) {
  const scanner = new Sensitive({ redact: true, ...options });
  const { rewritten } = await scanned(scanner, text);
  await scanner.close();
  return rewritten;
}

function issueOf(recognizerConf: unknown, options: object = {}) {
  const [issue] = issuesOf(() => new Sensitive({ recognizerConf, ...options } as never));
  return issue ? `${issue.path}: ${issue.message}` : "";
}

const text =
  "Ivan Petrov (ivan@example.com) of Acme Corp is in Moscow, and so is Maria. Petrov left, Ivan Petrov did not.";

describe("names", () => {
  it("are found besides other personal data, at every mention, and restored", async () => {
    const scanner = new Anonymize({ recognizerConf: names, entityTypes: "all" });
    await scanner.load();
    const vault = new Vault();
    const { rewritten, findings, score } = await scanned(scanner, text, { vault });
    expect(rewritten).toBe(
      "[REDACTED_PERSON_1] ([REDACTED_EMAIL_ADDRESS_1]) of [REDACTED_ORGANIZATION_1] is in [REDACTED_LOCATION_1], and so is " +
        "[REDACTED_PERSON_2]. [REDACTED_PERSON_3] left, [REDACTED_PERSON_1] did not.",
    );
    expect(findings.filter(({ label }) => label === "PERSON").map(({ text }) => text)).toEqual([
      ...["Ivan Petrov", "Maria", "Petrov", "Ivan Petrov"],
    ]);
    expect(score).toBeGreaterThan(0.9);
    expect((await scanned(new Deanonymize({ vault }), rewritten)).rewritten).toBe(text);
    // The placeholders must not be taken for names.
    expect((await scanned(scanner, rewritten, { vault })).isValid).toBe(true);
    await scanner.close();
    await expect(scanned(scanner, text)).rejects.toMatchObject({ code: "GUARD_CLOSED" });
  });

  it("become other names of the same kind with useFaker", async () => {
    const scanner = new Anonymize({ recognizerConf: [names], useFaker: true, entityTypes: ["PERSON"] });
    const vault = new Vault();
    const { rewritten } = await scanned(scanner, text, { vault });
    expect(rewritten).not.toMatch(/\b(?:Ivan|Petrov|Maria)\b|REDACTED/);
    expect(rewritten).toContain("ivan@example.com");
    expect((await scanned(new Deanonymize({ vault }), rewritten)).rewritten).toBe(text);
    await scanner.close();
  });

  it("are those of the wanted types", async () => {
    expect(await redacted("Ivan in Moscow", { recognizerConf: [names], entityTypes: ["LOCATION"] })).toBe(
      "Ivan in <LOCATION>",
    );
    expect(await redacted("Ivan in Moscow", { recognizerConf: [names], threshold: 0.999 })).toBe("Ivan in Moscow");
    // A model that finds none of the requested types is not loaded. Loading this one would fail.
    const broken = relabelled({});
    writeFileSync(join(broken, "model.onnx"), "this is no graph");
    const entityTypes = ["EMAIL_ADDRESS"];
    const scanner = new Sensitive({ recognizerConf: broken, entityTypes });
    await scanner.load();
    expect((await scanned(scanner, "Ivan in Moscow")).isValid).toBe(true);
    await expect(new Sensitive({ recognizerConf: broken }).load()).rejects.toMatchObject({ code: "GUARD_MODEL" });
    await expect(scanned(new Sensitive({ recognizerConf: broken }), "Ivan")).rejects.toMatchObject({
      code: "GUARD_MODEL",
    });
  });

  it("are found in a long text, after characters of two code units", async () => {
    const long = "😀 Ivan, ".repeat(2000);
    expect(await redacted(long, { recognizerConf: [names] })).toBe("😀 <PERSON>, ".repeat(2000));
  });

  it("stop being searched when the call is aborted", async () => {
    const scanner = new Sensitive({ recognizerConf: [names] });
    await scanner.load();
    const controller = new AbortController();
    const call = scanned(scanner, "Ivan Petrov ".repeat(50_000), { signal: controller.signal });
    setImmediate(() => controller.abort(new Error("changed my mind")));
    await expect(call).rejects.toThrow("changed my mind");
    await scanner.close();
  });

  it("are merged with the findings of patterns and other models", async () => {
    const towns = relabelled({ PERSON: "MISC", LOCATION: "LOC", ORGANIZATION: "GPE" });
    // Both models find Moscow, with equal confidence: one as a location, the other as an organisation.
    const recognizerConf = [names, { default_model: towns, threshold: 0.9 }] as never;
    const entityTypes = "all";
    expect(await redacted("Ivan, Moscow, Acme Corp", { recognizerConf, entityTypes })).toBe(
      "<PERSON>, <LOCATION>, <ORGANIZATION>",
    );
    const regexPatterns = [{ name: "TOWN", expressions: ["Moscow"], score: 1 }];
    expect(await redacted("Ivan, Moscow", { recognizerConf, regexPatterns, entityTypes })).toBe("<PERSON>, <TOWN>");
  });
});

describe("the embedded model", () => {
  it.each([
    [
      "Dear Maria Gonzalez, thank you for your order.",
      "The kettle is heated slowly and the water should never boil over. Add a spoon of salt, stir twice and wait for ten minutes. ",
      " Please send the report to Peter Okafor in Liverpool today.",
      "Dear <PERSON>, thank you for your order.",
      " Please send the report to <PERSON> in <LOCATION> today.",
    ],
    [
      "Мария Кузнецова приехала вчера.",
      "Воду нужно нагревать медленно, чтобы она не закипела. Добавьте ложку соли, перемешайте два раза и подождите десять минут. ",
      " Отчёт отправьте Анне Смирновой в Казань.",
      "<PERSON> приехала вчера.",
      " Отчёт отправьте <PERSON> в <LOCATION>.",
    ],
    [
      "王小明昨天来了。",
      "水要慢慢加热，不要让它沸腾。加一勺盐，搅拌两次，然后等十分钟。",
      "李建国昨天去了上海。",
      "<PERSON>昨天来了。",
      "<PERSON>昨天去了<LOCATION>。",
    ],
  ])("finds names far apart in a long text: %s", async (first, plain, last, firstMasked, lastMasked) => {
    const between = ` ${plain.repeat(5)}`;
    const entityTypes = ["PERSON", "LOCATION", "ORGANIZATION"];
    expect(await redacted(first + between + last, { entityTypes })).toBe(firstMasked + between + lastMasked);
    expect(await redacted(between, { entityTypes })).toBe(between);
  });

  it.each([
    "What is the capital of France?",
    "Is Toyota a Japanese company? See https://example.com, founded on 28 August 1937.",
    "Москва — столица России.",
    "东京是日本的首都。",
    "The United Nations met in Geneva on Monday.",
  ])("ignores text that identifies no person: %s", async (text) => {
    expect(await redacted(text, {})).toBe(text);
  });

  it("finds all of that with entityTypes all", async () => {
    const text = "What is the capital of France? See https://example.com/fr.";
    expect(await redacted(text, { entityTypes: "all" })).toBe("What is the capital of <LOCATION>? See <URL>.");
  });

  it("replaces all personal data in the example of llm-guard's documentation", async () => {
    const prompt =
      "Make an SQL insert statement to add a new user to our database. Name is John Doe. Email is test@test.com but also possible " +
      "to contact me with hello@test.com email. Phone number is 555-123-4567 and the IP address is 192.168.1.100. And credit card " +
      "number is 4567-8901-2345-6789. He works in Test LLC.";
    expect(await redacted(prompt, {})).toBe(
      "Make an SQL insert statement to add a new user to our database. Name is <PERSON>. Email is <EMAIL_ADDRESS> but also possible " +
        "to contact me with <EMAIL_ADDRESS> email. Phone number is <PHONE_NUMBER> and the IP address is <IP_ADDRESS>. And credit " +
        "card number is <CREDIT_CARD>. He works in Test LLC.",
    );
  });

  it("finds single names, but takes no single everyday word for a name", async () => {
    const words = ["커피", "오케이!", "지하철", "네", "晚安", "恭喜", "哈哈", "コーヒー", "はい", "Okay", "хм"];
    for (const word of words) expect(await redacted(word, {}), word).toBe(word);
    const names = ["김민수", "박지성", "王伟", "李娜", "山田太郎", "Ivan"];
    for (const name of names) expect(await redacted(name, {}), name).toBe("<PERSON>");
  });

  // Known limits of ner 0.5.0, in its card too.
  it.fails.each([
    ["田中", "<PERSON>"],
    ["Сергей Кузнецов приехал вчера.", "<PERSON> приехал вчера."],
    ["Nora Lind\tSales\nOtto Krause\tSupport", "<PERSON>\tSales\n<PERSON>\tSupport"],
  ])("finds all of the name in %j", async (text, expected) => {
    expect(await redacted(text, {})).toBe(expected);
  });

  it.each([
    ["Reviewer: Paula\nState: Closed", "Reviewer: <PERSON>\nState: Closed"],
    ["Assignee: Hugo\n\nPriority: High", "Assignee: <PERSON>\n\nPriority: High"],
    ["Anna Berg\tSales\nLuis Ortega\tSupport", "<PERSON>\tSales\n<PERSON>\tSupport"],
    [
      "The contract was signed by Nora\nLind in the afternoon.",
      "The contract was signed by <PERSON> in the afternoon.",
    ],
  ])("ends names with lines of forms and cells of tables: %j", async (text, expected) => {
    expect(await redacted(text, {})).toBe(expected);
  });

  it.each([
    "Explain Gauss' theorem and Kepler's laws.",
    "She has Crohn's disease.",
    "An introduction to the Doppler effect",
    "Quel est le théorème de Thalès ?",
  ])("takes no term for a person: %j", async (text) => {
    expect(await redacted(text, {})).toBe(text);
  });

  it.each([
    ["Best wishes,\n\nAutumn Leaf", "Best wishes,\n\n<PERSON>"],
    ["Atentamente,\nLuz Clara", "Atentamente,\n<PERSON>"],
  ])("finds whole names: %j", async (text, expected) => {
    expect(await redacted(text, {})).toBe(expected);
  });

  it("reads texts of one character, of spaces and of symbols", async () => {
    for (const text of ["a", "好", "\n\n", "😀", "...", " . "]) expect(await redacted(text, {})).toBe(text);
  });
});

describe("labels", () => {
  it("have their usual meaning, or become types", async () => {
    const usual = relabelled({ PERSON: "PER", LOCATION: "GPE", ORGANIZATION: "MISC" });
    const wanted = { recognizerConf: usual, entityTypes: ["PERSON", "LOCATION"] };
    expect(await redacted("Ivan, Moscow, Acme Corp", wanted)).toBe("<PERSON>, <LOCATION>, Acme Corp");
    const own = relabelled({ PERSON: "ship", LOCATION: "company", ORGANIZATION: "DATE" });
    const found = (entityTypes: "all" | string[]) =>
      redacted("Ivan, Moscow, Acme Corp", { recognizerConf: own, entityTypes });
    expect(await found([])).toBe("<SHIP>, Moscow, Acme Corp");
    expect(await found(["ORGANIZATION"])).toBe("<SHIP>, <ORGANIZATION>, Acme Corp");
    expect(await found(["DATE_TIME"])).toBe("<SHIP>, Moscow, <DATE_TIME>");
    expect(await found("all")).toBe("<SHIP>, <ORGANIZATION>, <DATE_TIME>");
  });

  it("are mapped as in llm-guard's configurations, also in a file", async () => {
    const configuration = {
      DEFAULT_MODEL: names,
      MODEL_TO_PRESIDIO_MAPPING: { PERSON: "CUSTOMER", ORGANIZATION: "ID" },
      LABELS_TO_IGNORE: ["O", "LOCATION"],
      PRESIDIO_SUPPORTED_ENTITIES: ["CUSTOMER", "ID"],
      ID_ENTITY_NAME: "ID",
      ID_SCORE_MULTIPLIER: 0.6,
      CHUNK_SIZE: 600,
      CHUNK_OVERLAP_SIZE: 40,
      DEFAULT_EXPLANATION: "Identified as {} by the NER model",
    };
    const scanner = createScanner("output", "Sensitive", { recognizer_conf: configuration });
    const { findings } = await scanned(scanner, "Ivan, Moscow, Acme Corp", {});
    expect(findings.map(({ text, label }) => [text, label])).toEqual([
      ["Ivan", "CUSTOMER"],
      ["Acme Corp", "ID"],
    ]);
    expect(findings[1]?.score).toBeCloseTo((findings[0]?.score ?? 0) * 0.6, 2);
    const others = createScanner("output", "Sensitive", {
      recognizer_conf: [{ default_model: names, presidio_supported_entities: ["PERSON"] }],
      entity_types: [],
      redact: true,
    });
    expect((await scanned(others, "Ivan, Moscow", {})).rewritten).toBe("<PERSON>, Moscow");
  });
});

describe("recognizerConf", () => {
  it.each([
    ["embedded:nothing", /^recognizerConf\.0\.defaultModel: there is no embedded model nothing; there are: /],
    ["dslim/bert/NER", /^recognizerConf\.0\.defaultModel: .*is neither embedded:<name> nor a folder or file/],
    [[names, twoHeads], /^recognizerConf\.1\.defaultModel: it judges texts as a whole/],
    [{}, /^recognizerConf\.0\.defaultModel: expected embedded:<name>, a folder/],
    [{ defaultModel: names, LABEL: 1 }, /^recognizerConf\.0\.label: unknown key/],
    [{ defaultModel: names, idScoreMultiplier: 2 }, /^recognizerConf\.0\.idScoreMultiplier: /],
    [
      { defaultModel: names, labelsToIgnore: ["PERSON", "LOCATION", "ORGANIZATION"] },
      /all that the model finds is ignored/,
    ],
    [
      { defaultModel: names, modelToPresidioMapping: { PERSON: "a name" } },
      /^recognizerConf\.0\.modelToPresidioMapping\.PERSON: expected a type without spaces/,
    ],
    [
      { DEFAULT_MODEL: names, default_model: twoHeads },
      /^recognizerConf\.0\.defaultModel: is given twice: as DEFAULT_MODEL and default_model$/,
    ],
    [
      [names, { defaultModel: names, threshold: 0.5, THRESHOLD: 0.9 }],
      /^recognizerConf\.1\.threshold: is given twice: as threshold and THRESHOLD$/,
    ],
    [null, /^recognizerConf\.0: /],
    [5, /^recognizerConf\.0: /],
  ])("refuses %j", (conf, message) => {
    expect(issueOf(conf)).toMatch(message);
  });

  it("checks the wanted types", () => {
    expect(issueOf(names, { entityTypes: ["PERSON", "EMAIL_ADDRESS"] })).toBe("");
    expect(issueOf(names, { entityTypes: ["SHIP"] })).toMatch(/^entityTypes\.0: nothing finds SHIP: it is unknown/);
    const own = relabelled({ PERSON: "SHIP" });
    expect(issueOf(own, { entityTypes: ["SHIP"] })).toBe("");
    expect(issueOf(own, { entityTypes: ["PERSON"] })).toBe("entityTypes.0: nothing finds PERSON: it needs a model");
  });
});
