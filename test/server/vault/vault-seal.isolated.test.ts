import { createHash, randomBytes } from "node:crypto";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { buildScanners, type ConfigInput, parseConfig } from "../../../src/config/index.ts";
import { passed, type Scanner } from "../../../src/scan/scanner.ts";
import { Vault } from "../../../src/scan/vault.ts";
import { Anonymize, BanSubstrings } from "../../../src/scanners/generated/input-scanners.ts";
import { Deanonymize } from "../../../src/scanners/generated/output-scanners.ts";
import { startServer } from "../../../src/server/index.ts";
import { randomVaultKey, VaultSeal } from "../../../src/server/vault/vault-seal.ts";
import { GuardValidationError } from "../../../src/support/errors.ts";
import { maskingScanner } from "../../support/masking-scanner.ts";
import { scannerOf, type TestServer, testServer } from "../fixtures.ts";
import { dereferenced } from "../openapi.ts";

const key = () => randomBytes(32).toString("base64");
const useKeys = (...keys: string[]) => vi.stubEnv("GUARD_VAULT_KEY", keys.join(","));
beforeEach(() => void useKeys(key()));
afterEach(() => {
  vi.unstubAllEnvs();
  vi.useRealTimers();
});

/** Deanonymize, created from a file. */
const restoring = () => buildScanners(parseConfig("output_scanners: [{type: Deanonymize}]")).output;
const vaultServer = (config: ConfigInput = {}, input: Scanner[] = [maskingScanner()]) =>
  testServer({ input, output: restoring() }, config);

async function mask({ post }: TestServer, prompt: string, vault?: string) {
  const reply = await post("/analyze/prompt", { prompt, vault });
  expect(reply.statusCode).toBe(200);
  return reply.json() as { sanitized_prompt: string; vault: string };
}

async function restore({ post }: TestServer, output: string, vault: unknown) {
  const reply = await post("/analyze/output", { prompt: "?", output, vault });
  expect(reply.statusCode).toBe(200);
  return reply.json().sanitized_output as string;
}

