import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { type Browser, chromium, type Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { buildScanners, type ConfigInput, parseConfig } from "../../../src/config/index.ts";
import { type ScannerLists, startServer } from "../../../src/server/index.ts";
import { maskingScanner } from "../../support/masking-scanner.ts";
import { injectionScanner, wordScanner } from "../fixtures.ts";
import { chromiumPath, noChromium, skipsBrowser } from "./chromium.ts";

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const zebra = () => wordScanner("zebra", { name: "Zebra", conversation: { window: true } });

describe.skipIf(skipsBrowser)("the page at /", () => {
  let browser: Browser;

  beforeAll(async () => {
    if (!chromiumPath) throw new Error(noChromium);
    // In a container Chromium runs as root, where its sandbox does not work. It loads pages of this test only.
    const args = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"];
    browser = await chromium.launch({ executablePath: chromiumPath, args });
  });
  afterAll(() => browser?.close());

  /**
   * The page of a server with some scanners. The test fails if the page violates its content security policy, or calls another
   * server.
   */
  async function open(
    scanners: Partial<ScannerLists>,
    { config = {}, ...options }: { config?: ConfigInput } & Parameters<Browser["newContext"]>[0] = {},
  ) {
    const server = await startServer({
      config: { ...config, app: { logLevel: "silent", ...config.app } },
      scanners: { input: [], output: [], ...scanners },
      port: 0,
    });
    const context = await browser.newContext(options);
    const page = await context.newPage();
    page.setDefaultTimeout(15_000);
    const problems: string[] = [];
    page.on("pageerror", (error) => problems.push(error.message));
    page.on("console", (message) => {
      // Chromium logs an error for each response with a status of 400 or more, and if the server is gone.
      if (message.type() === "error" && !message.text().includes("Failed to load resource"))
        problems.push(message.text());
    });
    page.on("request", (request) => {
      if (!request.url().startsWith(server.url)) problems.push(request.url());
    });
    onTestFinished(async () => {
      await context.close();
      await server.close();
      expect(problems).toEqual([]);
    });
    await page.goto(server.url);
    const status = page.getByRole("status");
    /** Submits with the keyboard, and waits for the verdict. */
    const check = async () => {
      await page.keyboard.press("Control+Enter");
      await status.filter({ hasText: /^(Passes|Fails|\d{3} )/ }).waitFor();
      return status.textContent();
    };
    return { page, status, check, server, context };
  }

  /** The marked texts, without their tags. */
  const marks = (page: Page) =>
    page.locator("mark").evaluateAll((found) =>
      found.map((mark) =>
        [...mark.childNodes]
          .filter((node) => !(node as { className?: string }).className?.startsWith("tag"))
          .map((node) => node.textContent)
          .join(""),
      ),
    );
  const tags = (page: Page) => page.locator("mark .tag").allTextContents();
  const rows = (page: Page, name: string) =>
    page
      .getByRole("region", { name })
      .locator("tbody tr")
      .evaluateAll((found) => found.map((row) => [...row.children].map((cell) => cell.textContent)));

  /** The accessibility rules that the page breaks, out of WCAG 2.2 A and AA and axe's best practices. */
  async function violations(page: Page): Promise<unknown[]> {
    await page.evaluate(axe);
    const { violations } = await page.evaluate<{ violations: { id: string; nodes: { html: string }[] }[] }>(
      "axe.run()",
    );
    return violations.map(({ id, nodes }) => [id, ...nodes.map(({ html }) => html)]);
  }

  /** A field that is shown, by its label. */
  const field = (page: Page, name: string) => page.getByRole("textbox", { name, exact: true });

  it("checks a prompt with the keyboard alone", async () => {
    const { page, status, check } = await open({ input: [zebra(), wordScanner("lion", { name: "Lion" })] });
    const focused: unknown[] = [];
    for (let count = 0; count < 6; count++) {
      await page.keyboard.press("Tab");
      focused.push(
        await page.evaluate(
          "document.activeElement.id || document.activeElement.value || document.activeElement.textContent",
        ),
      );
      if (focused.at(-1) === "prompt" && count === 4) await page.keyboard.type("😀 A zebra 🦓 is no zebr.");
    }
    expect(focused).toEqual([
      "Skip to the result",
      "API description",
      "OpenAPI document",
      "prompt",
      "prompt",
      "submit",
    ]);
    expect(await check()).toMatch(/^Fails: 1 of 2 checks failed \(Zebra\)\. 1 finding, \d+ ms\.$/);
    expect(await marks(page)).toEqual(["zebra"]);
    expect(await tags(page)).toEqual(["Zebra: word 1.00"]);
    const milliseconds = expect.stringMatching(/^\d+\.\d$/);
    expect(await rows(page, "Scores by scanner")).toEqual([
      ["Zebra", "fails", "1.00", "–", milliseconds],
      ["Lion", "passes", "-1.00", "–", milliseconds],
    ]);
    expect(await rows(page, "List of findings")).toEqual([["Zebra", "word", "–", "zebra", "–", "4–9", "1.00"]]);
    await page.getByText("No scanner rewrote the text.").waitFor();

    await field(page, "Prompt").fill("Nothing");
    await page.getByRole("button", { name: "Check" }).press("Enter");
    await status.filter({ hasText: "Passes: none of 2 checks failed. 0 findings" }).waitFor();
    expect(await marks(page)).toEqual([]);
  });

  it("marks findings in the original text, also after a rewritten part", async () => {
    const ann = wordScanner("Ann", { name: "Ann", replacement: "[SOMEBODY]" });
    const { page, check } = await open({ input: [ann, zebra()] });
    await field(page, "Prompt").fill("😀 Ann saw a zebra.");
    await check();
    expect(await marks(page)).toEqual(["Ann", "zebra"]);
    expect(await page.locator("#sanitized").textContent()).toBe("😀 [SOMEBODY] saw a zebra.");
    // The table has the same offsets as the marks.
    expect((await rows(page, "List of findings")).at(-1)).toContain("12–17");
  });

  it("names the scanner of each overlapping mark, and invisible characters", async () => {
    const { page, check } = await open({
      input: [wordScanner("a zebra\u200b", { name: "Long" }), zebra(), wordScanner("\u200b", { name: "Unseen" })],
    });
    await field(page, "Prompt").fill("It is a zebra\u200b.");
    await check();
    expect(await marks(page)).toEqual(["a ", "zebra", "U+200B"]);
    expect(await tags(page)).toEqual(["Zebra: word 1.00", "Unseen: word 1.00", "Long: word 1.00"]);
  });

  it("renders the text as text, never as HTML", async () => {
    const { page, check } = await open({ input: [wordScanner("<img", { name: "Tag" })] });
    const text = "<img src=x onerror=alert(1)><script>alert(1)</script>";
    await field(page, "Prompt").fill(text);
    await check();
    expect(await marks(page)).toEqual(["<img"]);
    expect(await page.locator("#report img, #report script").count()).toBe(0);
    expect(await page.locator(".text-shown").textContent()).toContain(text.slice(4));
  });

  it("restores an output from the vault of the latest prompt", async () => {
    const output = buildScanners(parseConfig("output_scanners: [{type: Deanonymize}]")).output;
    const { page, check } = await open({ input: [maskingScanner()], output: [...output, zebra()] });
    await page.getByLabel("Output of a model").check();
    expect(await page.getByLabel("Send the vault").isVisible()).toBe(false);
    await page.getByLabel("Prompt", { exact: true }).first().check();
    await field(page, "Prompt").fill("I am <Ann>.");
    await check();
    await page.getByLabel("Output of a model").check();
    await field(page, "Output of the model").fill("Hello [VALUE_1], a zebra.");
    expect(await page.getByLabel("Send the vault").isChecked()).toBe(true);
    await check();
    await page.locator("#sanitized", { hasText: "Hello Ann, a zebra." }).waitFor();
    expect(await marks(page)).toContain("zebra");
  });

  it("checks a conversation written with the keyboard, and shows each message", async () => {
    const risk = { conversation: { risk: { enabled: true, threshold: 0.5 } } };
    const { page, check } = await open({ input: [injectionScanner(), zebra()] }, { config: risk });
    await page.getByLabel("Conversation").check();
    for (let count = 1; count <= 3; count++) await page.getByRole("button", { name: "Add a message" }).press("Enter");
    expect(await page.evaluate("document.activeElement.labels[0].textContent")).toBe("Text of message 4");
    await page.getByRole("button", { name: "Remove message 4" }).press("Enter");
    expect(await page.evaluate("document.activeElement.labels[0].textContent")).toBe("Text of message 3");
    await page.getByLabel("Role of message 3").selectOption("tool");
    await field(page, "Text of message 1").fill("An old 🦓 zebra, p=0.6");
    await field(page, "Text of message 2").fill("Hello");
    await field(page, "Text of message 3").fill("p=0.99");
    const verdict = await check();
    for (const name of ["Zebra[window]", "PromptInjection[tool]"]) expect(verdict).toContain(name);
    expect(await page.getByRole("heading", { level: 4 }).allTextContents()).toEqual([
      "Message 1: user",
      "Message 2: user",
      "Message 3: tool",
    ]);
    expect(await tags(page)).toContain("Zebra[window]: word 1.00");
    expect(await marks(page)).toContain("zebra");
  });

  it("requests the credential of its server, and stores it nowhere", async () => {
    const auth = [
      { type: "http_bearer", token: "token-1" },
      { type: "api_key", header: "X-Key", keys: ["key-1"] },
      { type: "http_basic", username: "änna", password: "pass:word" },
    ];
    const { page, status, check, context } = await open({ input: [zebra()] }, { config: { auth } });
    await field(page, "Prompt").fill("A zebra.");
    expect(await check()).toContain("401 Unauthorized: A credential is required.");
    // The field to fill in has the focus.
    expect(await page.evaluate("document.activeElement.id")).toBe("secret");
    await page.keyboard.type("token-1");
    expect(await check()).toContain("Fails: 1 of 1 check failed (Zebra).");
    await page.getByLabel("Kind of credential").selectOption("API key (X-Key)");
    expect(await check()).toContain("401 Unauthorized: The credential is not valid.");
    await page.getByLabel("API key (X-Key)", { exact: true }).last().fill("key-1");
    expect(await check()).toContain("Fails: 1 of 1 check failed (Zebra).");
    await page.getByLabel("Kind of credential").selectOption("User name and password");
    await field(page, "User name").fill("änna");
    await page.getByLabel("Password", { exact: true }).fill("pass:word");
    expect(await check()).toContain("Fails: 1 of 1 check failed (Zebra).");
    await page.getByLabel("Password", { exact: true }).fill("\u{1f511}\n");
    expect(await context.cookies()).toEqual([]);
    expect(await page.evaluate("[localStorage.length, sessionStorage.length]")).toEqual([0, 0]);
    await page.reload();
    expect(await page.locator("#secret").inputValue()).toBe("");
    await status.filter({ hasText: "Nothing checked yet." }).waitFor();
  });

  it("has no credential fields on a server without authentication", async () => {
    const { page } = await open({});
    expect(await page.getByRole("group", { name: "Credential" }).count()).toBe(0);
  });

  it("shows errors of the server", async () => {
    const { page, status, check, server } = await open(
      { input: [zebra()] },
      { config: { app: { maxBodySize: 1024 } } },
    );
    await field(page, "Prompt").fill("x".repeat(2000));
    expect(await check()).toBe("413 Payload Too Large: The body has more than 1024 bytes (app.max_body_size).");
    expect(await page.locator("#report").textContent()).toBe("");
    await server.close();
    await page.keyboard.press("Control+Enter");
    await status.filter({ hasText: "The server cannot be reached" }).waitFor();
  });

  it.each(["light", "dark"] as const)("is accessible in %s colours", async (colorScheme) => {
    const auth = { type: "http_basic", username: "u", password: "p" };
    const names = Array.from({ length: 8 }, (_, index) => `Scanner ${index}`);
    const { page, check } = await open(
      { input: [...names.map((name, index) => wordScanner(`word${index}`, { name })), injectionScanner()] },
      { config: { auth }, colorScheme },
    );
    expect(await violations(page)).toEqual([]);
    await field(page, "User name").fill("u");
    await page.getByLabel("Password", { exact: true }).fill("p");
    await field(page, "Prompt").fill(names.map((_, index) => `word${index}`).join(" "));
    await check();
    expect(await marks(page)).toHaveLength(8);
    await page.getByText("Request and reply in JSON").click();
    expect(await violations(page)).toEqual([]);
    await page.getByLabel("Conversation").check();
    await page.getByRole("button", { name: "Add a message" }).click();
    await field(page, "Text of message 1").fill("word1");
    await check();
    expect(await violations(page)).toEqual([]);
    await page.getByLabel("Output of a model").check();
    expect(await violations(page)).toEqual([]);
  });

  it("has landmarks, headings and names for screen readers", async () => {
    const { page, check } = await open({ input: [zebra()] });
    await field(page, "Prompt").fill("A zebra.");
    await check();
    const snapshot = await page.locator("body").ariaSnapshot();
    const inOrder = [
      'link "Skip to the result"',
      "banner:",
      'heading "LLM Guard API" [level=1]',
      'navigation "Further pages":',
      "main:",
      'form "Text to check":',
      'heading "Text to check" [level=2]',
      'group "Kind of text":',
      'radio "Prompt" [checked]',
      'textbox "Prompt": A zebra.',
      'button "Check"',
      'region "Result":',
      'heading "Result" [level=2]',
      "Fails: 1 of 1 check failed (Zebra).",
      "mark: ",
      'region "Scores by scanner"',
      'row "Zebra fails 1.00',
    ];
    let from = 0;
    for (const line of inOrder) {
      const at = snapshot.indexOf(line, from);
      expect(at, `${line} in ${snapshot}`).toBeGreaterThanOrEqual(from);
      from = at + line.length;
    }
    expect(snapshot).toMatch(/status: .*Fails/);
    expect(await page.getByRole("heading", { level: 1 }).count()).toBe(1);
  });

  it("fits a narrow screen, and text of twice the size", async () => {
    const { page, check } = await open({ input: [zebra()] }, { viewport: { width: 320, height: 800 } });
    await field(page, "Prompt").fill(`A zebra. ${"x".repeat(300)}`);
    await check();
    expect(await page.evaluate("document.documentElement.scrollWidth")).toBeLessThanOrEqual(320);
    await page.setViewportSize({ width: 640, height: 800 });
    await page.evaluate("document.documentElement.style.fontSize = '200%'");
    expect(await page.evaluate("document.documentElement.scrollWidth")).toBeLessThanOrEqual(640);
  });

  it("loads within two seconds, with at most 50 kB", async () => {
    const { page, server } = await open({});
    const start = performance.now();
    await page.goto(server.url);
    expect(performance.now() - start).toBeLessThan(2000);
    const bytes = await page.evaluate<number>(
      "performance.getEntries().reduce((sum, { encodedBodySize = 0 }) => sum + encodedBodySize, 0)",
    );
    expect(bytes).toBeLessThan(50_000);
  });
});
