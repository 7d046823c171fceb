import { randomBytes } from "node:crypto";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { buildScanners, parseConfig } from "../../src/config/index.ts";
import { scanConversation } from "../../src/conversation/scan-conversation.ts";
import { decryptPersonalData } from "../../src/index.ts";
import { Vault } from "../../src/scan/vault.ts";
import { Anonymize, Secrets } from "../../src/scanners/generated/input-scanners.ts";
import { Deanonymize, Sensitive } from "../../src/scanners/generated/output-scanners.ts";
import { scanOutputStream } from "../../src/stream/scan-output-stream.ts";
import { testServer } from "../server/fixtures.ts";
import { personalTexts } from "../support/personal-texts.ts";
import { scanned } from "../support/rewritten.ts";
import { issuesOf } from "../support/validation-issues.ts";

type Operators = NonNullable<NonNullable<ConstructorParameters<typeof Anonymize>[0]>["operators"]>;

const SALT = "an example salt of this test";
const KEY = randomBytes(32).toString("base64");
const scannerWith = (operators?: Operators) => new Anonymize({ recognizerConf: [], ...(operators && { operators }) });
async function replaced(text: string, operators: Operators, vault = new Vault()) {
  return (await scanned(scannerWith(operators), text, { vault })).rewritten;
}
const restored = async (text: string, vault: Vault) => (await scanned(new Deanonymize({ vault }), text)).rewritten;

describe("operators", () => {
  it.each<[string, Operators, string]>([
    ["Call +44 20 7946 0958 now.", { PHONE_NUMBER: { type: "redact" } }, "Call  now."],
    [
      "Kartennummer: 4111 1111 1111 1111.",
      { CREDIT_CARD: { type: "mask", keepEnd: 4 } },
      "Kartennummer: ***************1111.",
    ],
    [
      "Почта ivan@example.com!",
      { EMAIL_ADDRESS: { type: "mask", maskingChar: "•", keepStart: 1, keepEnd: 4 } },
      "Почта i•••••••••••.com!",
    ],
    ["邮箱是li@example.cn。", { DEFAULT: { type: "replace", newValue: "<某人>" } }, "邮箱是<某人>。"],
    ["Écris à zoe@example.fr.", { EMAIL_ADDRESS: { type: "replace", newValue: "(adresse)" } }, "Écris à (adresse)."],
    ["ann@example.com, 203.0.113.9", { IP_ADDRESS: { type: "redact" } }, "[REDACTED_EMAIL_ADDRESS_1], "],
    [
      "ann@example.com, 203.0.113.9",
      { IP_ADDRESS: { type: "replace" }, DEFAULT: { type: "redact" } },
      ", [REDACTED_IP_ADDRESS_1]",
    ],
    ['{"card": 4111111111111111}', { DEFAULT: { type: "mask", keepEnd: 4 } }, '{"card": "************1111"}'],
  ])("in %j", async (text, operators, expected) => {
    expect(await replaced(text, operators)).toBe(expected);
  });

  it("mask everything when a value is no longer than what is kept", async () => {
    const operators: Operators = { IP_ADDRESS: { type: "mask", keepStart: 6, keepEnd: 5 } };
    expect(await replaced("From 203.0.113.9.", operators)).toBe("From ***********.");
  });

  it("mask whole characters", async () => {
    const operators: Operators = { CUSTOM: { type: "mask", keepStart: 1, keepEnd: 1 } };
    const scanner = new Anonymize({ recognizerConf: [], hiddenNames: ["Zoe\u0301", "👩‍🚀Ada👩‍🚀"], operators });
    expect((await scanned(scanner, "Zoe\u0301 and 👩‍🚀Ada👩‍🚀")).rewritten).toBe("Z*e\u0301 and 👩‍🚀***👩‍🚀");
  });

  it("apply to types of the user", async () => {
    const names = ({ index, 0: name }: RegExpExecArray) => ({ start: index, end: index + name.length, type: "PERSON" });
    const scanner = new Anonymize({
      recognizerConf: [],
      recognizers: [(text) => [...text.matchAll(/Maria \w+/g)].map(names)],
      regexPatterns: [{ name: "TICKET", expressions: ["T-[0-9]{4}"] }],
      operators: { PERSON: { type: "mask", keepStart: 1 }, TICKET: { type: "redact" } },
    });
    const { rewritten } = await scanned(scanner, "Please ask Maria Schneider about T-1234.");
    expect(rewritten).toBe("Please ask M************** about .");
  });

  it("change nothing unless they are given", async () => {
    const [plain, empty, explicit] = [scannerWith(), scannerWith({}), scannerWith({ DEFAULT: { type: "replace" } })];
    for (const { text } of personalTexts(60, 7)) {
      const expected = await scanned(plain, text, { vault: new Vault() });
      for (const scanner of [empty, explicit]) {
        expect(await scanned(scanner, text, { vault: new Vault() })).toEqual(expected);
      }
    }
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: "grapheme", maxLength: 80 }), async (noise) => {
        const text = `${noise} ann@example.com ${noise}`;
        const expected = await scanned(plain, text, { vault: new Vault() });
        expect(await scanned(explicit, text, { vault: new Vault() })).toEqual(expected);
      }),
      { numRuns: 60 },
    );
  });
});