describe("a vault", () => {
  it.each(["/analyze/prompt", "/analyze/scan"])("goes from POST %s to the output", async (url) => {
    const server = await vaultServer();
    const { sanitized_prompt, vault } = (
      await server.post(url, { prompt: "Write to <Ann> and <Zoë 😀>, <Ann>." })
    ).json();
    expect(sanitized_prompt).toBe("Write to [VALUE_1] and [VALUE_2], [VALUE_1].");
    expect(vault).toMatch(/^[\w-]+$/);
    expect(Buffer.from(vault, "base64url").toString("latin1")).not.toContain("Ann");
    expect(await restore(server, "Dear [VALUE_2], ask [VALUE_1].", vault)).toBe("Dear Zoë 😀, ask Ann.");
  });

  it("is absent if nothing was replaced, on /scan routes, and on /analyze/output", async () => {
    const { post } = await vaultServer();
    expect((await post("/analyze/prompt", { prompt: "nobody", vault: null })).json()).not.toHaveProperty("vault");
    expect((await post("/scan/prompt", { prompt: "<Ann>" })).json()).not.toHaveProperty("vault");
    const messages = [{ role: "user", content: "<Ann>" }];
    expect((await post("/scan/conversation", { messages })).json()).not.toHaveProperty("vault");
    const { vault } = (await post("/analyze/prompt", { prompt: "<Ann>" })).json();
    for (const url of ["/analyze/output", "/scan/output"])
      expect((await post(url, { prompt: "x", output: "[VALUE_1]", vault })).json()).not.toHaveProperty("vault");
  });

  it("keeps placeholders through the turns of a conversation", async () => {
    const server = await vaultServer();
    const turn = async (content: string, vault?: string) => {
      const messages = [
        { role: "user", content: "Hello" },
        { role: "assistant", content: "?" },
        { role: "user", content },
      ];
      return (await server.post("/analyze/conversation", { messages, vault })).json();
    };
    const first = await turn("I am <Ann>");
    expect(first.sanitized_prompt).toBe("I am [VALUE_1]");
    const second = await turn("<Bob> knows <Ann>", first.vault);
    expect(second.sanitized_prompt).toBe("[VALUE_2] knows [VALUE_1]");
    // A client keeps only the latest vault, even after a turn that added nothing.
    const third = await turn("Go on", second.vault);
    expect(await restore(server, "[VALUE_1] [VALUE_2]", third.vault)).toBe("Ann Bob");
    expect(await restore(server, "[VALUE_1] [VALUE_2]", first.vault)).toBe("Ann [VALUE_2]");
    expect((await mask(server, "<Bob>", third.vault)).sanitized_prompt).toBe("[VALUE_2]");
  });

  it("gives personal data of earlier turns the same placeholders", async () => {
    const server = await vaultServer({}, [new Anonymize({ recognizerConf: [] })]);
    const messages: { role: string; content: string }[] = [];
    let vault: string | undefined;
    const turn = async (content: string) => {
      const reply = await server.post("/analyze/conversation", {
        messages: [...messages, { role: "user", content }],
        vault,
      });
      const { sanitized_prompt, vault: next } = reply.json();
      vault = next;
      messages.push({ role: "user", content: sanitized_prompt }, { role: "assistant", content: "Understood." });
      return sanitized_prompt;
    };
    expect(await turn("My e-mail is ann@example.org.")).toBe("My e-mail is [REDACTED_EMAIL_ADDRESS_1].");
    expect(await turn("Copy bob@example.org, not ann@example.org!")).toBe(
      "Copy [REDACTED_EMAIL_ADDRESS_2], not [REDACTED_EMAIL_ADDRESS_1]!",
    );
    expect(await restore(server, "To [REDACTED_EMAIL_ADDRESS_1], [REDACTED_EMAIL_ADDRESS_2]", vault)).toBe(
      "To ann@example.org, bob@example.org",
    );
  });

  it("receives replaced values of any message, and none of the window", async () => {
    const input = [
      maskingScanner({ conversation: { window: true } }),
      maskingScanner({ name: "Tool", conversation: { window: true, sources: ["user", "tool"] } }),
    ];
    const server = await vaultServer({}, input);
    const messages = [
      { role: "user", content: "<early>" },
      { role: "user", content: "<late>" },
      { role: "tool", content: "<tool>" },
    ];
    const { vault, scanners } = (await server.post("/analyze/conversation", { messages })).json();
    expect(Object.keys(scanners)).toEqual(["Mask", "Tool", "Mask[window]", "Tool[window]", "Tool[tool]"]);
    expect(await restore(server, "[VALUE_1][VALUE_2][VALUE_3]", vault)).toBe("earlylatetool");
  });

  it("is sealed with a new nonce each time, and reveals only the length of its content", async () => {
    const server = await vaultServer();
    const tokens = await Promise.all(
      ["<Ann>", "<Ann>", "<Bob>"].map(async (prompt) => (await mask(server, prompt)).vault),
    );
    expect(new Set(tokens).size).toBe(3);
    expect(new Set(tokens.map(({ length }) => length)).size).toBe(1);
    // Nothing is compressed, so a repetitive text gives a token as long as a random one.
    const [same, other] = await Promise.all([
      mask(server, `<${"a".repeat(999)}>`),
      mask(server, `<${randomBytes(500).toString("hex").slice(1)}>`),
    ]);
    expect(same.vault.length).toBe(other.vault.length);
  });

  it("holds any text", async () => {
    const server = await vaultServer({}, [
      scannerOf(
        "All",
        async (text, { vault }) => {
          vault?.append(["[ALL]", text]);
          return { ...passed(text), sanitized: "[ALL]" };
        },
        { sanitizes: true },
      ),
    ]);
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: "binary", minLength: 1, maxLength: 200 }), async (value) => {
        const { vault } = await mask(server, value);
        expect(await restore(server, "é [ALL] 😀 [ALL]", vault)).toBe(`é ${value} 😀 ${value}`);
      }),
      { numRuns: 25 },
    );
  });

  it("opens for the credential that it was made for only", async () => {
    const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
    const key = (name: string) => ({ "x-api-key": name });
    const one = { type: "http_bearer", token: "token-1" };
    const team = { type: "http_bearer", name: "team", token: "token-2" };
    const keys = { type: "api_key", keys: ["key-1", "key-2"] };
    const before = await vaultServer({ auth: [one, team, keys] });
    const tokenFor = async (headers: Record<string, string>) =>
      (await before.post("/analyze/prompt", { prompt: "<Ann>" }, headers)).json().vault as string;
    const opens = async ({ post }: TestServer, vault: string, headers: Record<string, string>) => {
      const body = { prompt: "?", output: "Dear [VALUE_1]", vault };
      const reply = await post("/analyze/output", body, headers);
      if (reply.statusCode === 422) expect(reply.json().detail).toBe("The vault cannot be opened.");
      else expect(reply.json().sanitized_output).toBe("Dear Ann");
      return reply.statusCode === 200;
    };
    const callers = [bearer("token-1"), bearer("token-2"), key("key-1"), key("key-2")];
    const vaults = await Promise.all(callers.map(tokenFor));
    for (const [index, vault] of vaults.entries()) {
      for (const [other, headers] of callers.entries())
        expect(await opens(before, vault, headers)).toBe(other === index);
    }
    // Other entries, another order, or the hash in place of the secret change nothing. A named entry may get another secret.
    const hashed = { type: "http_bearer", token: `sha256:${createHash("sha256").update("token-1").digest("hex")}` };
    const added = { type: "http_bearer", token: "token-3" };
    const swapped = { type: "api_key", keys: ["key-0", "key-2", "key-1"] };
    const after = await vaultServer({ auth: [swapped, added, { ...team, token: "token-4" }, hashed] });
    const then = [bearer("token-1"), bearer("token-4"), key("key-1"), key("key-2")];
    for (const [index, vault] of vaults.entries()) {
      for (const headers of [...then, key("key-0"), bearer("token-3")])
        expect(await opens(after, vault, headers)).toBe(headers === then[index]);
    }
    // A server without authentication has one anonymous caller, and none of these.
    const open = await vaultServer();
    for (const vault of vaults) expect(await opens(open, vault, {})).toBe(false);
    expect(await opens(after, (await mask(open, "<Ann>")).vault, then[0] as Record<string, string>)).toBe(false);
  });

  it("holds any pairs in order, also lone surrogates", () => {
    const seal = new VaultSeal([randomVaultKey()], { lifetimeMs: 60_000, maxLength: 100_000, limitedBy: "a test" });
    const text = fc.oneof(
      fc.string({ unit: "binary" }),
      fc.array(fc.integer({ min: 0, max: 0xffff })).map((units) => String.fromCharCode(...units)),
      fc.constantFrom("__proto__", "constructor", '"', "\\", "\ud83d", "\0"),
    );
    fc.assert(
      fc.property(fc.array(fc.tuple(text, text)), (pairs) => {
        const vault = new Vault(pairs);
        expect(seal.open(seal.seal(vault, null), null).entries()).toEqual(vault.entries());
      }),
    );
  });

  it("is ignored by scanners that do not use it, and restores nothing if absent", async () => {
    const { post } = await testServer({ output: [new BanSubstrings({ substrings: ["x"] }), ...restoring()] });
    const reply = await post("/analyze/output", { prompt: "x", output: "[VALUE_1]", details: true });
    expect(reply.json()).toMatchObject({
      sanitized_output: "[VALUE_1]",
      findings: { Deanonymize: [] },
      is_valid: true,
    });
  });

  it("is in the OpenAPI document", async () => {
    const { paths } = dereferenced((await (await vaultServer()).get("/openapi.json")).json());
    const schemas = (path: string) => {
      const { requestBody, responses } = paths[path].post;
      return [requestBody, responses[200]].map(({ content }) => content["application/json"].schema);
    };
    for (const path of ["/analyze/prompt", "/analyze/conversation", "/analyze/output"]) {
      const [body, answer] = schemas(path);
      expect(body.properties.vault.description, path).toContain("Deanonymize");
      expect(body.required, path).not.toContain("vault");
      expect("vault" in answer.properties, path).toBe(path !== "/analyze/output");
    }
  });
});

