import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { load } from "js-yaml";
import { describe, expect, it } from "vitest";
import { read, root } from "./markdown.ts";

interface Step {
  if?: string;
  run?: string;
  uses?: string;
  with?: Record<string, unknown>;
}

interface Job {
  needs?: string | string[];
  if?: string;
  uses?: string;
  "runs-on"?: string;
  strategy?: { matrix: { include: { os?: string; node?: number; target?: string }[] } };
  steps?: Step[];
}

interface Workflow {
  permissions?: Record<string, string>;
  concurrency?: { group: string; "cancel-in-progress": boolean | string };
  jobs: Record<string, Job>;
}

const FOLDER = ".github/workflows";
const texts = readdirSync(join(root, FOLDER)).map((name) => [name, read(`${FOLDER}/${name}`)] as const);
const workflows = Object.fromEntries(texts.map(([name, text]) => [name, load(text) as Workflow]));
const manifest = JSON.parse(read("package.json"));

/** What follows `uses:` on each line, with the comment, which a YAML parser drops. */
const usesIn = (text: string) => [...text.matchAll(/^\s*(?:- )?uses: (.*)$/gm)].map(([, action = ""]) => action);

describe.each(Object.entries(workflows))("%s", (_, { jobs }) => {
  const steps = Object.values(jobs).flatMap(({ steps = [] }) => steps);
  const commands = steps.flatMap(({ run = "" }) => run.split("\n"));

  it("has jobs that run steps or call another workflow", () => {
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

  it("leaves no Git credentials on the runner", () => {
    for (const { uses, with: options } of steps) {
      if (uses?.startsWith("actions/checkout@")) expect(options?.["persist-credentials"]).toBe(false);
    }
  });
});

describe.each(texts)("the permissions and actions of %s", (name, text) => {
  it("grant at most the right to read the repository to every job", () => {
    const permissions = workflows[name]?.permissions;
    expect([{}, { contents: "read" }]).toContainEqual(permissions);
  });

  it("are pinned by commit hash, with the version as a comment", () => {
    const pinned = /^[\w.-]+\/[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/;
    const loose = usesIn(text).filter((action) => !action.startsWith("./") && !pinned.test(action));
    expect(loose).toEqual([]);
  });
});

it("all workflows pin an action to the same commit", () => {
  const pins = new Set(texts.flatMap(([, text]) => usesIn(text)).filter((action) => !action.startsWith("./")));
  const names = [...pins].map((action) => action.split("@")[0]);
  expect(names).toEqual([...new Set(names)]);
});

it("a new push cancels runs of pull requests only", () => {
  const { group, "cancel-in-progress": cancels } = workflows["ci.yml"]?.concurrency ?? {};
  const isPullRequest = "github.event_name == 'pull_request'";
  // Without a group of their own, runs of main that wait would be cancelled too.
  expect(group).toBe(`ci-\${{ ${isPullRequest} && github.ref || github.run_id }}`);
  expect(cancels).toBe(`\${{ ${isPullRequest} }}`);
});

describe("before a release", () => {
  const { jobs = {} } = workflows["ci.yml"] ?? {};

  it("tests run on Linux, macOS and Windows, and on every supported Node.js release line", () => {
    const runs = jobs.test?.strategy?.matrix.include ?? [];
    expect(new Set(runs.map(({ os = "" }) => os.split("-")[0]))).toEqual(new Set(["ubuntu", "macos", "windows"]));
    expect(new Set(runs.map(({ node }) => node))).toEqual(new Set([20, 22, 24]));
    expect(jobs.test?.steps?.some(({ run }) => run === ".ci/run")).toBe(true);
  });

  it("a package is built for every platform that package.json names", () => {
    const targets = jobs.platform?.strategy?.matrix.include.map(({ target }) => target);
    expect(new Set(targets)).toEqual(new Set(manifest.napi.targets));
  });

  it("the whole CI workflow has passed", () => {
    const { ci, publish } = workflows["release.yml"]?.jobs ?? {};
    expect(ci?.uses).toBe("./.github/workflows/ci.yml");
    expect([publish?.needs].flat()).toContain("ci");
  });
});

describe("the container image", () => {
  const { jobs = {} } = workflows["image.yml"] ?? {};
  const commandsOf = (job: Job | undefined) => (job?.steps ?? []).map(({ run = "" }) => run).join("\n");

  it("is published after CI has passed, and only for a tag", () => {
    const { image, notes } = workflows["release.yml"]?.jobs ?? {};
    expect(image?.uses).toBe("./.github/workflows/image.yml");
    expect([image?.needs].flat()).toContain("ci");
    expect([notes?.needs].flat()).toContain("image");
    expect(jobs.publish?.if).toBe("github.ref_type == 'tag'");
    expect(jobs.publish?.needs).toBe("build");
    for (const { run, if: condition } of jobs.build?.steps ?? []) {
      if (run?.includes("push=true")) expect(condition).toBe("github.ref_type == 'tag'");
    }
  });

  it("is tested on each platform before it is pushed", () => {
    const include = jobs.build?.strategy?.matrix.include as { platform: string; name: string }[] | undefined;
    expect(include?.map(({ platform }) => platform)).toEqual(["linux/amd64", "linux/arm64"]);
    const commands = commandsOf(jobs.build);
    expect(commands.indexOf("$run mcp")).toBeGreaterThan(0);
    expect(commands.indexOf("push=true")).toBeGreaterThan(commands.indexOf("$run mcp"));
    for (const { name } of include ?? []) expect(commandsOf(jobs.publish)).toContain(`digests/${name}`);
  });

  it("is signed by digest, and verified with the command of the docs", () => {
    const commands = commandsOf(jobs.publish);
    expect(commands).toMatch(/cosign sign --yes --recursive "\$IMAGE@\$\{\{ steps\.index\.outputs\.digest \}\}"/);
    const options = (text: string) =>
      [...text.matchAll(/--certificate-(?:oidc-issuer|identity-regexp) \S+/g)].map(([option]) => option);
    expect(options(commands)).toHaveLength(2);
    expect(options(read("docs/containers.md"))).toEqual(options(commands));
  });
});

describe("Dependabot", () => {
  it("updates every kind of dependency weekly, in groups", () => {
    const { updates } = load(read(".github/dependabot.yml")) as {
      updates: {
        "package-ecosystem": string;
        directory?: string;
        directories?: string[];
        schedule: { interval: string };
        groups?: object;
      }[];
    };
    const ecosystems = updates.map((update) => update["package-ecosystem"]);
    expect(new Set(ecosystems)).toEqual(new Set(["npm", "cargo", "github-actions", "pip", "docker"]));
    for (const { directory, directories = [directory ?? ""], schedule, groups } of updates) {
      for (const folder of directories) expect(existsSync(join(root, folder)), folder).toBe(true);
      expect(schedule.interval).toBe("weekly");
      expect(groups).toBeDefined();
    }
  });
});

describe("the Rust toolchain", () => {
  const [, channel = ""] = /^channel = "(.+)"$/m.exec(read("rust-toolchain.toml")) ?? [];

  it("is an exact version, so that a new compiler or linter changes no build by itself", () => {
    expect(channel).toMatch(/^\d+\.\d+\.\d+$/);
  });

  it("is also the one that the container image is built with", () => {
    const [, version = ""] = /^ARG RUST_VERSION=(.+)$/m.exec(read("Dockerfile")) ?? [];
    expect(channel.startsWith(`${version}.`)).toBe(true);
  });
});

describe("issue templates", () => {
  const folder = ".github/ISSUE_TEMPLATE";

  it.each(readdirSync(join(root, folder)))("%s is valid", (name) => {
    const template = load(read(`${folder}/${name}`)) as { name?: string; body?: { type: string }[] };
    if (name === "config.yml") return;
    expect(template.name).toBeTruthy();
    expect(template.body?.some(({ type }) => type === "textarea")).toBe(true);
  });
});
