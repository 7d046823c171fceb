import { readFileSync } from "node:fs";
import fc from "fast-check";
import { afterAll, describe, expect, it } from "vitest";
import { MaliciousURLs } from "../../src/scanners/generated/input-scanners.ts";
import { GuardValidationError } from "../../src/support/errors.ts";

const scanner = new MaliciousURLs();
afterAll(() => scanner.close());

const links = (name: string) =>
  readFileSync(new URL(`../fixtures/${name}-links.txt`, import.meta.url), "utf8")
    .trim()
    .split("\n");

async function flagged(urls: string[]): Promise<string[]> {
  const verdicts = await Promise.all(
    urls.map(async (url) => [url, await scanner.scan(`See ${url} for more.`)] as const),
  );
  return verdicts.filter(([, { isValid }]) => !isValid).map(([url]) => url);
}

describe("MaliciousURLs", () => {
  it("flags no ordinary link", async () => {
    expect(await flagged(links("ordinary"))).toEqual([]);
  });

  it("flags obviously bad links", async () => {
    // The model misses a link with a brand as the user name.
    const bad = links("malicious");
    expect((await flagged(bad)).length).toBeGreaterThanOrEqual(bad.length - 1);
  });

  it("passes pages of well-known sites, whatever they are about", async () => {
    const urls = [
      "https://www.commerzbank.de/portal/login/confirm?order=4711",
      "https://id.bradesco.com.br/account/verify-email?token=9f8e7d6c5b4a",
      "https://secure.kb.cz/web/auth/dashboard",
      "https://accounts.nordea.fi/security/alerts",
      "https://download.libreoffice.org/stable/win/LibreOffice_x64.msi",
      "https://online.bnpparibas/connexion",
      "https://www.bankmandiri.co.id/wps/portal/login/!ut/p/z1/Jx5d/",
      "https://amzn.to/4tRzQ1",
      "https://quiet-harbour.vercel.app/index.html",
      "https://d7k2m1xq0zzabc.cloudfront.net/img/logo.png",
      "https://jira.northwind.org/secure/RapidBoard.jspa",
    ];
    expect(await flagged(urls)).toEqual([]);
  });

  it("does not trust what others publish on well-known sites and platforms, or reach through them", async () => {
    const urls = [
      "https://commerzbank.de.kunden-login.top/portal/confirm.php",
      "https://paypal-verify-login.web.app/signin.html",
      "http://update-netflix.netlify.app/billing/login.php",
      "https://www.google.com/url?q=http://paypal.com.secure-login.account-update.ru/webscr?cmd=login",
      "http://www.uni-heidelberg.de/wp-content/plugins/paypal/webscr.php?cmd=_login-run",
    ];
    expect(await flagged(urls)).toEqual(urls);
  });

  it("reports the URL, its label and its score, also of a defanged URL", async () => {
    const text =
      "😀 See https://github.com/ and hxxp://paypal[.]com.secure-login.verify-account[.]tk/webscr?cmd=_login-run.";
    const { isValid, score, findings } = await scanner.scan(text);
    expect(isValid).toBe(false);
    expect(score).toBeGreaterThan(0);
    expect(findings).toMatchObject([
      {
        start: 31,
        end: text.length - 1,
        type: "url",
        text: "hxxp://paypal[.]com.secure-login.verify-account[.]tk/webscr?cmd=_login-run",
        label: "phishing",
      },
    ]);
    expect(findings[0]?.score).toBeGreaterThan(0.5);
  });

  it("passes hosts of the local network, and public addresses without a path", async () => {
    const urls = [
      "http://localhost:3000",
      "http://127.0.0.1:8000/login.php",
      "http://[::1]/",
      "http://192.168.0.10:8080/admin",
      "http://10.0.0.5/setup.exe",
      "http://api:8080/v1",
      "http://grafana.local/login",
      "https://8.8.8.8/",
      "http://1.1.1.1/",
    ];
    expect(await flagged(urls)).toEqual([]);
  });

  it("scores international names by the brands that they spell", async () => {
    expect(await flagged(links("international"))).toEqual([]);
    expect(await flagged(["http://пример.com/paypal/signin/webscr.php?cmd=_login-run"])).toHaveLength(1);
  });

  it("finds names that look like others", async () => {
    const homographs = [
      "http://раураl.com",
      "https://www.аррӏе.com/",
      "http://páypal-login.com/a",
      "http://gооgle.com",
    ];
    expect(await flagged(homographs)).toEqual(homographs);
    const { findings } = await scanner.scan(`See ${homographs[0]}`);
    expect(findings).toMatchObject([{ start: 4, label: "homograph", score: 0.99 }]);
  });

  it("passes allowed domains and their subdomains", async () => {
    const bad = "http://paypal.com.secure-login.verify-account.tk/webscr?cmd=_login-run";
    const allowed = new MaliciousURLs({ allowedDomains: ["Verify-Account.tk", "müller.de"] });
    expect((await allowed.scan(bad)).isValid).toBe(true);
    expect((await allowed.scan(`${bad} and http://login.xverify-account.tk/webscr?cmd=_login-run`)).isValid).toBe(
      false,
    );
    expect(
      (await allowed.scan("http://verify-account.tk@paypal.com.secure-login.tk/webscr?cmd=_login-run")).isValid,
    ).toBe(false);
  });

  it.each(["https://example.com", "example.com/a", "a b", "", "example.com:80"])("refuses %j as a domain", (name) => {
    expect(() => new MaliciousURLs({ allowedDomains: ["a.example", name] })).toThrow(/^allowedDomains\.1: /);
  });

  it.each([
    "",
    "no link here",
    "mail me@example.com",
    "main.py",
    "this.id",
    "vb.net",
    "user.name",
    "10.0.1.40/27",
    "at ThreadPoolExecutor.java:1145",
  ])("passes %j", async (text) => {
    expect(await scanner.scan(text)).toMatchObject({ isValid: true, score: -1, findings: [] });
  });

  it("applies its threshold", async () => {
    const text = "http://185.234.12.9/bins/mirai.x86";
    expect((await new MaliciousURLs({ threshold: 1 }).scan(text)).isValid).toBe(true);
    expect((await new MaliciousURLs({ threshold: 0 }).scan("https://github.com/")).isValid).toBe(false);
  });

  it("refuses a model that does not exist", () => {
    expect(() => new MaliciousURLs({ model: "embedded:nothing" })).toThrow(GuardValidationError);
  });

  it("accepts any text", async () => {
    const part = fc.oneof(
      fc.constantFrom("http://", "[.]", ".com", "/", "@", "。"),
      fc.string({ unit: "binary", maxLength: 5 }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(part, { maxLength: 20 }), async (parts) => {
        const text = parts.join("").toWellFormed();
        for (const { start, end } of (await scanner.scan(text)).findings) {
          expect(start < end && end <= text.length).toBe(true);
        }
      }),
    );
  });
});
