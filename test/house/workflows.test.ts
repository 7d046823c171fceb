import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { load } from "js-yaml";
import { describe, expect, it } from "vitest";
import { read, root } from "./markdown.ts";

interface Job {
  needs?: string | string[];
  uses?: string;
  "runs-on"?: string;
  strategy?: { matrix: { include: { os?: string; node?: number; target?: string }[] } };
  steps?: { run?: string; uses?: string }[];
}

const workflows = Object.fromEntries(
  readdirSync(join(root, ".github/workflows")).map((name) => [
    name,
    load(read(`.github/workflows/${name}`)) as { jobs: Record<string, Job> },
  ]),
);
const manifest = JSON.parse(read("package.json"));

describe.each(Object.entries(workflows))("%s", (_, { jobs }) => {
  const commands = Object.values(jobs)
    .flatMap(({ steps = [] }) => steps)
    .flatMap(({ run = "" }) => run.split("\n"));

  it("has jobs with steps, or that use another workflow", () => {
    for (const job of Object.values(jobs)) expect(job.uses ?? job.steps).toBeDefined();
  });

  it("calls scripts that exist", () => {
    for (const line of commands) {
      const [, script] = /\bnpm run (\S+)/.exec(line) ?? [];
      if (script) expect(Object.keys(manifest.scripts)).toContain(script);
      const [, file] = /\bnode ((?:scripts)\/\S+\.mjs)/.exec(line) ?? [];
      if (file) expect(existsSync(join(root, file))).toBe(true);
    }
  });
});

describe("before a release", () => {
  const { jobs = {} } = workflows["ci.yml"] ?? {};

  it("tests run on Linux, macOS and Windows, and with every supported line of Node.js", () => {
    const runs = jobs.test?.strategy?.matrix.include ?? [];
    expect(new Set(runs.map(({ os = "" }) => os.split("-")[0]))).toEqual(new Set(["ubuntu", "macos", "windows"]));
    expect(new Set(runs.map(({ node }) => node))).toEqual(new Set([20, 22, 24]));
    expect(jobs.test?.steps?.some(({ run }) => run === ".ci/run")).toBe(true);
  });

  it("a package is built for every platform that package.json names", () => {
    const targets = jobs.platform?.strategy?.matrix.include.map(({ target }) => target);
    expect(new Set(targets)).toEqual(new Set(manifest.napi.targets));
  });

  it("all of that has passed", () => {
    const { ci, publish } = workflows["release.yml"]?.jobs ?? {};
    expect(ci?.uses).toBe("./.github/workflows/ci.yml");
    expect([publish?.needs].flat()).toContain("ci");
  });
});

describe("templates of issues", () => {
  const folder = ".github/ISSUE_TEMPLATE";

  it.each(readdirSync(join(root, folder)))("%s can be read", (name) => {
    const template = load(read(`${folder}/${name}`)) as { name?: string; body?: { type: string }[] };
    if (name === "config.yml") return;
    expect(template.name).toBeTruthy();
    expect(template.body?.some(({ type }) => type === "textarea")).toBe(true);
  });
});