describe("hash", () => {
  const operators: Operators = { EMAIL_ADDRESS: { type: "hash", salt: SALT } };

  it("gives equal values equal hashes, which depend on the salt", async () => {
    const [one, two, other] = (await replaced("ann@example.com ann@example.com bob@example.com", operators)).split(" ");
    expect(one).toMatch(/^\[HASHED_EMAIL_ADDRESS:[0-9a-f]{64}\]$/);
    expect(two).toBe(one);
    expect(other).not.toBe(one);
    const salted: Operators = { EMAIL_ADDRESS: { type: "hash", salt: `${SALT}!` } };
    expect(await replaced("ann@example.com", salted)).not.toBe(one);
  });

  it("is neither hashed again nor restored", async () => {
    const vault = new Vault();
    const text = await replaced("Write to ann@example.com.", operators, vault);
    expect(vault.size).toBe(0);
    expect(await replaced(text, operators, vault)).toBe(text);
    expect(await restored(text, vault)).toBe(text);
  });
});

describe("encrypt", () => {
  const operators: Operators = { DEFAULT: { type: "encrypt", key: KEY } };

  it.each([
    "Write to ann@example.com or call +44 20 7946 0958.",
    "Почта ivan@example.com, ИНН 7707083893",
    "我的邮箱是li@example.cn。",
    '{"mail": "zoë@example.de"}',
  ])("is restored from the vault, or with the key: %j", async (text) => {
    const vault = new Vault();
    const encrypted = await replaced(text, operators, vault);
    expect(encrypted).not.toContain("example");
    expect(encrypted).toMatch(/\[ENCRYPTED_EMAIL_ADDRESS:[\w-]+\]/);
    expect(await restored(encrypted, vault)).toBe(text);
    expect(decryptPersonalData(encrypted, KEY)).toBe(text);
    expect(decryptPersonalData(encrypted, [randomBytes(32).toString("hex"), KEY])).toBe(text);
  });

  it("is not restored with another key, or if it was changed", async () => {
    const encrypted = await replaced("Write to ann@example.com.", operators);
    expect(decryptPersonalData(encrypted, randomBytes(32).toString("hex"))).toBe(encrypted);
    const moved = encrypted.replace("EMAIL_ADDRESS", "PERSON");
    expect(decryptPersonalData(moved, KEY)).toBe(moved);
    expect(issuesOf(() => decryptPersonalData(encrypted, "short"))).toEqual([
      { path: "keys", message: "expected 32 bytes in base64 (44 characters) or hexadecimal (64 digits)" },
    ]);
  });

  it("is restored in streams", async () => {
    const vault = new Vault();
    const mixed: Operators = { ...operators, IP_ADDRESS: { type: "replace", newValue: "<host no. {number}>" } };
    const masked = await replaced("Ask ann@example.com about 203.0.113.9.", mixed, vault);
    for (const size of [1, 7, 40]) {
      const pieces = masked.match(new RegExp(`[^]{1,${size}}`, "g")) ?? [];
      let text = "";
      for await (const piece of scanOutputStream([new Deanonymize()], "", pieces, { vault })) text += piece;
      expect(text).toBe("Ask ann@example.com about 203.0.113.9.");
    }
  });

  it("keeps encrypted values, even without the vault", async () => {
    const encrypted = await replaced("Write to ann@example.com.", operators);
    expect(await replaced(encrypted, operators)).toBe(encrypted);
  });

  it("hides no personal data that somebody writes like an encrypted value", async () => {
    const text = `[ENCRYPTED_PERSON:${"x".repeat(50)}] ann@example.com`;
    expect(await replaced(text, operators)).not.toContain("ann@");
  });

  it("encrypts a value once per vault", async () => {
    const vault = new Vault();
    const one = await replaced("ann@example.com", operators, vault);
    expect(await replaced("ann@example.com", operators, vault)).toBe(one);
    expect(vault.entries()).toEqual([[one, "ann@example.com"]]);
  });

  it("does not look like a secret", async () => {
    const text = await replaced("Mail ann@example.com", { ...operators, IP_ADDRESS: { type: "hash", salt: SALT } });
    expect((await new Secrets().scan(text, {})).isValid).toBe(true);
    const hashed = await replaced("from 203.0.113.9", { DEFAULT: { type: "hash", salt: SALT } });
    expect((await new Secrets().scan(hashed, {})).isValid).toBe(true);
  });
});

