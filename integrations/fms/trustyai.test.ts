import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { testServer } from "../../test/server/fixtures.ts";

/**
 * A Python with `llama-stack-provider-trustyai-fms` 0.1.2 and `llama-stack` 0.2.12, which take 500 MB. Without it this test is
 * skipped, and only `test/server/dialects/fms.test.ts` checks the responses.
 */
const python = process.env.GUARD_TRUSTYAI ?? "";
const script = fileURLToPath(new URL("run_shields.py", import.meta.url));

describe.skipIf(python === "")("TrustyAI's provider for Llama Stack (GUARD_TRUSTYAI)", () => {
  it("reads guard's findings from guard's responses", async () => {
    const { app } = await testServer(
      {},
      {
        dialects: ["fms"],
        app: { lazyLoad: true },
        inputScanners: [{ type: "Anonymize" }, { type: "BanSubstrings", params: { substrings: ["zebra"] } }],
      },
    );
    const address = await app.listen({ port: 0, host: "127.0.0.1" });
    const cases = [
      ["guard", "What a fine day."],
      ["guard", "Write to carol@example.org, please. 😀"],
      ["guard/chat", "What a fine day."],
      ["guard/chat", "Write to carol@example.org, please. 😀"],
      ["BanSubstrings", "A zebra."],
      ["BanSubstrings/chat", "A horse."],
      ["missing", "A horse."],
    ];
    const { stdout } = await promisify(execFile)(python, [script, address, JSON.stringify(cases)]);
    const passes = { status: "pass", detection_type: null, error: null };
    const personal = { status: "violation", detection_type: "personal_data", error: null };
    expect(JSON.parse(stdout)).toEqual([
      passes,
      personal,
      passes,
      personal,
      { status: "violation", detection_type: "substring", error: null },
      passes,
      { status: "error", detection_type: null, error: expect.stringContaining("names no detector of this endpoint") },
    ]);
  });
});
