import { execFile } from "node:child_process";
import { appendFile, mkdtemp, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { AuditFile, rotatedFiles } from "../../../src/audit/audit-file.ts";
import { AuditLog } from "../../../src/audit/audit-log.ts";
import { checkChain } from "../../../src/audit/chain.ts";
import { readAuditKey } from "../../../src/audit/keys.ts";
import type { ConfigInput } from "../../../src/config/index.ts";
import { testServer, wordScanner } from "../fixtures.ts";

const KEY = "ab".repeat(32);

async function folder(): Promise<string> {
  const made = await mkdtemp(join(tmpdir(), "audit-"));
  onTestFinished(() => rm(made, { recursive: true }));
  return made;
}

const recordsOf = async (file: string) =>
  (await readFile(file, "utf8"))
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));

function withKey(): Uint8Array {
  vi.stubEnv("GUARD_AUDIT_KEY", KEY);
  onTestFinished(() => void vi.unstubAllEnvs());
  return readAuditKey(process.env)?.chain as Uint8Array;
}

const auditTo = (file: string, more: object = {}): ConfigInput => ({ audit: { to: "file" as const, file, ...more } });

describe("the audit log of a server", () => {
  it("records every decision, and quotes no text", async () => {
    const key = withKey();
    const file = join(await folder(), "audit.jsonl");
    const { post, app } = await testServer(
      { input: [wordScanner("zebra")] },
      { ...auditTo(file), dialects: ["lakera"] },
    );
    await post("/analyze/prompt", { prompt: "a zebra in Kraków" });
    await post("/scan/prompt", { prompt: "a zebra in Kraków" });
    await post("/scan/output/stream", { prompt: "Kraków?", output: ["yes"] });
    await post("/v2/guard", { messages: [{ role: "user", content: "hello Kraków" }] });
    await post("/scan/prompt", {});
    await app.close();
    const records = await recordsOf(file);
    expect(records.map(({ route, valid, outcome, side }) => [route, valid, outcome, side])).toEqual([
      ["/analyze/prompt", false, "blocked", "input"],
      ["/scan/prompt", false, "blocked", "input"],
      ["/scan/output/stream", true, "passed", "output"],
      ["/v2/guard", true, "passed", "input"],
    ]);
    expect(records[0]).toMatchObject({
      seq: 1,
      profile: "default",
      scores: { Word: 1 },
      findings: [{ scanner: "Word", type: "word", score: 1, start: 2, end: 7 }],
      unit: "code_point",
    });
    // The hash depends on the text only, not on the route.
    expect(records[0].text).toBe(records[1].text);
    expect(new Set(records.map(({ text }) => text)).size).toBe(3);
    const text = await readFile(file, "utf8");
    expect(text).not.toMatch(/zebra|Kraków|yes|hello/);
    expect(await checkChain(text.split("\n"), key)).toEqual({ records: 4, faults: [], first: 1, last: 4, lost: 0 });
  });

  it("records what the model reads from elsewhere and fields that nothing reads, and continues files without them", async () => {
    const key = withKey();
    const file = join(await folder(), "audit.jsonl");
    const earlier = new AuditLog({ sink: new AuditFile({ file, maxSize: 100_000, keep: 1 }), key });
    await earlier.record({ valid: true, coverage: { chars: 2, scanned_chars: 2, truncated: false, parts_skipped: 0 } });
    await earlier.close();
    const { post, app } = await testServer({ input: [wordScanner("zebra")] }, auditTo(file));
    const messages = [{ role: "user", content: "Please summarise that." }];
    await post("/analyze/conversation", { messages, fields: { previous_response_id: "resp_1" } });
    await post("/analyze/prompt", { prompt: "hello", colour_of_text: "Kraków" });
    await post("/analyze/prompt", { prompt: "hello" });
    await app.close();
    const [, ...records] = await recordsOf(file);
    expect(records.map(({ coverage }) => [coverage.state_elsewhere, coverage.unknown_fields])).toEqual([
      [["previous_response_id"], []],
      [[], ["colour_of_text"]],
      [[], []],
    ]);
    const text = await readFile(file, "utf8");
    expect(text).not.toContain("Kraków");
    expect(await checkChain(text.split("\n"), key)).toMatchObject({ records: 4, faults: [] });
  });

  it("rejects a request whose decision it cannot record and counts it, or passes it with on_failure: allow", async () => {
    const gone = join(await folder(), "nowhere", "audit.jsonl");
    const strict = await testServer({ input: [wordScanner("x")] }, auditTo(gone));
    const refused = await strict.post("/scan/prompt", { prompt: "fine" });
    expect([refused.statusCode, refused.json().detail]).toEqual([503, "The decision could not be recorded."]);
    expect((await strict.get("/metrics")).body).toContain("guard_audit_lost_total 1");
    expect((await strict.get("/healthz")).statusCode).toBe(200);
    const lax = await testServer({ input: [wordScanner("x")] }, auditTo(gone, { onFailure: "allow" }));
    expect((await lax.post("/scan/prompt", { prompt: "x" })).json().is_valid).toBe(false);
    expect((await lax.get("/metrics")).body).toContain("guard_audit_lost_total 1");
  });

  it("writes to standard output between the lines of the log", async () => {
    const key = withKey();
    const { post, log } = await testServer({ input: [wordScanner("x")] }, { audit: { to: "stdout" } });
    await post("/scan/prompt", { prompt: "a" });
    await post("/scan/prompt", { prompt: "b" });
    const lines = log.join("").split("\n");
    expect(await checkChain(lines, key, { allowsOtherLines: true })).toMatchObject({ records: 2, faults: [] });
    expect((await checkChain(lines, key)).faults.map(({ message }) => message)).toContain("is not a record");
  });

  it.each([
    [{ to: "file" }, "audit.file"],
    [{ to: "stdout", file: "x" }, "audit.file"],
    [{ to: "file", file: "x", endpoint: "http://x" }, "audit.endpoint"],
    [{ to: "syslog" }, "audit.to"],
  ])("rejects contradictory settings: %j", async (audit, path) => {
    await expect(testServer({}, { audit } as ConfigInput)).rejects.toMatchObject({ path });
  });
});

