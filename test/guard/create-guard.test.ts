import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { createGuard, type Guard, type GuardOptions, input, output, Vault } from "../../src/index.ts";
import { wordScanner } from "../server/fixtures.ts";

async function guardOf(options: GuardOptions): Promise<Guard> {
  const guard = await createGuard(options);
  onTestFinished(() => guard.close());
  return guard;
}

/** The paths and messages of the issues with the options. */
async function faults(options: unknown): Promise<Record<string, string>> {
  const error = await createGuard(options as GuardOptions).then(
    () => expect.fail("it was taken"),
    (error) => error,
  );
  expect(error).toMatchObject({ code: "GUARD_VALIDATION" });
  return Object.fromEntries(
    error.issues.map(({ path, message }: { path: string; message: string }) => [path, message]),
  );
}

const ask = (content: string) => ({ messages: [{ role: "user", content }] });

describe("createGuard", () => {
  it("guards calls by lists of scanners", async () => {
    const guard = await guardOf({
      input: [new input.Anonymize(), wordScanner("zebra")],
      output: [new output.Deanonymize()],
    });
    const call = guard.call();
    const { report, request } = await call.request(ask("Write to ann@example.org."));
    expect(report.outcome).toBe("masked");
    expect(request).toEqual(ask("Write to [REDACTED_EMAIL_ADDRESS_1]."));
    expect(await call.answer({ text: "Done: [REDACTED_EMAIL_ADDRESS_1]" })).toMatchObject({
      text: "Done: ann@example.org",
    });
    expect((await guard.call().request(ask("a zebra"))).report).toMatchObject({
      outcome: "blocked",
      resultsScore: { Word: 1 },
    });
  });

  it("accepts the settings of a service", async () => {
    const masked = await guardOf({ input: [wordScanner("bad", { replacement: "***" })], masking: ["Word"] });
    expect((await masked.call().request(ask("a bad one"))).report.outcome).toBe("masked");
    const small = await guardOf({ input: [wordScanner("bad")], maxMessages: 1 });
    await expect(small.call().texts(["a", "b"])).rejects.toMatchObject({ code: "GUARD_TOO_LARGE" });
  });

  it("loads models on demand, and closes scanners", async () => {
    const done: string[] = [];
    const scanner = wordScanner("bad", {
      load: async () => void done.push("loaded"),
      close: async () => void done.push("closed"),
    });
    await (await createGuard({ input: [scanner] })).close();
    expect(done).toEqual(["closed"]);
    await (await createGuard({ input: [scanner], lazyLoad: false })).close();
    expect(done).toEqual(["closed", "loaded", "closed"]);
    const broken = wordScanner("bad", { load: () => Promise.reject(new Error("no file")) });
    await expect(createGuard({ input: [broken], lazyLoad: false })).rejects.toMatchObject({ code: "GUARD_SCANNER" });
  });

  it("reads a configuration, from a file or from a program", async () => {
    const folder = mkdtempSync(join(tmpdir(), "guard-"));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const file = join(folder, "scanners.yml");
    writeFileSync(file, "input_scanners:\n  - type: BanSubstrings\n    params: { substrings: [zebra] }\n");
    const scanner = { type: "BanSubstrings", params: { substrings: ["zebra"] } };
    for (const config of [file, { inputScanners: [scanner] }]) {
      const guard = await guardOf({ config });
      expect((await guard.call().request(ask("a zebra"))).report.resultsScore.BanSubstrings).toBe(1);
    }
    expect(await faults({ config: join(folder, "none.yml") })).toEqual({ "": expect.stringContaining("ENOENT") });
  });

  it("reports invalid options with their paths", async () => {
    expect(await faults({})).toEqual({ input: expect.stringMatching(/^expected at least one scanner/) });
    expect(await faults({ config: {} })).toEqual({
      inputScanners: expect.stringMatching(/^expected at least one scanner/),
    });
    expect(await faults({ config: 7 })).toEqual({ config: expect.stringMatching(/^expected the path/) });
    expect(await faults({ inputs: [] })).toEqual({ inputs: expect.stringMatching(/did you mean input\?$/) });
    expect(await faults({ config: "x.yml", input: [] })).toEqual({ input: expect.stringMatching(/^unknown key/) });
    expect(await faults({ input: wordScanner("x") })).toEqual({ input: "expected an array of scanners" });
    expect(await faults({ input: [wordScanner("x"), "Regex"] })).toEqual({
      "input.1": 'expected a scanner, got a text; create one: createScanner(side, "Regex", options)',
    });
    expect(await faults({ input: [wordScanner("x")], masking: ["Wrod"] })).toHaveProperty(["masking.0"]);
    expect(await faults({ input: [wordScanner("x")], promptTimeout: -1 })).toHaveProperty(["promptTimeout"]);
    expect(await faults({ input: [wordScanner("x")], stream: { holdbackChars: -1 } })).toHaveProperty([
      "stream.holdbackChars",
    ]);
    expect(await faults({ input: [wordScanner("x")], conversation: { scan: { tool: ["Wrod"] } } })).toHaveProperty([
      "conversation.scan.tool.0",
    ]);
    expect(await faults({ input: [new input.Anonymize({ vault: new Vault() })] })).toEqual({
      "input.0": expect.stringContaining("vault of its own"),
    });
    expect(await faults(undefined)).toHaveProperty([""]);
  });
});