describe("replace with numbers", () => {
  const operators: Operators = { EMAIL_ADDRESS: { type: "replace", newValue: "<mail {number}>" } };

  it("is restored, and never equals what the text or the vault has", async () => {
    const vault = new Vault([["<mail 4>", "old@example.com"]]);
    const text = "ann@example.com, bob@example.com, ann@example.com, not <mail 3>";
    const masked = await replaced(text, operators, vault);
    expect(masked).toBe("<mail 5>, <mail 6>, <mail 5>, not <mail 3>");
    expect(await restored(masked, vault)).toBe(text);
  });

  it("without a number is not restored, because several values share it", async () => {
    const vault = new Vault();
    const masked = await replaced("ann@example.com", { EMAIL_ADDRESS: { type: "replace", newValue: "<mail>" } }, vault);
    expect(await restored(masked, vault)).toBe("<mail>");
  });
});

describe("fake", () => {
  it("applies to its types, and is restored beside the other operators", async () => {
    const operators: Operators = {
      EMAIL_ADDRESS: { type: "fake" },
      IP_ADDRESS: { type: "mask" },
      CREDIT_CARD: { type: "encrypt", key: KEY },
    };
    const text = "ann@example.com, card 4111 1111 1111 1111, from 203.0.113.9; +44 20 7946 0958";
    const vault = new Vault();
    const masked = await replaced(text, operators, vault);
    expect(masked).toMatch(
      /^\S+@example\.\w+, card \[ENCRYPTED_CREDIT_CARD:\S+\], from \*{11}; \[REDACTED_PHONE_NUMBER_1\]$/,
    );
    expect(masked).not.toContain("ann@example.com");
    expect(await restored(masked, vault)).toBe(text.replace("203.0.113.9", "***********"));
  });

  it("is what useFaker says for all types", () => {
    expect(
      issuesOf(() => new Anonymize({ recognizerConf: [], useFaker: true, operators: { DEFAULT: { type: "fake" } } })),
    ).toEqual([{ path: "useFaker", message: "must not be given together with operators.DEFAULT" }]);
  });
});

describe("invalid operators", () => {
  const issues = (operators: unknown) => issuesOf(() => scannerWith(operators as Operators));

  it.each<[unknown, string, RegExp]>([
    [
      { EMAIL_ADRESS: { type: "redact" } },
      "operators.EMAIL_ADRESS",
      /nothing finds EMAIL_ADRESS.*known are: .*EMAIL_ADDRESS/,
    ],
    [{ PERSON: { type: "redact" } }, "operators.PERSON", /needs a model/],
    [{ DEFAULT: { type: "shuffle" } }, "operators.DEFAULT.type", /replace, redact, mask, hash, encrypt or fake/],
    [{ DEFAULT: { type: "mask", maskingChar: "##" } }, "operators.DEFAULT.maskingChar", /one character/],
    [{ DEFAULT: { type: "hash" } }, "operators.DEFAULT.salt", /required/],
    [{ DEFAULT: { type: "hash", salt: "geheim-7" } }, "operators.DEFAULT.salt", /at least 16 characters/],
    [{ DEFAULT: { type: "encrypt", key: "geheim-7" } }, "operators.DEFAULT.key", /32 bytes/],
    [{ DEFAULT: { type: "replace", newValue: "{number}" } }, "operators.DEFAULT.newValue", /3 other characters/],
    [{ DEFAULT: { type: "replace", newValue: 'say "x"' } }, "operators.DEFAULT.newValue", /quotation marks/],
    [{ DEFAULT: { type: "mask", keep: 4 } }, "operators.DEFAULT.keep", /keepStart/],
  ])("%j", (operators, path, message) => {
    const found = issues(operators);
    expect(found).toEqual([{ path, message: expect.stringMatching(message) }]);
    expect(JSON.stringify(found)).not.toContain("geheim");
  });

  it("are named as in files", () => {
    const file = "input_scanners: [{type: Anonymize, params: {operators: {DEFAULT: {type: mask, masking_char: ab}}}}]";
    expect(issuesOf(() => parseConfig(file))[0]?.path).toBe("input_scanners.0.params.operators.DEFAULT.masking_char");
  });
});