describe("Anonymize and Deanonymize", () => {
  const file = `
    input_scanners: [{type: Anonymize, params: {recognizer_conf: []}}]
    output_scanners: [{type: Deanonymize}]`;
  const anonymizing = () => testServer(buildScanners(parseConfig(file)));

  it("pass values through the vault, over the turns of a conversation", async () => {
    const server = await anonymizing();
    const first = await mask(server, "Я ivan@example.com, карта 4111 1111 1111 1111 😀");
    expect(first.sanitized_prompt).toBe("Я [REDACTED_EMAIL_ADDRESS_1], карта [REDACTED_CREDIT_CARD_1] 😀");
    const messages = [{ role: "user", content: "li@example.cn认识ivan@example.com" }];
    const second = (await server.post("/analyze/conversation", { messages, vault: first.vault })).json();
    expect(second.sanitized_prompt).toBe("[REDACTED_EMAIL_ADDRESS_2]认识[REDACTED_EMAIL_ADDRESS_1]");
    const output = "[REDACTED_EMAIL_ADDRESS_2], [REDACTED_EMAIL_ADDRESS_1]: [REDACTED_CREDIT_CARD_1]";
    expect(await restore(server, output, second.vault)).toBe("li@example.cn, ivan@example.com: 4111 1111 1111 1111");
    expect(await restore(server, output, undefined)).toBe(output);
    const log = server.log.join("");
    for (const value of ["ivan@", "4111", "li@example"]) expect(log).not.toContain(value);
  });

  it("return no vault without replaced values, and none on /scan routes", async () => {
    const { post } = await anonymizing();
    expect((await post("/analyze/prompt", { prompt: "Hello" })).json()).not.toHaveProperty("vault");
    expect((await post("/scan/prompt", { prompt: "ann@example.com" })).json()).toEqual({
      is_valid: false,
      scanners: { Anonymize: 0.9 },
    });
  });

  it("never show one caller's values to another", async () => {
    const server = await anonymizing();
    const callers = Array.from({ length: 30 }, (_, caller) => `caller${caller}@example.com`);
    const vaults = await Promise.all(
      callers.map(async (email) => {
        const { sanitized_prompt, vault } = await mask(server, `I am ${email}`);
        expect(sanitized_prompt).toBe("I am [REDACTED_EMAIL_ADDRESS_1]");
        return vault;
      }),
    );
    await Promise.all(
      callers.map(async (email, caller) => {
        const output = "[REDACTED_EMAIL_ADDRESS_1] [REDACTED_EMAIL_ADDRESS_2]";
        expect(await restore(server, output, vaults[caller])).toBe(`${email} [REDACTED_EMAIL_ADDRESS_2]`);
      }),
    );
  });
});

