import { readFileSync } from "node:fs";
import { mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { afterEach, describe, expect, it, onTestFinished, vi } from "vitest";
import type { ConfigInput } from "../../src/config/index.ts";
import { createServer } from "../../src/server/index.ts";
import { scannerOf, testServer, waitingScanner, wordScanner } from "./fixtures.ts";

const KEY = "ab".repeat(32);
const TEXT = "The zebra of our logo.";

const exception = (more: object = {}) => ({
  scanners: ["Word"],
  text: TEXT,
  reason: "our logo",
  expires: "2999-12-31",
  ...more,
});

const auth: ConfigInput["auth"] = [
  { type: "http_bearer", name: "chat", token: "chat" },
  { type: "http_bearer", name: "desk", token: "desk", mayAddExceptions: true },
  { type: "http_bearer", name: "operator", token: "operator", mayAdminister: true },
];
const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

afterEach(() => {
  vi.unstubAllEnvs();
});

async function folder(): Promise<string> {
  const made = await mkdtemp(join(tmpdir(), "exceptions-"));
  onTestFinished(() => rm(made, { recursive: true }));
  return made;
}

/** A server whose scanner fails texts with a zebra. */
async function zebraServer(config: ConfigInput = {}, headers: Record<string, string> = {}) {
  const server = await testServer({ input: [wordScanner("zebra")], output: [wordScanner("zebra")] }, config);
  const remove = (id: string) => server.app.inject({ method: "DELETE", url: `/admin/exceptions/${id}`, headers });
  return {
    ...server,
    add: (body: object) => server.post("/admin/exceptions", body, headers),
    list: async () => (await server.get("/admin/exceptions", headers)).json(),
    remove,
    isValid: async (prompt: string) => (await server.post("/scan/prompt", { prompt }, headers)).json().is_valid,
  };
}

describe("POST /admin/exceptions", () => {
  it("excepts a text at once, until it is removed", async () => {
    const { add, remove, list, isValid, post, get } = await zebraServer();
    expect(await isValid(TEXT)).toBe(false);
    const reply = await add(exception());
    expect(reply.statusCode).toBe(201);
    const added = reply.json();
    expect(added).toMatchObject({
      scanners: ["Word"],
      reason: "our logo",
      expired: false,
      origin: "run time",
      created_by: null,
    });
    expect(added.text_hash).toMatch(/^hmac-sha256:/);
    expect(reply.body).not.toContain("zebra");
    expect(await isValid(TEXT)).toBe(true);
    expect(await isValid(`${TEXT} And another zebra.`)).toBe(false);
    const { checks } = (await post("/analyze/prompt", { prompt: TEXT, details: true })).json();
    expect(checks[0]).toMatchObject({
      is_valid: true,
      outcome: "passed",
      excepted: [{ id: added.id, reason: "our logo", score: 1, findings: [{ start: 4, end: 9 }] }],
    });
    expect((await get("/metrics")).body).toContain(
      `guard_exceptions_total{source="input",scanner="Word",exception="${added.id}",valid="true"} 2`,
    );
    expect(await list()).toEqual({ kept: "memory", exceptions: [added] });
    expect((await remove(added.id)).statusCode).toBe(204);
    expect(await isValid(TEXT)).toBe(false);
    expect((await remove(added.id)).statusCode).toBe(404);
  });

  it("applies in conversations, to later turns too", async () => {
    const { add, post } = await zebraServer();
    const scanner = "zebra";
    const messages = [
      { role: "user", content: TEXT },
      { role: "assistant", content: "A nice one." },
      { role: "user", content: "Thanks." },
    ];
    await add(exception());
    for (const end of [1, 3]) {
      const reply = await post("/scan/conversation", { messages: messages.slice(0, end) });
      expect(reply.json().is_valid).toBe(true);
    }
    const other = await post("/scan/conversation", { messages: [...messages, { role: "user", content: scanner }] });
    expect(other.json().is_valid).toBe(false);
  });

  it("applies to checks that only monitor", async () => {
    const { add, post } = await zebraServer({ app: { mode: "monitor" } });
    const scan = async () => (await post("/scan/prompt", { prompt: TEXT, details: true })).json();
    const [check] = (await scan()).checks;
    expect(check).toMatchObject({ mode: "monitor", is_valid: false });
    await add(exception());
    const [excepted] = (await scan()).checks;
    expect(excepted).toMatchObject({ mode: "monitor", is_valid: true, excepted: [{ reason: "our logo" }] });
  });

  it("renews the exception with the same conditions", async () => {
    const { add, list } = await zebraServer();
    const soon = Date.now() + 300;
    await add(exception({ expires: new Date(soon).toISOString() }));
    await setTimeout(soon - Date.now() + 1);
    expect((await list()).exceptions[0].expired).toBe(true);
    await add(exception());
    const { exceptions } = await list();
    expect(exceptions).toHaveLength(1);
    expect(exceptions[0]).toMatchObject({ expired: false, expires: "2999-12-31" });
  });

  it.each([
    [{ scanners: ["Wort"] }, "/scanners/0", /unknown name; did you mean Word/],
    [{ expires: "tomorrow" }, "/expires", /date/],
    [{ expires: "2020-01-01" }, "/expires", /in the past/],
    [{ text: undefined }, "", /what it excepts/],
    [{ text: undefined, pattern: "(" }, "/pattern", /./],
    [{ text: undefined, pattern: ".*" }, "/pattern", /empty text/],
    [{ substring: "zebra" }, "/substring", /cannot be combined with text/],
    [{ text: undefined, text_hash: `hmac-sha256:${"0".repeat(64)}` }, "/text_hash", /GUARD_EXCEPTIONS_KEY/],
    [{ credentials: ["chat"] }, "/credentials/0", /unknown name/],
    [{ reason: undefined }, "/reason", /required/],
    [{ note: "x" }, "", /additional properties/],
  ])("refuses %j", async (more, pointer, detail) => {
    const { add } = await zebraServer();
    const reply = await add(exception(more));
    expect(reply.statusCode).toBe(422);
    expect(reply.json().errors[0]).toMatchObject({ pointer, detail: expect.stringMatching(detail) });
  });

  it("takes hashes of the command line if the server has their key", async () => {
    vi.stubEnv("GUARD_EXCEPTIONS_KEY", KEY);
    const { add, isValid } = await zebraServer();
    const { text_hash } = (await add(exception())).json();
    const { id } = (await add(exception({ id: "by-hash", text: undefined, text_hash }))).json();
    expect(id).toBe("by-hash");
    expect(await isValid(TEXT)).toBe(true);
  });

  it("needs a right of its own", async () => {
    const { post, get, app } = await zebraServer({ auth });
    for (const token of ["chat", "operator"]) {
      const headers = bearer(token);
      expect((await post("/admin/exceptions", exception(), headers)).statusCode).toBe(403);
      expect((await get("/admin/exceptions", headers)).statusCode).toBe(403);
      const reply = await app.inject({ method: "DELETE", url: "/admin/exceptions/x", headers });
      expect(reply.statusCode).toBe(403);
    }
    const added = await post("/admin/exceptions", exception({ credentials: ["chat"] }), bearer("desk"));
    expect(added.json()).toMatchObject({ created_by: "desk", credentials: ["chat"] });
    const isValid = async (token: string) =>
      (await post("/scan/prompt", { prompt: TEXT }, bearer(token))).json().is_valid;
    expect(await isValid("chat")).toBe(true);
    expect(await isValid("desk")).toBe(false);
  });

  it("does not change exceptions of the configuration", async () => {
    const own = {
      id: "own",
      scanners: ["Word"],
      substring: "zebra crossing",
      reason: "traffic",
      expires: "2999-01-01",
    };
    const { add, remove, list, isValid } = await zebraServer({ allow: [own] });
    expect(await isValid("The zebra crossing.")).toBe(true);
    expect(await list()).toMatchObject({ exceptions: [{ id: "own", origin: "configuration", profiles: ["default"] }] });
    expect((await remove("own")).statusCode).toBe(409);
    expect((await add(exception({ id: "own" }))).statusCode).toBe(422);
  });
});

describe("a cache of results", () => {
  it("has no stale results when exceptions change", async () => {
    const { add, remove, post } = await zebraServer({ cache: { enabled: true } });
    const scan = async () => {
      const { is_valid, cache } = (await post("/scan/prompt", { prompt: TEXT, details: true })).json();
      return [is_valid, cache];
    };
    expect(await scan()).toEqual([false, "miss"]);
    expect(await scan()).toEqual([false, "hit"]);
    const { id } = (await add(exception())).json();
    expect(await scan()).toEqual([true, "miss"]);
    expect(await scan()).toEqual([true, "hit"]);
    await remove(id);
    expect(await scan()).toEqual([false, "hit"]);
  });

  it("keeps no result of a scan during which exceptions changed, and no request joins it", async () => {
    const { scanner, started, release } = waitingScanner();
    let calls = 0;
    const slow = scannerOf("Word", async (text, context) => {
      calls++;
      if (calls === 1) await scanner.scan(text, context);
      return wordScanner("zebra").scan(text, context) as never;
    });
    const { post, app } = await testServer({ input: [slow] }, { cache: { enabled: true } });
    const scan = async () => (await post("/scan/prompt", { prompt: TEXT, details: true })).json();
    const first = scan();
    await started;
    const { id } = (await post("/admin/exceptions", exception())).json();
    expect(await scan()).toMatchObject({ is_valid: true, cache: "miss" });
    await app.inject({ method: "DELETE", url: `/admin/exceptions/${id}` });
    const third = await scan();
    expect(third).toMatchObject({ is_valid: false, cache: "miss" });
    release();
    await first;
    expect(await scan()).toMatchObject({ is_valid: false });
  });
});

describe("the audit log", () => {
  it("has what was excepted, and who changed exceptions", async () => {
    vi.stubEnv("GUARD_AUDIT_KEY", KEY);
    const file = join(await folder(), "audit.jsonl");
    const { app, post } = await zebraServer({ auth, audit: { to: "file", file } });
    const desk = bearer("desk");
    const { id } = (
      await post("/admin/exceptions", exception({ text: undefined, substring: "zebra of our" }), desk)
    ).json();
    await post("/scan/prompt", { prompt: TEXT }, bearer("chat"));
    await post("/scan/documents", { documents: [TEXT] }, bearer("chat"));
    await app.inject({ method: "DELETE", url: `/admin/exceptions/${id}`, headers: desk });
    await app.close();
    const text = await readFile(file, "utf8");
    const [added, scanned, documents, removed] = text
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(added).toMatchObject({
      event: "exception_added",
      credential: "desk",
      exception: { id, passage: "substring", reason: "our logo" },
    });
    expect(scanned).toMatchObject({
      valid: true,
      excepted: [{ exception: id, scanner: "Word", valid: true, score: 1, findings: 1 }],
    });
    expect(documents).toMatchObject({ valid: true });
    expect(removed).toMatchObject({ event: "exception_removed", exception: { id } });
    expect(text).not.toContain("zebra of our");
  });
});

describe("exceptions.file", () => {
  it("keeps exceptions over a restart, and shares them with other servers", async () => {
    vi.stubEnv("GUARD_EXCEPTIONS_KEY", KEY);
    const file = join(await folder(), "exceptions.json");
    const config = { exceptions: { file } };
    const first = await zebraServer(config);
    const second = await zebraServer(config);
    const { id } = (await first.add(exception())).json();
    if (process.platform !== "win32") expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect(readFileSync(file, "utf8")).not.toContain("zebra");
    expect((await first.list()).kept).toBe("file");
    await vi.waitFor(async () => expect(await second.isValid(TEXT)).toBe(true), 5000);
    await first.app.close();
    const restarted = await zebraServer(config);
    expect(await restarted.isValid(TEXT)).toBe(true);
    expect(restarted.log.join("")).toContain("exceptions that were added at run time are in effect");
    await restarted.remove(id);
    expect(await restarted.isValid(TEXT)).toBe(false);
    await vi.waitFor(async () => expect(await second.isValid(TEXT)).toBe(false), 5000);
  });

  it("keeps what concurrent requests add", async () => {
    vi.stubEnv("GUARD_EXCEPTIONS_KEY", KEY);
    const config = { exceptions: { file: join(await folder(), "exceptions.json") } };
    const servers = [await zebraServer(config), await zebraServer(config)];
    const texts = Array.from({ length: 12 }, (_, index) => `zebra ${index}`);
    const replies = await Promise.all(texts.map((text, index) => servers[index % 2]?.add(exception({ text }))));
    expect(replies.map((reply) => reply?.statusCode)).toEqual(texts.map(() => 201));
    for (const server of servers) expect((await server.list()).exceptions).toHaveLength(12);
  });

  it("needs a key, and a file that can be read", async () => {
    const file = join(await folder(), "exceptions.json");
    const create = () => createServer({ inputScanners: [{ type: "InvisibleText" }], exceptions: { file } });
    vi.stubEnv("GUARD_EXCEPTIONS_KEY", "");
    await expect(create()).rejects.toThrow(/GUARD_EXCEPTIONS_KEY.*exceptions\.file/);
    vi.stubEnv("GUARD_EXCEPTIONS_KEY", KEY);
    await writeFile(file, "{}");
    const app = await create();
    onTestFinished(() => app.close());
    await expect(app.ready()).rejects.toThrow(/exceptions\.file/);
  });
});

describe("the start", () => {
  it("says that exceptions are kept only in memory, if a credential may add some", async () => {
    const { log } = await zebraServer({ auth });
    expect(log.join("")).toContain("exceptions that are added at run time are kept in memory only");
  });
});