describe("Sensitive", () => {
  const sensitive = (operators: object, redact = true) =>
    new Sensitive({ recognizerConf: [], redact, operators: operators as never });

  it("redacts with operators", async () => {
    const scanner = sensitive({ CREDIT_CARD: { type: "mask", keepEnd: 4 }, IP_ADDRESS: { type: "encrypt", key: KEY } });
    const { rewritten } = await scanned(scanner, "4111 1111 1111 1111 ann@example.com 203.0.113.9");
    expect(rewritten).toMatch(/^\*{15}1111 <EMAIL_ADDRESS> \[ENCRYPTED_IP_ADDRESS:/);
    expect(decryptPersonalData(rewritten, KEY)).toMatch(/203\.0\.113\.9$/);
  });

  it("redacts streams", async () => {
    const scanner = sensitive({ EMAIL_ADDRESS: { type: "redact" } });
    const pieces = ["Write to ann@exa", "mple.com or ", "bob@example.org", " today."];
    let text = "";
    for await (const piece of scanOutputStream([scanner], "", pieces, { masking: ["Sensitive"] })) text += piece;
    expect(text).toBe("Write to  or  today.");
  });

  it("refuses what it cannot do", () => {
    expect(issuesOf(() => sensitive({ DEFAULT: { type: "redact" } }, false))).toEqual([
      { path: "operators", message: "needs redact: true" },
    ]);
    expect(issuesOf(() => sensitive({ DEFAULT: { type: "fake" } }))[0]?.message).toMatch(/mask, hash or encrypt/);
    expect(issuesOf(() => sensitive({ DEFAULT: { type: "replace", newValue: "<n {number}>" } }))[0]?.message).toMatch(
      /vault/,
    );
  });
});

it("work in conversations", async () => {
  const vault = new Vault();
  const scanner = scannerWith({
    EMAIL_ADDRESS: { type: "encrypt", key: KEY },
    IP_ADDRESS: { type: "mask", keepEnd: 2 },
  });
  const messages = [{ role: "user", content: "I am ann@example.com, at 203.0.113.9." }];
  const { sanitizedMessages } = await scanConversation([scanner], messages, { vault });
  const content = (sanitizedMessages as typeof messages)[0]?.content as string;
  expect(content).toMatch(/^I am \[ENCRYPTED_EMAIL_ADDRESS:\S+\], at \*+\.9\.$/);
  expect(await restored(content, vault)).toMatch(/^I am ann@example\.com/);
});

it("work over HTTP, and appear in no reply", async () => {
  const file = `
input_scanners:
  - type: Anonymize
    params:
      recognizer_conf: []
      operators:
        EMAIL_ADDRESS: { type: encrypt, key: "\${PII_KEY}" }
        IP_ADDRESS: { type: hash, salt: "${SALT}" }
        CREDIT_CARD: { type: mask, masking_char: "#", keep_end: 4 }
output_scanners: [{ type: Deanonymize }]
`;
  const { post } = await testServer(buildScanners(parseConfig(file, { env: { PII_KEY: KEY } })));
  const prompt = "ann@example.com 203.0.113.9 4111 1111 1111 1111";
  const reply = await post("/analyze/prompt", { prompt });
  const { sanitized_prompt: output, vault } = reply.json();
  expect(output).toMatch(/^\[ENCRYPTED_EMAIL_ADDRESS:\S+\] \[HASHED_IP_ADDRESS:\S+\] #{15}1111$/);
  for (const secret of [KEY, SALT]) expect(reply.body).not.toContain(secret);
  const answer = (await post("/analyze/output", { prompt: "?", output, vault })).json().sanitized_output;
  expect(answer).toBe(output.replace(/\[ENCRYPTED\S+\]/, "ann@example.com"));
});