describe("a vault that cannot be opened", () => {
  const refusal = {
    type: "about:blank",
    title: "Unprocessable Entity",
    status: 422,
    detail: "The vault cannot be opened.",
    errors: [{ pointer: "/vault", detail: "is not a valid vault of this service, or has expired" }],
    message: "Validation failed",
    details: [
      { type: "value_error", loc: ["body", "vault"], msg: "is not a valid vault of this service, or has expired" },
    ],
  };

  /** Every route with a vault rejects this one with the same message, and logs nothing of it. */
  async function expectRefused({ post, log }: TestServer, vault: string, urls?: string[]) {
    const body = { prompt: "x", output: "[VALUE_1]", messages: [{ role: "user", content: "x" }], vault };
    const all = ["analyze", "scan"].flatMap((kind) =>
      ["prompt", "output", "conversation"].map((what) => `/${kind}/${what}`),
    );
    for (const url of urls ?? all) {
      const reply = await post(url, body);
      expect(reply.json()).toEqual(refusal);
      expect([reply.statusCode, reply.headers["content-type"]]).toEqual([422, "application/problem+json"]);
    }
    if (vault.length > 20) expect(log.join("")).not.toContain(vault.slice(0, 20));
  }

  it("because a bit of it was changed, anywhere", async () => {
    const server = await vaultServer();
    const { vault } = await mask(server, "<Ann>");
    const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    for (let at = 0; at < vault.length; at++) {
      // The lowest and the highest bit. The last character has unused bits.
      for (const bit of [1, 32]) {
        const other = alphabet[alphabet.indexOf(vault.charAt(at)) ^ bit];
        await expectRefused(server, vault.slice(0, at) + other + vault.slice(at + 1), ["/analyze/output"]);
      }
    }
    expect(await restore(server, "[VALUE_1]", vault)).toBe("Ann");
  });

  it("because it is not a vault", async () => {
    const server = await vaultServer();
    const { vault } = await mask(server, "<Ann>");
    const other = (await mask(server, "<Bob>")).vault;
    const cut = [1, 16, 33, 44, 45, 60, vault.length - 1].map((length) => vault.slice(0, length));
    const odd = [
      "",
      " ",
      "x",
      "null",
      "é😀",
      `${vault}=`,
      `${vault}A`,
      `${vault}\n`,
      ` ${vault}`,
      vault + vault,
      `${vault}!`,
    ];
    const swapped = [vault.slice(0, 44) + other.slice(44), vault.slice(0, -22) + other.slice(-22)];
    for (const token of [...cut, ...odd, ...swapped, vault.toLowerCase(), "A".repeat(100), "_".repeat(600_000)])
      await expectRefused(server, token);
  });

  it("because it was sealed with another key", async () => {
    const { vault } = await mask(await vaultServer(), "<Ann>");
    useKeys(key(), key());
    await expectRefused(await vaultServer(), vault);
  });

  it("because it has expired; each response renews it", async () => {
    const start = Date.UTC(2030, 0, 1);
    const hours = (count: number) => vi.setSystemTime(start + count * 3_600_000);
    hours(0);
    const server = await vaultServer();
    const first = await mask(server, "<Ann>");
    hours(23.99);
    const second = await mask(server, "Hello again", first.vault);
    hours(24);
    await expectRefused(server, first.vault);
    expect(await restore(server, "[VALUE_1]", second.vault)).toBe("Ann");
    hours(48);
    await expectRefused(server, second.vault);

    const brief = await vaultServer({ app: { vaultExpiry: 60 } });
    const { vault } = await mask(brief, "<Ann>");
    vi.setSystemTime(start + 48 * 3_600_000 + 59_000);
    expect(await restore(brief, "[VALUE_1]", vault)).toBe("Ann");
    hours(48 + 1 / 60);
    await expectRefused(brief, vault);
  });

  it("because it is too long, which the server never issues", async () => {
    const prompt = Array.from({ length: 200 }, (_, index) => `<value ${index}>`).join(" ");
    const { vault } = await mask(await vaultServer(), prompt);
    expect(vault.length).toBeGreaterThan(4096);
    for (const app of [{ vaultMaxSize: 2048 }, { maxBodySize: 4096 }]) {
      const small = await vaultServer({ app });
      if (!("maxBodySize" in app)) await expectRefused(small, vault);
      const reply = await small.post("/analyze/prompt", { prompt });
      expect(reply.statusCode).toBe(413);
      expect(reply.json().detail).toContain("vault");
      expect(reply.body).not.toContain("value 1");
    }
  });

  it("differs from a vault of the wrong type", async () => {
    const { post } = await vaultServer();
    const reply = await post("/analyze/output", { prompt: "x", output: "y", vault: 5 });
    expect([reply.statusCode, reply.json().errors[0].pointer]).toEqual([422, "/vault"]);
  });
});

