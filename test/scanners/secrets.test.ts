import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createScanner } from "../../src/scanners/catalog.ts";
import { Secrets } from "../../src/scanners/generated/input-scanners.ts";
import { GuardValidationError } from "../../src/support/errors.ts";
import { scanned } from "../support/rewritten.ts";

type Options = ConstructorParameters<typeof Secrets>[0];
const scan = (text: string, options?: Options) => scanned(new Secrets(options), text);

/** Draws letters and digits from a seeded sequence. Tokens are generated, so that the repository contains none. */
function draw(length: number, seed: string): string {
  let text = "";
  for (let round = 0; text.length < length; round++) {
    text += createHash("sha512").update(`${seed} ${round}`).digest("base64").replace(/\W/g, "");
  }
  return text.slice(0, length);
}

const github = `ghp_${draw(36, "github")}`;
const stripe = `sk_live_${draw(24, "stripe")}`;
const slack = `xoxb-123456789012-1234567890123-${draw(24, "slack")}`;

describe("Secrets", () => {
  it("states the number of services in hundreds", () => {
    const providers = new URL("../../crates/guard-core/src/rules/secrets/providers/", import.meta.url);
    const known = readdirSync(providers).filter((file) =>
      readFileSync(new URL(file, providers), "utf8").startsWith("service = "),
    );
    const hundreds = (Math.floor((known.length - 1) / 100) * 100).toLocaleString("en");
    const page = readFileSync(new URL("../../docs/scanners/secrets.md", import.meta.url), "utf8");
    expect(page).toContain(`tokens of more than ${hundreds} services`);
  });

  it("replaces credentials and names their services", async () => {
    const text = `Hi 😀, deploy with ${github} and ${stripe}, please`;
    const { isValid, score, rewritten, findings } = await scan(text);
    expect({ isValid, score, rewritten }).toEqual({
      isValid: false,
      score: 1,
      rewritten: "Hi 😀, deploy with ****** and ******, please",
    });
    expect(findings.map(({ type, text, label, service }) => [type, text, label, service])).toEqual([
      ["secret", github, "github-personal-access-token", "GitHub"],
      ["secret", stripe, "stripe-key", "Stripe"],
    ]);
    expect(text.slice(findings[0]?.start, findings[0]?.end)).toBe(github);
  });

  it("gives tokens with a wrong checksum a lower score", async () => {
    expect((await scan(github)).findings[0]?.score).toBe(0.5);
    expect((await scan(stripe)).findings[0]?.score).toBe(1);
  });

  it.each([
    ["all", "******"],
    ["partial", `${slack.slice(0, 2)}..${slack.slice(-2)}`],
    ["hash", createHash("md5").update(slack).digest("hex")],
  ] as const)("redacts in mode %s", async (redactMode, replacement) => {
    expect((await scan(`token: ${slack}`, { redactMode })).rewritten).toBe(`token: ${replacement}`);
    expect((await scanned(createScanner("input", "Secrets", { redact_mode: redactMode }), slack, {})).rewritten).toBe(
      replacement,
    );
  });

  it.each([
    (value: string) => `"${value}"`,
    (value: string) => `'${value}'`,
    (value: string) => `["${value}", "on"]`,
    (value: string) => `Please use "${value}" for now.`,
    (value: string) => `  - "${value}"`,
    (value: string) => `return '${value}';`,
  ])("finds a random string in quotes alone: %s", async (around) => {
    const value = `q7B9${draw(20, "lone").toLowerCase()}/${draw(30, "alone")}`;
    expect((await scan(around(value))).rewritten).toBe(around("******"));
  });

  it("names no service for X-Auth-Token", async () => {
    const { findings } = await scan("X-Auth-Token: 8f14e45fceea167a5a36dedd4bea2543");
    expect(findings).toHaveLength(1);
    expect(findings[0]).not.toHaveProperty("service");
  });

  it.each([
    "'8f14e45fceea167a5a36dedd4bea254300000000'",
    "| commit | `8f14e45fceea167a5a36dedd4bea2543aa11bb22` |",
    '["550e8400-e29b-41d4-a716-446655440000"]',
    "'PLrAXtmErZgOeiKm4sgNOknGvNjby9efdf'",
    '"AAAAC3NzaC1lZDI1NTE5AAAAIJ8n2u0Vp5q7wQ3bXyZc4dFgHkLmNoPqRsTuVwXyZa1B"',
    "'VGhlIG1lZXRpbmcgaXMgYXQgMTIgaW4gcm9vbSA0MiBvbiBGcmlkYXk='",
    '"/assets/images/2024/07/Summer-Sale-Banner2x-1200px"',
    '"Donaudampfschifffahrtsgesellschaftskapitaen"',
    'The serial number is "K7QX2M9ZP4RT8WV3NB6YLD5H".',
  ])("passes %s, which only looks random", async (text) => {
    expect((await scan(text)).findings).toEqual([]);
  });

  it("replaces every occurrence, unlike llm-guard", async () => {
    const { rewritten, findings } = await scan(`key ${stripe}\necho ${stripe} > a; cat "${stripe}"`);
    expect(rewritten).toBe('key ******\necho ****** > a; cat "******"');
    expect(findings).toHaveLength(3);
  });

  it.each([
    ["postgres://app:Zx81-qwop@db.acme.org:5432/shop", "postgres://app:******@db.acme.org:5432/shop"],
    ["Server=db;User Id=sa;Password=Zx81qwop;", "Server=db;User Id=sa;Password=******;"],
    ["пароль: zima2024!", "пароль: ******"],
    ["My password is hunter2222.", "My password is ******"],
    ['{"db": {"password": "swordfish"}}', '{"db": {"password": "******"}}'],
    ["DB_PASSWORD=swordfish\r\nPORT=1", "DB_PASSWORD=******\r\nPORT=1"],
    [`curl -u bob:${draw(12, "curl")} https://acme.org`, "curl -u bob:****** https://acme.org"],
    [`x-api-key: ${draw(32, "header")}`, "x-api-key: ******"],
    [
      `before\n-----BEGIN RSA PRIVATE KEY-----\n${draw(64, "a")}\n${draw(30, "b")}==\n-----END RSA PRIVATE KEY-----\nafter`,
      "before\n******\nafter",
    ],
  ])("finds the secret in %j", async (text, rewritten) => {
    expect((await scan(text)).rewritten).toBe(rewritten);
  });

  it.each([
    "",
    " \n ",
    "Explain how an API key differs from a password and where a token is stored.",
    "token = os.environ['TOKEN']; password = $DB_PASSWORD; api_key: <your-key>",
    "commit 356a192b7913b04c54574d18c28d46e6395428ab, id 3f292041-51d2-4005-8e48-f39df3585d44",
    "AKIAIOSFODNN7EXAMPLE",
    "password: ******",
  ])("passes %j", async (text) => {
    const verdict = await scan(text);
    expect(verdict).toMatchObject({ isValid: true, score: -1, findings: [] });
    expect(verdict).not.toHaveProperty("edits");
  });

  it("works on outputs too", async () => {
    const verdict = await scanned(createScanner("output", "Secrets"), `Here is your key: ${github}`, { prompt: "?" });
    expect(verdict.rewritten).toBe("Here is your key: ******");
  });

  it("scans encoded text with deobfuscate", async () => {
    const encoded = Buffer.from(`the token is ${github} ok`).toString("base64");
    const text = `decode ${encoded} for me`;
    expect((await scan(text)).findings.some(({ service }) => service === "GitHub")).toBe(false);
    const { rewritten, findings } = await scan(text, { deobfuscate: true });
    expect(rewritten).toBe("decode ****** for me");
    expect(findings[0]).toMatchObject({ service: "GitHub", text: encoded });
    expect(findings[0]?.view).toContain("base64");
  });

  it("takes rules, exceptions and disabled rules from scanners.yml", async () => {
    const scanner = createScanner("input", "Secrets", {
      rules: [{ id: "acme-ticket", pattern: "\\bACME-\\d{6}\\b", service: "Acme", keywords: ["ACME-"] }],
      disabled_rules: ["stripe-key"],
      allow: ["^ACME-000000$"],
    });
    const { rewritten, findings } = await scanned(scanner, `ACME-123456 ACME-000000 ${stripe}`, {});
    expect(rewritten).toBe(`****** ACME-000000 ${stripe}`);
    expect(findings).toMatchObject([{ label: "acme-ticket", service: "Acme", text: "ACME-123456" }]);
  });

  it.each([
    [{ redact_mode: "some" }, "redactMode"],
    [
      {
        rules: [
          { id: "x", pattern: "a" },
          { id: "y", pattern: "(?<=a)b" },
        ],
      },
      "rules.1.pattern",
    ],
    [{ rules: [{ id: "x" }] }, "rules.0.pattern"],
    [{ disabled_rules: ["stripe-key", "strype"] }, "disabledRules.1"],
    [{ allow: ["["] }, "allow.0"],
    [{ redact: true }, "redact"],
  ])("refuses %j", (params, path) => {
    let error: unknown;
    try {
      createScanner("input", "Secrets", params);
    } catch (caught) {
      error = caught;
    }
    expect(error).toBeInstanceOf(GuardValidationError);
    expect((error as GuardValidationError).path).toBe(path);
  });

  it("scans long texts to their end", async () => {
    const prose = "The token and the key of the secret door. ".repeat(5_000);
    const { rewritten, coverage } = await scan(`${prose}${github} ${prose}`);
    expect(rewritten).toBe(`${prose}****** ${prose}`);
    expect(coverage).toMatchObject({ truncated: false, scannedChars: prose.length * 2 + github.length + 1 });
  });

  it("changes only its findings in any text, and nothing in a second scan", async () => {
    const scanner = new Secrets();
    const piece = fc.oneof(
      fc.string({ unit: "binary", maxLength: 12 }),
      fc.constantFrom(
        github,
        stripe,
        "password = ",
        "'",
        '"',
        "\n",
        "key: ",
        "://a:",
        "@",
        "é😀",
        "a1B2c3D4e5F6g7H8i9",
      ),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(piece, { maxLength: 12 }), async (pieces) => {
        const text = pieces.join("");
        const { rewritten, findings } = await scanned(scanner, text);
        let expected = "";
        let shown = 0;
        for (const { start, end, text: value } of findings) {
          expect(text.slice(start, end)).toBe(value);
          expected += `${text.slice(shown, start)}******`;
          shown = end;
        }
        expect(rewritten).toBe(expected + text.slice(shown));
        const again = await scanned(scanner, rewritten);
        expect(again.rewritten).toBe(rewritten);
      }),
      { numRuns: 300 },
    );
  });
});

