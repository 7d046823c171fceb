import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { promisify } from "node:util";
import { type Browser, chromium, type Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { buildScanners, type ConfigInput, parseConfig } from "../../../src/config/index.ts";
import type { Scanner } from "../../../src/scan/scanner.ts";
import { riskScore } from "../../../src/scan/score.ts";
import { type ScannerLists, startServer } from "../../../src/server/index.ts";
import { maskingScanner } from "../../support/masking-scanner.ts";
import { injectionScanner, reviewingScanner, testServer, wordScanner } from "../fixtures.ts";
import { RedisServer, skipsRedis } from "../redis/redis-server.ts";
import { chromiumPath, noChromium, skipsBrowser } from "./chromium.ts";

const run = promisify(execFile);
const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
/** The colour schemes whose accessibility is tested. The dark one differs in its colours only. */
const SCHEMES = process.env.GUARD_SLOW ? (["light", "dark"] as const) : (["light"] as const);
const zebra = () => wordScanner("zebra", { name: "Zebra", conversation: { window: true } });

/** A scanner with a threshold, whose probability is in the text: `p=0.6`. */
function gradedScanner(threshold: number): Scanner {
  return Object.assign(
    wordScanner("", {
      type: "Graded",
      name: "Graded",
      async scan(text) {
        const [found = "", value] = /p=([\d.]+)/.exec(text) ?? [];
        const probability = Number(value ?? 0);
        const isValid = probability <= threshold;
        const start = text.indexOf(found);
        const finding = { start, end: start + found.length, type: "grade", text: found, score: probability };
        const coverage = { chars: text.length, scannedChars: text.length, truncated: false, windows: 1 };
        const score = riskScore(probability, threshold);
        return { isValid, score, probability, findings: isValid ? [] : [finding], coverage };
      },
    }),
    { options: { threshold } },
  );
}

describe.skipIf(skipsBrowser)("the console", () => {
  let browser: Browser;

  beforeAll(async () => {
    if (!chromiumPath) throw new Error(noChromium);
    // In a container Chromium runs as root, where its sandbox does not work. It loads pages of this test only.
    const args = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"];
    browser = await chromium.launch({ executablePath: chromiumPath, args });
  });
  afterAll(() => browser?.close());

  /**
   * The console of a server with some scanners. The test fails if the page violates its content security policy, or calls another
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
    await server.loaded;
    const context = await browser.newContext(options);
    const page = await context.newPage();
    // Redis clients wait between their attempts to connect, and the page between its requests.
    page.setDefaultTimeout(30_000);
    const problems: string[] = [];
    const requests: string[] = [];
    page.on("pageerror", (error) => problems.push(error.message));
    page.on("console", (message) => {
      // Chromium logs an error for each response with a status of 400 or more, and if the server is gone.
      if (message.type() === "error" && !message.text().includes("Failed to load resource"))
        problems.push(message.text());
    });
    page.on("request", (request) => {
      requests.push(new URL(request.url()).pathname);
      if (!request.url().startsWith(server.url)) problems.push(request.url());
    });
    onTestFinished(async () => {
      await context.close();
      await server.close();
      expect(problems).toEqual([]);
    });
    await page.goto(server.url);
    const verdict = page.locator(".verdict");
    /** Waits for the verdict. */
    const judged = async () => {
      await verdict.filter({ hasText: /^(Passed|Masked|In review|Blocked|Not checked)\./ }).waitFor();
      return verdict.textContent();
    };
    /** Submits with the keyboard, and waits for the verdict. */
    const check = async () => {
      await page.keyboard.press("Control+Enter");
      return judged();
    };
    const post = (path: string, body: unknown, headers = {}) =>
      fetch(server.url + path, {
        method: "POST",
        headers: { "content-type": "application/json", ...headers },
        body: JSON.stringify(body),
      });
    return { page, verdict, judged, check, post, server, context, requests };
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
  /** The checks: names and verdicts. */
  const checks = (page: Page) =>
    page.locator(".check").evaluateAll((rows) =>
      rows.map((row) =>
        [".check-name", ".check-verdict", ".check-numbers"]
          .map((part) => row.querySelector(part)?.textContent ?? "")
          .join(" ")
          .trim(),
      ),
    );
  const rows = (page: Page, name: string) =>
    page
      .getByRole("group", { name, exact: true })
      .locator("tbody tr")
      .evaluateAll((found) => found.map((row) => [...row.children].map((cell) => cell.textContent)));

  /** The accessibility rules that the page breaks, out of WCAG 2.2 A and AA and axe's best practices. */
  async function violations(page: Page, rules = "{}"): Promise<unknown[]> {
    await page.evaluate(axe);
    const { violations } = await page.evaluate<{ violations: { id: string; nodes: { html: string }[] }[] }>(
      `axe.run(${rules})`,
    );
    return violations.map(({ id, nodes }) => [id, ...nodes.map(({ html }) => html)]);
  }

  /** A field that is shown, by its label. */
  const field = (page: Page, name: string) => page.getByRole("textbox", { name, exact: true });
  const view = (page: Page, name: string) => page.getByRole("navigation", { name: "Views" }).getByText(name).click();
  const choose = (page: Page, name: string) => page.getByRole("radio", { name, exact: true }).check();
  const signIn = async (page: Page, token: string) => {
    await page.getByLabel("Bearer token", { exact: true }).fill(token);
    await page.keyboard.press("Enter");
  };

  it("shows the scanners before the first check, and checks with the keyboard alone", async () => {
    const { page, check } = await open({ input: [zebra(), gradedScanner(0.5)] });
    await page.getByText("Nothing checked yet.").waitFor();
    expect(await page.locator(".check").allTextContents()).toEqual([
      "ZebraWord · rules",
      "Gradedrules · threshold 0.5",
    ]);
    const focused: unknown[] = [];
    for (let count = 0; focused.at(-1) !== "prompt" && count < 30; count++) {
      await page.keyboard.press("Tab");
      focused.push(await page.evaluate("document.activeElement.id || document.activeElement.textContent"));
    }
    expect(focused[0]).toBe("Skip to the content");
    expect(focused).toContain("Prompt injection");
    await page.keyboard.type("😀 A zebra 🦓 is no zebr. p=0.25");
    expect(await check()).toMatch(/^Blocked\. 1 of 2 checks failed: Zebra\. [\d.,]+ ms\.$/);
    expect(await marks(page)).toEqual(["zebra"]);
    expect(await tags(page)).toEqual(["Zebra: word"]);
    expect(await checks(page)).toEqual(["Zebra fails", "Graded passes 0.25 ≤ 0.50"]);
    await field(page, "Prompt").fill("Nothing");
    await page.getByRole("button", { name: "Check", exact: true }).press("Enter");
    await page.getByText("None of 2 checks failed.").waitFor();
    expect(await marks(page)).toEqual([]);
  });

  it("marks findings in the original text as text, also after a rewritten part", async () => {
    const ann = wordScanner("Ann", { name: "Ann", replacement: "[SOMEBODY]" });
    const { page, check } = await open({
      input: [ann, zebra(), wordScanner("<img", { name: "Tag" }), wordScanner("\u200b", { name: "Unseen" })],
    });
    const text = "😀 Ann saw a zebra\u200b. <img src=x onerror=alert(1)><script>alert(1)</script>";
    await field(page, "Prompt").fill(text);
    expect(await check()).toContain("4 of 4 checks failed: Ann, Zebra, Tag, Unseen.");
    expect(await marks(page)).toEqual(["Ann", "zebra", "U+200B", "<img"]);
    expect(await page.locator("main img, main script").count()).toBe(0);
    expect(await page.locator(".rewritten").textContent()).toBe(text.replace("Ann", "[SOMEBODY]"));
  });

  it("lets the verdict follow a threshold that is moved by hand, without a request", async () => {
    const { page, verdict, check, requests } = await open({ input: [gradedScanner(0.5), zebra()] });
    await field(page, "Prompt").fill("It is p=0.7");
    await check();
    const sent = requests.length;
    const threshold = page.getByRole("slider", { name: "Threshold of Graded" });
    await threshold.fill("0.8");
    expect(await verdict.textContent()).toMatch(/^Passed\. .*Judged on this page with your thresholds\.$/);
    expect(await marks(page)).toEqual([]);
    expect(await checks(page)).toContain("Graded passes 0.70 ≤ 0.80");
    await threshold.press("Home");
    expect(await verdict.textContent()).toContain("Blocked. 1 of 2 checks failed: Graded.");
    expect(await marks(page)).toEqual(["p=0.7"]);
    await page.getByText("Requests to this profile may not set thresholds").waitFor();
    await page.getByRole("button", { name: "Reset thresholds" }).click();
    expect(await checks(page)).toContain("Graded fails 0.70 > 0.50");
    expect(requests.length).toBe(sent);
  });

  it("checks again with other thresholds and another profile, where the caller may", async () => {
    const language = (threshold: number) => [{ type: "Language", params: { validLanguages: ["en"], threshold } }];
    const { page, judged, check } = await open(
      { input: undefined as never },
      {
        config: {
          app: { allowThresholds: true },
          inputScanners: language(0.95),
          profiles: { strict: { inputScanners: language(0.5) } },
        },
      },
    );
    await field(page, "Prompt").fill("Hun skal hjem nå, og det er sent.");
    expect(await check()).toContain("Passed.");
    await page.getByRole("slider", { name: "Threshold of Language" }).fill("0.3");
    await page.getByText("What Language found is known after a new check.").waitFor();
    await page.getByRole("button", { name: "Check with these thresholds" }).click();
    await page.locator("mark").waitFor();
    expect(await judged()).toMatch(/^Blocked\. 1 of 1 check failed: Language\. [\d.,]+ ms\.$/);
    expect(await page.locator("pre code").textContent()).toContain('"Language": 0.3');
    await page.getByRole("button", { name: "Check with the configured thresholds" }).click();
    await page.getByText("None of 1 check failed.").waitFor();
    // The button that had the focus is gone.
    expect(await page.evaluate("document.activeElement.id")).toBe("result");
    await page.getByLabel("Profile").selectOption("strict");
    await page.getByText("Nothing checked yet.").waitFor();
    await field(page, "Prompt").focus();
    expect(await check()).toContain("Blocked.");
  });

  it("says what checks that only monitor would do", async () => {
    const { page, check } = await open({ input: [zebra(), wordScanner("lion", { name: "Lion", mode: "monitor" })] });
    await page.locator(".check").nth(1).waitFor();
    expect(await page.locator(".check").allTextContents()).toEqual(["ZebraWord · rules", "LionmonitorsWord · rules"]);
    await field(page, "Prompt").fill("A lion");
    expect(await check()).toMatch(/^Passed\. None of 2 checks failed\. Would fail if it were enforced: Lion\./);
    expect(await marks(page)).toEqual(["lion"]);
    expect(await checks(page)).toContain("Lionmonitors would fail");
    await view(page, "Traffic");
    await page.getByText("by checks that monitor").waitFor();
    expect((await rows(page, "Latest decisions"))[0]?.[2]).toBe("Lion (monitors)");
  });

  it("restores an answer from the vault of the latest prompt", async () => {
    const output = buildScanners(parseConfig("output_scanners: [{type: Deanonymize}]")).output;
    const { page, check } = await open({ input: [maskingScanner()], output: [...output, zebra()] });
    await field(page, "Prompt").fill("I am <Ann>.");
    await check();
    await choose(page, "Answer");
    await field(page, "Answer of the model").fill("Hello [VALUE_1], a zebra.");
    await check();
    expect(await page.locator(".rewritten").textContent()).toBe("Hello Ann, a zebra.");
    expect(await marks(page)).toContain("zebra");
  });

  it("checks conversations with tools, and documents", async () => {
    const risk = {
      conversation: {
        risk: { enabled: true, threshold: 0.5 },
        scan: { tool: ["PromptInjection", "Zebra"], tool_definition: ["Zebra"] },
      },
    };
    const { page, check } = await open({ input: [injectionScanner(), zebra()] }, { config: risk });
    await choose(page, "Conversation");
    for (let count = 1; count <= 3; count++) await page.getByRole("button", { name: "Add a message" }).press("Enter");
    expect(await page.evaluate("document.activeElement.labels[0].textContent")).toBe("Text of message 4");
    await page.getByRole("button", { name: "Remove message 4" }).press("Enter");
    expect(await page.evaluate("document.activeElement.labels[0].textContent")).toBe("Text of message 3");
    await page.getByLabel("Role of message 3").selectOption("tool");
    await field(page, "Text of message 1").fill("An old 🦓 zebra, p=0.6");
    await field(page, "Text of message 2").fill("Hello");
    await field(page, "Text of message 3").fill("p=0.99");
    await page.getByText("Tools", { exact: true }).click();
    const tools = field(page, "Definitions of tools, in JSON");
    await tools.fill('{"no": "list"}');
    expect(await check()).toBe("Not checked. The definitions of tools are not a list in JSON.");
    await tools.fill('[{"type": "function", "function": {"name": "f", "description": "of a zebra"}}]');
    const verdict = await check();
    for (const name of ["Zebra (window)", "PromptInjection (tool)", "Zebra (tool definition)"])
      expect(verdict).toContain(name);
    const headings = await page.getByRole("heading", { level: 4 }).allTextContents();
    expect(headings).toEqual([
      "Message 1: user",
      "Message 2: user",
      "Message 3: tool",
      "1 finding elsewhere in the request",
    ]);
    expect(await page.locator(".elsewhere").textContent()).toContain("in tools/0/function/description");
    expect(await tags(page)).toContain("Zebra (window): word");

    await choose(page, "Documents");
    await page.getByRole("button", { name: "Add a document" }).click();
    await field(page, "Text of document 2").fill("A zebra.");
    expect(await check()).toContain("Blocked. 1 of 2 checks failed: Zebra.");
    expect(await marks(page)).toEqual(["zebra"]);
  });

  it("fills in and checks every example", async () => {
    const { page, judged } = await open({ input: [injectionScanner()], output: [zebra()] });
    const examples = page.getByRole("list", { name: "Examples" }).getByRole("button");
    await examples.first().waitFor();
    expect(await examples.count()).toBeGreaterThan(8);
    for (const example of await examples.all()) {
      await example.click();
      await page.locator(".verdict:not(.none)").waitFor();
      expect(await judged()).toMatch(/^Passed\./);
    }
  });

  it("writes the request as code that runs, without the credential", async () => {
    const auth = { type: "http_basic", username: "änna", password: "pass:word" };
    const { page, check } = await open({ input: [zebra()] }, { config: { auth } });
    await field(page, "User name").fill("änna");
    await page.getByLabel("Password", { exact: true }).fill("pass:word");
    await page.keyboard.press("Enter");
    await field(page, "Prompt").fill('It\'s a "zebra" in C:\\new\n☂ 100 % $HOME `x`');
    await check();
    const code = async (language: string) => {
      await choose(page, language);
      return (await page.locator("pre code").textContent()) as string;
    };
    const env = { ...process.env, GUARD_CREDENTIAL: "änna:pass:word" };
    const [curl, typescript, python] = [await code("curl"), await code("TypeScript"), await code("Python")];
    for (const text of [curl, typescript, python]) expect(text).not.toContain("pass:word");
    const outputs = await Promise.all([
      run("bash", ["-c", curl], { env }),
      run(process.execPath, ["--input-type=module", "-e", typescript], { env }),
      run("python3", ["-c", python], { env }),
    ]);
    expect(JSON.parse(outputs[0].stdout)).toMatchObject({ outcome: "blocked", scanners: { Zebra: 1 } });
    for (const { stdout } of outputs.slice(1)) expect(stdout).toMatch(/^blocked \{ ?'?Zebra'?: 1/);
    expect(JSON.parse(await code("Reply"))).toMatchObject({ outcome: "blocked" });
  });

  it("asks for the credential once, stores it nowhere, and shows operators more", async () => {
    const auth = [
      { type: "http_bearer", name: "ops", token: "token-1", may_administer: true },
      { type: "api_key", name: "shop", header: "X-Key", keys: ["key-1"] },
    ];
    const { page, check, context, requests } = await open({ input: [zebra()] }, { config: { auth } });
    await signIn(page, "wrong");
    await page.getByText("The server does not accept this credential.").waitFor();
    expect(await page.evaluate("document.activeElement.id")).toBe("secret");
    await page.getByLabel("Kind of credential").selectOption("API key (X-Key)");
    await page.getByLabel("API key (X-Key)", { exact: true }).fill("key-1");
    await page.keyboard.press("Enter");
    await field(page, "Prompt").fill("A zebra.");
    expect(await check()).toContain("1 of 1 check failed: Zebra.");
    const views = page.getByRole("navigation", { name: "Views" });
    expect(await views.isVisible()).toBe(false);
    await page.getByRole("button", { name: "Sign out" }).click();
    expect(await page.locator("main").textContent()).not.toContain("zebra");
    await signIn(page, "token-1");
    await views.waitFor();
    expect(await views.getByRole("link").allTextContents()).toEqual(["Try", "Traffic", "Config"]);
    expect(await context.cookies()).toEqual([]);
    expect(await page.evaluate("[localStorage.length, sessionStorage.length, location.search]")).toEqual([0, 0, ""]);
    await page.goto(`${page.url().split("#")[0]}#traffic`);
    await page.reload();
    expect(await page.locator("#secret").inputValue()).toBe("");
    expect(requests.join(" ")).not.toContain("token-1");
  });

  it("shows live traffic by minute, scanner, source and credential, and pauses", async () => {
    const auth = [
      { type: "http_bearer", name: "ops", token: "token-1", may_administer: true },
      { type: "http_bearer", name: "shop", token: "token-2" },
    ];
    const { page, post } = await open({ input: [zebra()] }, { config: { auth } });
    const shop = { authorization: "Bearer token-2" };
    await page.clock.install();
    await signIn(page, "token-1");
    await view(page, "Traffic");
    await page.getByText("No scans in this time.").waitFor();
    await post("/scan/prompt", { prompt: "Good morning" }, shop);
    await post("/scan/prompt", { prompt: "A zebra" }, shop);
    await post("/scan/prompt", { prompt: "A zebra" }, { authorization: "Bearer wrong" });
    await page.clock.runFor(5000);
    await page.getByText("2 scans in 60 minutes").waitFor();
    expect(await page.locator(".tile").allTextContents()).toEqual([
      "Scans2 texts, conversations, answers",
      "Passed1 50% of scans",
      "Masked0 0% of scans",
      "Blocked1 50% of scans",
      "Errors1 requests without a decision",
    ]);
    expect((await rows(page, "Checks by scanner"))[0]?.slice(0, 3)).toEqual(["Zebra input", "2", "1 (50%)"]);
    expect(await rows(page, "By source")).toEqual([["Users", "1", "1"]]);
    expect(await rows(page, "By credential")).toEqual([["shop", "1", "0", "1"]]);
    expect(await rows(page, "Errors by status")).toEqual([["401", "No valid credential", "1"]]);
    expect((await rows(page, "Latest decisions")).map(([, outcome, failed]) => [outcome, failed])).toEqual([
      ["blocked", "Zebra"],
      ["passed", "–"],
    ]);
    await page.getByText("Figures by minute").click();
    const figures = await rows(page, "Figures by minute");
    expect(figures.reduce((sum, [, passed]) => sum + Number(passed), 0)).toBe(1);
    await page.getByRole("button", { name: "Pause" }).click();
    await post("/scan/prompt", { prompt: "Good evening" }, shop);
    await page.clock.runFor(20_000);
    expect(await page.getByText("2 scans in 60 minutes").isVisible()).toBe(true);
    await page.getByRole("button", { name: "Resume" }).click();
    await page.getByText("3 scans in 60 minutes").waitFor();
    expect(await page.locator("details[open] summary").textContent()).toBe("Figures by minute");
    await choose(page, "15 minutes");
    await page.getByText("3 scans in 15 minutes").waitFor();
  });

  it.skipIf(skipsRedis)("says of how many instances the traffic is, and when Redis does not respond", async () => {
    const redis = new RedisServer();
    await redis.start();
    onTestFinished(() => redis.close());
    const config = { traffic: { redis: { url: redis.url, timeout: 5 } } };
    const other = await testServer({ input: [zebra()] }, config);
    const { page, post } = await open({ input: [zebra()] }, { config });
    await post("/scan/prompt", { prompt: "A zebra" });
    await other.post("/scan/prompt", { prompt: "A cat" });
    await view(page, "Traffic");
    await page.getByText("Counts of 2 instances.").waitFor();
    await page.getByText("2 scans in 60 minutes").waitFor();
    await redis.kill();
    await page.getByText("These are the counts of this instance alone.").waitFor();
    await page.getByText("1 scan in 60 minutes").waitFor();
    await redis.start();
    await page.getByText("2 scans in 60 minutes").waitFor();
  });

  describe("with texts in review", () => {
    const auth = [
      { type: "http_bearer", name: "desk", token: "token-1", may_review: true },
      { type: "http_bearer", name: "shop", token: "token-2" },
    ];
    const shop = { authorization: "Bearer token-2" };
    const openReviews = async (options: Parameters<Browser["newContext"]>[0] = {}) => {
      const opened = await open({ input: [reviewingScanner()] }, { config: { auth }, ...options });
      const { page, post } = opened;
      await post("/scan/prompt", { prompt: "<b>Start</b> again, p=0.7" }, shop);
      await post("/scan/prompt", { prompt: `And with ${"x".repeat(200)} p=0.8` }, shop);
      await signIn(page, "token-1");
      await view(page, "Review");
      await page.getByText("2 texts wait for a decision. They are lost when the server ends.").waitFor();
      return opened;
    };
    const cards = (page: Page) => page.locator(".card.review");

    it("decides about them with the keyboard, and keeps what somebody writes", async () => {
      const { page, post, verdict } = await openReviews();
      expect(await page.getByRole("navigation", { name: "Views" }).getByRole("link").allTextContents()).toEqual([
        "Try",
        "Review",
      ]);
      expect(await cards(page).locator("h3").allTextContents()).toEqual([
        expect.stringMatching(/^PromptInjection: 0\.70 \(rv-[0-9a-f]{6}\)$/),
        expect.stringMatching(/^PromptInjection: 0\.80 \(rv-/),
      ]);
      expect(await cards(page).first().locator("pre").textContent()).toBe("<b>Start</b> again, p=0.7");
      expect(await cards(page).first().locator("dd").allTextContents()).toEqual(
        expect.arrayContaining(["user", "shop", expect.stringContaining("ago")]),
      );
      const reason = cards(page).first().getByRole("textbox", { name: "Reason" });
      await cards(page).first().getByRole("button", { name: "Approve" }).press("Enter");
      expect(await page.locator("input:invalid").count()).toBe(2);
      expect(await page.evaluate("document.activeElement.type")).toBe("text");
      await cards(page).nth(1).getByRole("textbox", { name: "Reason" }).fill("not sure yet");
      await reason.fill("a recipe");
      await reason.press("Enter");
      await page.getByText("Approved: the text that PromptInjection had found doubtful.").waitFor();
      expect(await page.evaluate("document.activeElement.getAttribute('role')")).toBe("status");
      await page.getByText("1 text waits for a decision.").waitFor();
      expect(await cards(page).getByRole("textbox", { name: "Reason" }).inputValue()).toBe("not sure yet");
      const reply = await post("/scan/prompt", { prompt: "<b>Start</b> again, p=0.7" }, shop);
      expect(await reply.json()).toMatchObject({ is_valid: true });
      await cards(page).getByRole("button", { name: "Reject" }).press("Enter");
      await page.getByText("Rejected: the text").waitFor();
      await page.getByText("desk: not sure yet").waitFor();
      expect(await cards(page).getByRole("button").allTextContents()).toEqual(["Approve"]);
      await view(page, "Try");
      await field(page, "Prompt").fill("Another one, p=0.7");
      await page.keyboard.press("Control+Enter");
      await verdict.filter({ hasText: "In review. A person has to approve it first: PromptInjection (rv-" }).waitFor();
      expect(await checks(page)).toEqual(["PromptInjection review 0.70"]);
      await field(page, "Prompt").fill(`And with ${"x".repeat(200)} p=0.8`);
      await page.keyboard.press("Control+Enter");
      await verdict.filter({ hasText: "Blocked. A person has rejected it." }).waitFor();
    });

    it.each(SCHEMES)("is accessible in %s colours, and fits a narrow screen", async (colorScheme) => {
      const { page } = await openReviews({ colorScheme, viewport: { width: 320, height: 800 } });
      const rules = colorScheme === "dark" ? '{ runOnly: ["color-contrast"] }' : "{}";
      expect(await violations(page, rules)).toEqual([]);
      expect(await page.evaluate("document.documentElement.scrollWidth")).toBeLessThanOrEqual(320);
      await cards(page).first().getByRole("textbox", { name: "Reason" }).fill("no");
      await cards(page).first().getByRole("button", { name: "Reject" }).click();
      await page.getByText("desk: no").waitFor();
      expect(await violations(page, rules)).toEqual([]);
    });
  });

  it("shows the configuration and its warnings", async () => {
    const { page } = await open({ input: [gradedScanner(0.25)] }, { config: { app: { selfTestInterval: 0 } } });
    await view(page, "Config");
    expect(await rows(page, "Scanners, default: input")).toEqual([["Graded", "0.25", "rules", "user"]]);
    expect(await rows(page, "Settings")).toContainEqual(["app.self_test_interval", "0"]);
    await page.getByText("→ remove it, which means 300 seconds").waitFor();
    await page.getByText("no output scanners: every output passes").waitFor();
    expect(await page.title()).toBe("Config – LLM Guard API");
    await page.goBack();
    await page.getByRole("heading", { name: "Try a text" }).waitFor();
  });

  it("shows errors of the server", async () => {
    const { page, verdict, check, server } = await open(
      { input: [zebra()] },
      { config: { app: { maxBodySize: 1024 } } },
    );
    await field(page, "Prompt").fill("x".repeat(2000));
    expect(await check()).toBe(
      "Not checked. 413 Payload Too Large: The body has more than 1024 bytes (app.max_body_size).",
    );
    await server.close();
    await page.keyboard.press("Control+Enter");
    await verdict.filter({ hasText: "The server cannot be reached" }).waitFor();
    await view(page, "Config");
    await page.getByRole("button", { name: "Try again" }).waitFor();
  });

  it.each(SCHEMES)("is accessible in %s colours", async (colorScheme) => {
    const auth = { type: "http_basic", name: "ops", username: "u", password: "p", may_administer: true };
    const names = Array.from({ length: 8 }, (_, index) => `Scanner ${index}`);
    const { page, check } = await open(
      {
        input: [
          ...names.map((name, index) => wordScanner(`word${index}`, { name })),
          wordScanner("Ann", { name: "Mask", replacement: "[NAME]", vaultScope: "call" }),
          gradedScanner(0.5),
        ],
      },
      { config: { auth }, colorScheme },
    );
    // The structure does not depend on the colours.
    const rules = colorScheme === "dark" ? '{ runOnly: ["color-contrast"] }' : "{}";
    expect(await violations(page, rules)).toEqual([]);
    await field(page, "User name").fill("u");
    await page.getByLabel("Password", { exact: true }).fill("p");
    await page.keyboard.press("Enter");
    await field(page, "Prompt").fill(`${names.map((_, index) => `word${index}`).join(" ")} Ann p=0.7`);
    await check();
    expect(await marks(page)).toHaveLength(10);
    await page.getByRole("slider").fill("0.9");
    expect(await violations(page, rules)).toEqual([]);
    await choose(page, "Conversation");
    await field(page, "Text of message 1").fill("Ann");
    expect(await check()).toContain("Masked.");
    if (colorScheme === "light") expect(await violations(page, rules)).toEqual([]);
    for (const name of ["Traffic", "Config"]) {
      await view(page, name);
      await page.locator("table:visible").first().waitFor();
      expect(await violations(page, rules)).toEqual([]);
    }
  });

  it("has landmarks, headings, names and live regions for screen readers", async () => {
    const { page, check } = await open({ input: [zebra()] });
    await field(page, "Prompt").fill("A zebra.");
    await check();
    const snapshot = await page.locator("body").ariaSnapshot();
    const inOrder = [
      'link "Skip to the content"',
      "banner:",
      'heading "LLM Guard API" [level=1]',
      'navigation "Views":',
      'link "Try"',
      "main:",
      'heading "Try a text" [level=2]',
      'form "Text to check":',
      'group "What to check"',
      'radio "Prompt" [checked]',
      'textbox "Prompt": A zebra.',
      'button "Check"',
      'region "Result":',
      "status:",
      "Blocked.",
      'region "Findings":',
      'heading "Findings" [level=3]',
      "mark: ",
      'region "Checks":',
      'region "Coverage":',
      'region "Use it in your code":',
      'button "Copy"',
      "contentinfo:",
    ];
    let from = 0;
    for (const line of inOrder) {
      const at = snapshot.indexOf(line, from);
      expect(at, `${line} in ${snapshot}`).toBeGreaterThanOrEqual(from);
      from = at + line.length;
    }
    expect(await page.getByRole("heading", { level: 1 }).count()).toBe(1);
  });

  it("fits a narrow screen, and text of twice the size", async () => {
    const { page, check } = await open(
      { input: [zebra(), gradedScanner(0.5)] },
      { viewport: { width: 320, height: 800 }, config: { app: { name: `A ${"long ".repeat(12)}name` } } },
    );
    const width = () => page.evaluate("document.documentElement.scrollWidth");
    await field(page, "Prompt").fill(`A zebra. ${"x".repeat(300)}`);
    await check();
    expect(await width()).toBeLessThanOrEqual(320);
    for (const name of ["Traffic", "Config"]) {
      await view(page, name);
      await page.locator("table:visible").first().waitFor();
      expect(await width(), name).toBeLessThanOrEqual(320);
    }
    await page.setViewportSize({ width: 640, height: 800 });
    await page.evaluate("document.documentElement.style.fontSize = '200%'");
    for (const name of ["Traffic", "Try", "Config"]) {
      await view(page, name);
      expect(await width(), name).toBeLessThanOrEqual(640);
    }
  });

  it("loads within two seconds, with at most 150 kB", async () => {
    const { page, server } = await open({});
    const start = performance.now();
    await page.goto(server.url);
    await page.getByText("Nothing checked yet.").waitFor();
    expect(performance.now() - start).toBeLessThan(2000);
    const bytes = await page.evaluate<number>(
      "performance.getEntries().reduce((sum, { encodedBodySize = 0 }) => sum + encodedBodySize, 0)",
    );
    expect(bytes).toBeLessThan(150_000);
  });
});
