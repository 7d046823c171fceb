import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, describe, expect, it } from "vitest";
import { createServer, loadConfig } from "../../src/index.ts";
import { brokenLinks, fences, markdownFiles, read, root } from "./markdown.ts";

const require = createRequire(import.meta.url);
const scratch = mkdtempSync(join(tmpdir(), "guard-documents-"));
afterAll(() => rmSync(scratch, { recursive: true }));

const files = markdownFiles();

describe("README.md", () => {
  it("is at most 8 kB long", () => {
    expect(statSync(join(root, "README.md")).size).toBeLessThanOrEqual(8192);
  });

  it("shows a request and the reply of the server", async () => {
    const blocks = fences(read("README.md"));
    const curl = blocks.find(({ language, content }) => language === "sh" && content.includes("curl"))?.content ?? "";
    const [, path] = /http:\/\/127\.0\.0\.1:8000(\S*)/.exec(curl) ?? [];
    const [, body] = /-d '(.*)'/s.exec(curl) ?? [];
    const shown = JSON.parse(blocks.find(({ language }) => language === "json")?.content ?? "");
    const config = await loadConfig(join(root, "scanners.yml"));
    const app = await createServer({
      config: { ...config, auth: [{ type: "http_bearer", token: "test" }], app: { ...config.app, lazyLoad: true } },
      logger: { write() {} },
    });
    try {
      const headers = { authorization: "Bearer test", "content-type": "application/json" };
      const reply = await app.inject({ method: "POST", url: path as string, headers, payload: body as string });
      expect(reply.statusCode).toBe(200);
      expect(rounded(reply.json())).toMatchObject(shown);
    } finally {
      await app.close();
    }
  });
});

/** Rounds numbers to two decimals, as on the page. Further decimals depend on the processor. */
function rounded(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value), (_, part) =>
    typeof part === "number" ? Math.round(part * 100) / 100 : part,
  );
}

describe("links", () => {
  it.each(files)("in %s have a target", (path) => {
    expect(brokenLinks(path)).toEqual([]);
  });
});

describe("commands", () => {
  const { scripts } = JSON.parse(read("package.json")) as { scripts: Record<string, string> };
  // Older entries may name scripts that no longer exist.
  const current = files.filter((path) => !/^(?:changes\/|CHANGELOG)/.test(path));
  it.each(current)("in %s that npm runs exist", (path) => {
    const named = [...read(path).matchAll(/\bnpm run ([\w:-]+)/g)].map(([, name = ""]) => name);
    expect(named.filter((name) => !Object.hasOwn(scripts, name))).toEqual([]);
  });

  it("in docs/reliability.md name existing scenarios and settings", () => {
    const page = read("docs/reliability.md");
    const known = readdirSync(join(root, "chaos/scenarios")).map((name) => name.replace(/\.mjs$/, ""));
    for (const name of known) expect(page).toContain(`[${name}](../chaos/scenarios/${name}.mjs)`);
    const described = read("scanners.schema.json");
    const settings = [...page.matchAll(/`(?:app|audit|cache)\.([a-z_]+)`/g)].map(([, name = ""]) => name);
    expect(settings.length).toBeGreaterThan(5);
    for (const name of settings) expect(described).toContain(`"${name}"`);
  });
});

/** Code blocks marked with `run`, each with its expected output if a block `text output` follows. */
const programs = files.flatMap((path) => {
  const blocks = fences(read(path));
  return blocks.flatMap(({ words, content }, index) => {
    if (!words.includes("run")) return [];
    const next = blocks[index + 1];
    return [{ path, index, content, output: next?.words.includes("output") ? next.content : undefined }];
  });
});

describe("programs in documents", () => {
  it.each(programs)("in $path (block $index) print the shown output", ({ content, output }) => {
    // In the repository, Node.js resolves `guard-scan` to the repository itself.
    const options = { cwd: root, input: content, encoding: "utf8" } as const;
    const printed = execFileSync(process.execPath, ["--input-type=module", "-"], options);
    if (output !== undefined) expect(printed).toBe(output);
  });

  it("include those of README.md", () => {
    expect(programs.map(({ path }) => path)).toContain("README.md");
  });
});

/** The names that code blocks import from guard, by page and entry point. */
const imports = files
  .filter((path) => !/^(?:changes\/|CHANGELOG)/.test(path))
  .flatMap((path) =>
    fences(read(path)).flatMap(({ content }) =>
      [...content.matchAll(/^import \{([^}]*)\} from "(guard-scan(?:\/[\w-]+)?)"/gm)].map(
        ([, names = "", entry = ""]) => ({ path, entry, names: names.split(",").map((name) => name.trim()) }),
      ),
    ),
  );

describe("imports in code blocks", () => {
  it.each(imports)("in $path exist in $entry: $names", async ({ entry, names }) => {
    // In the repository, `guard-scan` resolves to the repository itself.
    const exported = await import(/* @vite-ignore */ pathToFileURL(require.resolve(entry)).href);
    const values = names.filter((name) => name !== "" && !name.startsWith("type "));
    for (const name of values) expect(exported).toHaveProperty(name.replace(/ as .*/, ""));
  });
});

const configurations = files.flatMap((path) =>
  fences(read(path))
    .filter(({ language, words }) => language === "yaml" && words.includes("config"))
    .map(({ content }, index) => ({ path, index, content })),
);

describe("configurations in documents", () => {
  it.each(configurations)("in $path (number $index) are valid", async ({ content }) => {
    const file = join(scratch, "scanners.yml");
    writeFileSync(file, content);
    await expect(loadConfig(file)).resolves.toBeDefined();
  });
});