/** A typical password: words and digits, drawn from a seeded sequence. */
const password = `Harbor${draw(5, "password").toLowerCase()}42`;
/** A password of letters only, which its context alone distinguishes from a word. */
const word = `q${draw(40, "word").replace(/[^a-z]/g, "")}`.slice(0, 12);
const random = `a1B2${draw(28, "random")}`;

describe("Secrets in files", () => {
  const files: Record<string, [file: (secret: string) => string, secret: string]> = {
    ".env": [(secret) => `PORT=3000\nDB_PASSWORD=${secret}\n`, word],
    "values in YAML": [(secret) => `db:\n  host: db\n  username: app\n  password: ${secret}\n`, word],
    "environment of a container": [(secret) => `environment:\n  POSTGRES_PASSWORD: ${secret}\n`, word],
    "environment of a pod": [(secret) => `- name: DB_PASSWORD\n  value: ${secret}\n`, word],
    "environment of a task": [(secret) => `[{ "name": "API_SECRET", "value": "${secret}" }]`, random],
    "JSON in arguments of a tool": [(secret) => `{"username": "bob", "password": "${secret}"}`, password],
    "JSON in a string": [(secret) => `{"body": "{\\"password\\": \\"${secret}\\"}"}`, password],
    "strings of JSON by themselves": [(secret) => `username\nbob\npassword\n${secret}`, password],
    "settings of .NET": [(secret) => `<add key="SmtpPassword" value="${secret}" />`, password],
    "settings of Maven": [(secret) => `<username>ci</username>\n<password>${secret}</password>`, word],
    "property list": [(secret) => `<key>apiToken</key>\n<string>${secret}</string>`, random],
    properties: [(secret) => `db.user=app\ndb.password=${secret}\n`, word],
    "shell history": [(secret) => `redis-cli -a ${secret} ping\nldapsearch -x -w x -b dc=acme\n`, password],
    "statements of SQL": [(secret) => `CREATE USER 'app'@'%' IDENTIFIED BY '${secret}';`, word],
    "inventory of Ansible": [(secret) => `web1 ansible_user=root ansible_password=${secret}`, word],
    "configuration of Redis": [(secret) => `bind 127.0.0.1\nrequirepass ${secret}\n`, word],
    "configuration of Wi-Fi": [(secret) => `network={\n  ssid="home"\n  psk="${secret}"\n}`, word],
    "call in Java": [(secret) => `DriverManager.getConnection(URL, "app", "${secret}");`, password],
    "call in JavaScript": [(secret) => `jwt.sign(payload, '${secret}');`, `${word}-${password}`],
    "declaration in Go": [(secret) => `var apiToken string = "${secret}"`, random],
    "declaration in Rust": [(secret) => `const API_TOKEN: &str = "${secret}";`, random],
    "cookie of a session": [(secret) => `Cookie: theme=dark; sessionid=${secret}`, random],
    "remote of git": [(secret) => `git clone https://${secret}@git.acme.org/a.git`, random],
    "German prose": [(secret) => `Das Passwort lautet ${secret}, bitte ändern.`, password],
  };

  it.each(Object.entries(files))("finds the credential in %s", async (_, [file, secret]) => {
    const text = file(secret);
    expect((await scan(text)).rewritten).toBe(text.replace(secret, "******"));
  });

  const stands = ["changeme", "TODO", "%(DB_PASSWORD)s", "xxxx-xxxx-xxxx", "your-password1", "op://vault/db/password1"];
  it.each(Object.entries(files))("passes placeholders in %s", async (_, [file]) => {
    for (const placeholder of [...stands, "<password>", "$" + "{PASSWORD1}"]) {
      const { findings } = await scan(file(placeholder));
      expect(findings.map(({ label, text }) => [placeholder, label, text])).toEqual([]);
    }
  });

  it.each([
    `Release GPG key: ${createHash("sha1").update("a").digest("hex").toUpperCase()}`,
    `arn:aws:secretsmanager:us-east-1:123456789012:secret:db-a1b2c3`,
    "x = torch.cat([x, x_pass], dim=-1)",
    "postgres://app:your_password@db:5432/app",
    "manager->getKey = fileSecKeysMngrGetKey;",
    "password_changed_at=1714564800",
    '"password": "Wachtwoord"',
    "Buffer.from(user + ':' + password).toString('base64')",
    'const ALPHABET = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";',
    "password: ENC(q8vZ4r7Xc1)",
    "Authorization: Basic dXNlcm5hbWU6cGFzc3dvcmQ=",
    "key = 2b7e151628aed2a6abf7158809cf4f3c  # FIPS 197, appendix A",
  ])("finds nothing in %s", async (text) => {
    expect((await scan(text)).findings).toEqual([]);
  });
});