describe("a chain of records", () => {
  async function written(count: number, options: { maxSize?: number; keep?: number } = {}) {
    const file = join(await folder(), "audit.jsonl");
    const log = logOf(file, options);
    for (let index = 0; index < count; index++) await log.record({ index });
    await log.close();
    return file;
  }
  function logOf(file: string, { maxSize = 1e6, keep = 100 } = {}) {
    const sink = new AuditFile({ file, maxSize, keep });
    return new AuditLog({ sink, key: undefined });
  }
  const check = async (file: string) => checkChain((await readFile(file, "utf8")).split("\n"), undefined);
  it("is faulty if its first records are missing, unless they were deleted on purpose", async () => {
    const lines = (await readFile(await written(5), "utf8")).split("\n").slice(2);
    expect((await checkChain(lines, undefined)).faults).toEqual([
      {
        line: 1,
        message:
          "has the number 3, not 1: 2 records are missing before it; if older files were deleted, pass --first 3",
      },
    ]);
    expect((await checkChain(lines, undefined, { first: 3 })).faults).toEqual([]);
  });

  it("is faulty if another line is in its file", async () => {
    const lines = (await readFile(await written(2), "utf8")).split("\n");
    for (const line of ['{"msg": "nothing happened"}', '{"index":1,"seq":2}', "x"]) {
      const { faults, records } = await checkChain([lines[0] as string, line, ...lines.slice(1)], undefined);
      expect([records, faults]).toEqual([2, [{ line: 2, message: "is not a record" }]]);
    }
  });

  const edit = async (file: string, change: (lines: string[]) => string[]) =>
    writeFile(file, change((await readFile(file, "utf8")).split("\n")).join("\n"));

  it("reveals each record that was changed, removed, inserted or moved", async () => {
    const changes: [(lines: string[]) => string[], string][] = [
      [(lines) => lines.with(2, (lines[2] as string).replace('"index":2', '"index":7')), "was changed"],
      [(lines) => lines.toSpliced(2, 1), "has the number 4 after 2: 1 record is missing"],
      [(lines) => lines.toSpliced(1, 3), "has the number 5 after 1: 3 records are missing"],
      [(lines) => lines.toSpliced(3, 0, lines[2] as string), "has the number 3 after 3"],
      [(lines) => lines.with(3, (lines[3] as string).slice(0, 40)), "is not a complete record"],
    ];
    for (const [change, message] of changes) {
      const file = await written(6);
      expect((await check(file)).faults).toEqual([]);
      await edit(file, change);
      expect((await check(file)).faults[0]?.message).toContain(message);
    }
  });

  it("continues after a restart, and after a record that was truncated by a crash", async () => {
    const file = await written(3);
    const log = logOf(file);
    await log.record({ again: true });
    await log.close();
    expect(await check(file)).toMatchObject({ records: 4, faults: [], last: 4 });
    await appendFile(file, '{"seq":5,"prev":"00');
    const next = logOf(file);
    await next.record({ again: true });
    await next.close();
    expect(await check(file)).toMatchObject({ records: 5, last: 5, faults: [{ message: "is not a complete record" }] });
  });

  it("continues over rotated files, and keeps the configured number of them", async () => {
    const file = await written(200, { maxSize: 4096, keep: 3 });
    const files = (await readdir(join(file, ".."))).sort();
    expect(files).toEqual(["audit.jsonl", "audit.jsonl.1", "audit.jsonl.2", "audit.jsonl.3"]);
    const texts = await Promise.all([3, 2, 1].map((number) => readFile(`${file}.${number}`, "utf8")));
    const lines = [...texts, await readFile(file, "utf8")].join("").split("\n");
    const first = JSON.parse(lines[0] as string).seq;
    expect(await checkChain(lines, undefined, { first })).toMatchObject({ faults: [], last: 200 });
    const verify = ["dist/cli/main.js", "audit", "verify", file, "--first", String(first)];
    const env = { ...process.env, GUARD_AUDIT_KEY: "" };
    const { stdout } = await promisify(execFile)(process.execPath, verify, { env });
    expect(stdout).toMatch(/^\d+ records \(\d+ to 200\) in 4 files: whole\n$/);
  });

  it("continues after a rotation that was interrupted between two files", async () => {
    const options = { maxSize: 1024, keep: 100 };
    const file = await written(40, options);
    const before = await rotatedFiles(file);
    expect(before.length).toBeGreaterThan(4);
    for (const { path, number } of before.filter(({ number }) => number > 2))
      await rename(path, `${file}.${number + 1}`);
    const linesOf = async () => {
      const paths = [...(await rotatedFiles(file)).map(({ path }) => path), file];
      return (await Promise.all(paths.map((path) => readFile(path, "utf8")))).join("").split("\n");
    };
    expect(await checkChain(await linesOf(), undefined)).toMatchObject({ faults: [], first: 1, last: 40 });
    const log = logOf(file, options);
    for (let index = 0; index < 20; index++) await log.record({ index });
    await log.close();
    expect(await checkChain(await linesOf(), undefined)).toMatchObject({ faults: [], first: 1, last: 60 });
    const numbers = (await rotatedFiles(file)).map(({ number }) => number);
    expect(numbers).toEqual(numbers.map((_, index) => numbers.length - index));
  });

  it("writes concurrent records together, in order", async () => {
    const file = join(await folder(), "audit.jsonl");
    const log = logOf(file);
    await Promise.all(Array.from({ length: 500 }, (_, index) => log.record({ index })));
    await log.close();
    expect((await recordsOf(file)).map(({ index }) => index)).toEqual(Array.from({ length: 500 }, (_, index) => index));
    expect(await check(file)).toMatchObject({ records: 500, faults: [] });
  });

  it("rejects a file that another process writes to or moves, and later records the number of lost decisions", async () => {
    const file = join(await folder(), "audit.jsonl");
    const sink = new AuditFile({ file, maxSize: 1e6, keep: 1 });
    const log = new AuditLog({ sink, key: undefined });
    await log.record({ first: true });
    await rename(file, `${file}.moved`);
    await expect(log.record({ second: true })).rejects.toMatchObject({ code: "GUARD_UNAVAILABLE" });
    await rename(`${file}.moved`, file);
    await log.record({ third: true });
    await log.close();
    expect((await recordsOf(file))[1]).toMatchObject({ seq: 2, lost: 1, third: true });
    expect(await check(file)).toMatchObject({ records: 2, faults: [], lost: 1 });
  });
});