describe("GUARD_VAULT_KEY", () => {
  const bytes = randomBytes(32);

  it.each([
    ["base64", bytes.toString("base64")],
    ["base64 without padding", bytes.toString("base64").replaceAll("=", "")],
    ["base64url", bytes.toString("base64url")],
    ["hexadecimal", bytes.toString("hex")],
    ["hexadecimal in capitals, with spaces around", ` ${bytes.toString("hex").toUpperCase()} `],
  ])("accepts %s", async (_how, text) => {
    useKeys(bytes.toString("hex"));
    const { vault } = await mask(await vaultServer(), "<Ann>");
    useKeys(text);
    expect(await restore(await vaultServer(), "[VALUE_1]", vault)).toBe("Ann");
  });

  it("rotates without losing a vault: the first key seals, all keys open", async () => {
    const [old, next] = [key(), key()];
    useKeys(old);
    const before = await mask(await vaultServer(), "<Ann>");
    useKeys(next, ` ${old}`);
    const both = await vaultServer();
    expect(await restore(both, "[VALUE_1]", before.vault)).toBe("Ann");
    const after = await mask(both, "and <Bob>", before.vault);
    useKeys(next);
    const server = await vaultServer();
    expect(await restore(server, "[VALUE_1] [VALUE_2]", after.vault)).toBe("Ann Bob");
    expect((await server.post("/analyze/output", { prompt: "x", output: "y", vault: before.vault })).statusCode).toBe(
      422,
    );
  });

  it.each([
    ["a password", "correct horse battery staple", 1, 1],
    ["too few bytes", randomBytes(31).toString("base64"), 1, 1],
    ["too many bytes", randomBytes(33).toString("base64"), 1, 1],
    ["too few digits", randomBytes(31).toString("hex"), 1, 1],
    ["something that is neither", `${key().slice(0, 20)}!${key().slice(0, 23)}`, 1, 1],
    ["a bad key behind a good one", `${key()},oops`, 2, 2],
    ["nothing behind a comma", `${key()},`, 2, 2],
    ["one key twice", `${bytes.toString("hex")},${key()},${bytes.toString("base64")}`, 3, 3],
  ])("stops the start with %s, and is not shown", async (_what, text, number, of) => {
    useKeys(text);
    const error: unknown = await vaultServer().catch((reason) => reason);
    expect(error).toBeInstanceOf(GuardValidationError);
    const { message, issues } = error as GuardValidationError;
    expect(issues).toEqual([{ path: "GUARD_VAULT_KEY", message: expect.stringContaining(`key ${number} of ${of} `) }]);
    for (const part of text.split(",").filter(Boolean)) expect(message).not.toContain(part.slice(0, 8));
  });

  it.each([undefined, "", " "])(
    "is a random key of this process if it is %j, and a warning says so if it matters",
    async (text) => {
      vi.stubEnv("GUARD_VAULT_KEY", text);
      const [one, other] = [await vaultServer(), await vaultServer()];
      const { vault } = await mask(one, "<Ann>");
      expect(await restore(one, "[VALUE_1]", vault)).toBe("Ann");
      expect((await other.post("/analyze/output", { prompt: "x", output: "y", vault })).statusCode).toBe(422);
      const warning = "GUARD_VAULT_KEY: not set";
      expect(one.log.join("")).toContain(warning);
      expect(
        (await testServer({ input: [scannerOf("Any", async (value) => passed(value))] })).log.join(""),
      ).not.toContain(warning);
      useKeys(key());
      expect((await vaultServer()).log.join("")).not.toContain(warning);
    },
  );
});

