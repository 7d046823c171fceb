import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

const cli = fileURLToPath(new URL("../../dist/cli/main.js", import.meta.url));
let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "guard-doctor-"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function doctor(
  args: string[] = [],
  env: Record<string, string> = {},
): Promise<{ code: number | null; stdout: string }> {
  return new Promise((resolve) => {
    const options = { cwd: folder, env: { ...process.env, ...env } };
    const child = execFile(process.execPath, [cli, "doctor", ...args], options, (_, stdout) =>
      resolve({ code: child.exitCode, stdout }),
    );
  });
}

describe("guard-scan doctor", () => {
  it("reports that all is well", async () => {
    const { code, stdout } = await doctor();
    expect(stdout).toMatch(/^ok {5}Node\.js +v\d+/m);
    expect(stdout).toMatch(/^ok {5}addon +loaded$/m);
    expect(stdout).toMatch(/^ok {5}ONNX Runtime +.*onnxruntime/m);
    expect(stdout).toMatch(/^ok {5}models +\d+, \d+ MB: .*embedded:multitask/m);
    expect(stdout).toMatch(
      /^(ok {3}|! {4}) {2}memory +\d+ MB free, (limited to \d+ MB|no limit), this process has \d+ MB/m,
    );
    expect(stdout).toMatch(/^ok {5}system +\w+ \w+/m);
    expect(stdout).toMatch(/^(ok {3}|! {4}) {2}processors +\d+ of \d+/m);
    expect(stdout).toMatch(/^ok {5}model files +\d+ embedded models match their manifests/m);
    expect(stdout).toMatch(/^ok {5}self-tests +\d+ embedded models give/m);
    expect(stdout).toMatch(/^ok {5}risks +none known$/m);
    expect(stdout).toMatch(/^ok {5}configuration +.*scanners\.yml: \d+ scanners of prompts, \d+ of outputs/m);
    expect(code).toBe(0);
  });

  it("reports each error of a configuration on its own line", async () => {
    writeFileSync(join(folder, "bad.yml"), "app: {prot: 1}\ninput_scanners: [{type: Toxicty}]\n");
    const { code, stdout } = await doctor(["--config", "bad.yml"]);
    expect(code).toBe(2);
    expect(stdout).toMatch(/^FAILS {2}configuration +app\.prot: unknown key; did you mean port\? \(bad\.yml:1\)$/m);
    expect(stdout).toMatch(/^ +input_scanners\.0\.type: unknown input scanner Toxicty; did you mean Toxicity\?/m);
  });

  it("explains a file, as text and as JSON", async () => {
    writeFileSync(
      join(folder, "their.yml"),
      "auth: { type: http_bearer, token: hush }\ninput_scanners:\n  - type: Gibberish\n    params: { threshold: 0.9, device: cpu }\n",
    );
    const [shown, json] = await Promise.all([doctor(["their.yml"]), doctor(["their.yml", "--quick", "--json"])]);
    expect([shown.code, json.code]).toEqual([1, 1]);
    expect(shown.stdout).toMatch(
      /^ {5}3 {2}input_scanners\.0\n {10}runs {6}Gibberish with embedded:gibberish .* ms for/m,
    );
    expect(shown.stdout).toMatch(/^ {5}4 {2}input_scanners\.0\.params\.device\n {10}ignored {3}does nothing: /m);
    const { examinations, file, notes } = JSON.parse(json.stdout);
    expect(file).toBe("their.yml");
    expect(examinations.map(({ state }: { state: string }) => state)).not.toContain("fails");
    expect(notes.map(({ kind }: { kind: string }) => kind)).toEqual([
      "differs",
      "runs",
      "differs",
      "differs",
      "differs",
      "ignored",
    ]);
    expect(shown.stdout + json.stdout).not.toContain("hush");
  });

  it("warns of a scanner that fails ordinary prompts, and names its default threshold", async () => {
    const scanner = "{ type: PromptInjection, params: { threshold: 0.000001 } }";
    writeFileSync(
      join(folder, "strict.yml"),
      `input_scanners:\n  - ${scanner}\noutput_scanners: [{ type: Secrets }]\n`,
    );
    const { code, stdout } = await doctor(["strict.yml"]);
    expect(stdout.replaceAll(/\s+/g, " ")).toMatch(
      /fails \d+ of \d+ ordinary prompts.* With its default threshold it fails none/,
    );
    expect(code).toBe(1);
  });

  it("warns of risky options, and recommends what to do", async () => {
    writeFileSync(
      join(folder, "risky.yml"),
      `app: { host: 0.0.0.0, log_content: true, lazy_load: true }
auth: { type: http_bearer, token: hush }
audit: { to: file, file: missing/audit.jsonl }
profiles: { strict: { input_scanners: [{ type: BanSubstrings, params: { substrings: [x] } }] } }
input_scanners: [{ type: InvisibleText }]
`,
    );
    const { code, stdout } = await doctor(["risky.yml", "--quick", "--json"], { GUARD_AUDIT_KEY: "" });
    const { examinations, notes } = JSON.parse(stdout);
    const of = (name: string) => examinations.find((examination: { name: string }) => examination.name === name);
    expect(of("configuration").text).toMatch(/^profiles: strict$/m);
    expect(of("risks").state).toBe("warning");
    const about = of("risks")
      .text.split("\n")
      .map((line: string) => line.split(":")[0]);
    expect(about).toEqual(["app.log_content", "app.lazy_load", "rate_limit", "GUARD_AUDIT_KEY", "audit.file"]);
    expect(of("self-tests")).toBeUndefined();
    expect(notes.map(({ path }: { path: string }) => path)).toContain("profiles.strict.input_scanners.0");
    expect(code).toBe(1);
    expect(stdout).not.toContain("hush");
  });

  it("requires a credential for a public address", async () => {
    writeFileSync(join(folder, "open.yml"), "app: { host: 0.0.0.0 }\ninput_scanners: [{ type: InvisibleText }]\n");
    const { code, stdout } = await doctor(["open.yml", "--quick"]);
    expect(stdout).toMatch(/^FAILS {2}configuration +auth: listening on 0\.0\.0\.0 requires a credential/m);
    expect(code).toBe(2);
  });

  it("reports errors of the engine, and checks the rest", async () => {
    const { code, stdout } = await doctor(["--quick"], { GUARD_ONNX_LIBRARY: join(folder, "missing.so") });
    expect(code).toBe(2);
    expect(stdout).toMatch(/^FAILS {2}ONNX Runtime +.*missing\.so/m);
    expect(stdout).toMatch(/^ok {5}models /m);
  });

  it("fails if the configuration file is missing", async () => {
    const { code, stdout } = await doctor(["--config", "missing.yml"]);
    expect([code, stdout]).toEqual([
      2,
      expect.stringMatching(
        /^FAILS {2}configuration +there is no file missing\.yml \(.*missing\.yml\), which --config names$/m,
      ),
    ]);
  });
});