describe("an output with placeholders and without a vault", () => {
  const warning = "has no vault";
  const output = "Dear [REDACTED_PERSON_1]";

  it("is warned of once if Deanonymize would restore it", async () => {
    const server = await vaultServer();
    const { vault } = await mask(server, "<Ann>");
    await restore(server, "Dear [VALUE_1], [REDACTED] [REDACTED_PERSON]", undefined);
    await restore(server, output, vault);
    expect(server.log.join("")).not.toContain(warning);
    for (const handedIn of [undefined, null]) expect(await restore(server, output, handedIn)).toBe(output);
    expect(server.log.filter((line) => line.includes(warning))).toHaveLength(1);
    expect(server.log.join("")).not.toContain("REDACTED_PERSON_1");
  });

  it("is not warned of without Deanonymize", async () => {
    const server = await testServer({ output: [scannerOf("Any", async (value) => passed(value))] });
    await restore(server, output, undefined);
    expect(server.log.join("")).not.toContain(warning);
  });
});

describe("two concurrent callers", () => {
  it("never see each other's values", async () => {
    const server = await startServer({
      config: { app: { queueSize: 1000, maxQueueTime: 600, logLevel: "silent" } },
      scanners: { input: [maskingScanner()], output: restoring() },
      port: 0,
    });
    onTestFinished(() => server.close());
    const post = async (path: string, body: unknown) => {
      const headers = { "content-type": "application/json" };
      const reply = await fetch(server.url + path, { method: "POST", headers, body: JSON.stringify(body) });
      expect(reply.status).toBe(200);
      return (await reply.json()) as Record<string, string>;
    };
    await expect.poll(async () => (await fetch(`${server.url}/readyz`)).status).toBe(200);

    // All callers have the same placeholders, with different values. All of them mask, restore and try the vaults of others
    // concurrently, in three turns of a conversation.
    const callers = 40;
    const perTurn = 4;
    const placeholders = (turns: number) =>
      Array.from({ length: turns * perTurn }, (_, index) => `[VALUE_${index + 1}]`).join(" ");
    const values = (caller: number, turns: number) =>
      Array.from({ length: turns * perTurn }, (_, index) => `caller-${caller}-value-${index}`).join(" ");
    const tokens: { caller: number; turns: number; vault: string }[] = [];
    const restored = async (turns: number, vault?: string) =>
      (await post("/analyze/output", { prompt: "?", output: placeholders(turns), vault: vault ?? null }))
        .sanitized_output;

    let stolen = 0;
    const converse = async (caller: number) => {
      let own: string | undefined;
      for (let turns = 1; turns <= 3; turns++) {
        const prompt = values(caller, turns).replace(/\S+/g, "<$&>");
        const answer =
          (caller + turns) % 2 === 0
            ? await post("/analyze/prompt", { prompt, vault: own ?? null })
            : await post("/analyze/conversation", {
                messages: [{ role: "user", content: prompt }],
                vault: own ?? null,
              });
        expect(answer.sanitized_prompt).toBe(placeholders(turns));
        own = answer.vault as string;
        tokens.push({ caller, turns, vault: own });
        const other = tokens[(caller * 7 + turns * 13) % tokens.length];
        if (other && other.caller !== caller) stolen++;
        const outputs = await Promise.all([restored(turns, own), restored(turns), restored(3, other?.vault)]);
        expect(outputs[0]).toBe(values(caller, turns));
        expect(outputs[1]).toBe(placeholders(turns));
        // The vault of another client restores the values that it holds, and no value that was masked elsewhere in the meantime.
        const held = other ? values(other.caller, other.turns) : "";
        expect(outputs[2]).toBe(held + placeholders(3).slice(placeholders(other?.turns ?? 0).length));
      }
    };
    await Promise.all(Array.from({ length: callers }, (_, caller) => converse(caller)));
    expect(stolen).toBeGreaterThan(callers);
  });

  it("never share a scanner's own vault, because the server rejects one", async () => {
    const output = [new BanSubstrings({ substrings: ["x"] }), new Deanonymize({ vault: new Vault() })];
    await expect(testServer({ output })).rejects.toMatchObject({ path: "scanners.output.1" });
  });
});

describe("the log", () => {
  it.each([false, true])("never contains a vault (log_content: %s)", async (logContent) => {
    const server = await vaultServer({ app: { logContent } });
    const { vault } = await mask(server, "<Ann Canary>");
    const next = await mask(server, "Hello", vault);
    await restore(server, "[VALUE_1]", next.vault);
    await server.post("/analyze/output", { prompt: "x", output: "y", vault: `${vault}x` });
    expect(server.log.join("")).toContain("/analyze/output");
    for (const token of [vault, next.vault]) expect(server.log.join("")).not.toContain(token.slice(20, 60));
  });
});
