import { existsSync, readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { FastifyInstance } from "fastify";
import { load } from "js-yaml";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { loadConfig } from "../src/config/index.ts";
import { createServer, startServer } from "../src/server/index.ts";

/*
 * These tests build no image and start no cluster. They compare the files in deploy/ with each other and with the server: ports,
 * paths, metrics, variables, users.
 */

// The package has no types.
const semver = createRequire(import.meta.url)("semver");

const root = fileURLToPath(new URL("..", import.meta.url));
const read = (path: string) => readFileSync(join(root, path), "utf8");
// biome-ignore lint/suspicious/noExplicitAny: the files have no types, and a wrong access makes a test fail.
const yaml = (path: string): any => load(read(path));

const manifest = JSON.parse(read("package.json"));
const dockerfile = read("Dockerfile").replaceAll("\\\n", " ");
/** The instructions of the last stage, which produces the image. */
const image = dockerfile.slice(dockerfile.lastIndexOf("\nFROM "));
const environment = Object.fromEntries(
  [...image.matchAll(/^ENV (.*)$/gm)].flatMap(([, pairs = ""]) => pairs.split(" ").map((pair) => pair.split("="))),
);
const instruction = (name: string) => new RegExp(`^${name} (.*)$`, "m").exec(image)?.[1];
const compose = yaml("deploy/compose.yml");

let app: FastifyInstance;
beforeAll(async () => {
  app = await createServer({
    config: { metrics: { public: true }, inputScanners: [{ type: "InvisibleText" }] },
    logger: { write: () => {} },
  });
});
afterAll(() => app.close());

/** The environment variables that the code in the image reads. */
function knownVariables(): Set<string> {
  const sources = readdirSync(join(root, "src"), { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith(".ts"))
    .map((path) => read(join("src", path)));
  const named = [...sources, read("deploy/chart/scanners.yml")].flatMap(
    (text) => text.match(/\b[A-Z]+(?:_[A-Z]+)+\b/g) ?? [],
  );
  return new Set(named);
}

describe("the container image", () => {
  it("is built from files that exist and are not ignored", () => {
    const names = read(".dockerignore").match(/(?<=^!).+$/gm) ?? [];
    for (const name of names) expect(existsSync(join(root, name)), name).toBe(true);
    const copied =
      dockerfile.match(/^COPY (?!--from).+ \.\/$/gm)?.flatMap((line) => line.split(" ").slice(1, -1)) ?? [];
    expect(copied.length).toBeGreaterThan(2);
    for (const name of copied) expect(names).toContain(name);
    // The files that the build script reads, and those that are copied into the image.
    const build = read("scripts/build.mjs").match(
      /"(?:package|tsconfig)[\w-]*\.json"|"(?:Cargo\.(?:toml|lock)|src|crates)"/g,
    );
    for (const name of new Set(build)) expect(names).toContain(JSON.parse(name));
  });

  it("has all files of the package that commands read", () => {
    const sources = readdirSync(join(root, "src"), { recursive: true, encoding: "utf8" })
      .filter((path) => path.endsWith(".ts"))
      .map((path) => read(join("src", path)));
    const needed = sources.flatMap((text) =>
      [...text.matchAll(/\bownFile\("([^"]+)"\)/g)].map(([, path = ""]) => path),
    );
    expect(needed).toContain("mcp.yml");
    const moved = /&& mv (.+?) \/app\//.exec(dockerfile)?.[1]?.split(" ") ?? [];
    for (const path of new Set(needed)) expect(moved).toContain(path.split("/")[0]);
  });

  it("has supported versions of Node.js and Rust", () => {
    const [, node = ""] = /^ARG NODE_VERSION=(.+)$/m.exec(dockerfile) ?? [];
    expect(semver.subset(`${node}.x`, manifest.engines.node)).toBe(true);
    const [, rust = ""] = /^ARG RUST_VERSION=(.+)$/m.exec(dockerfile) ?? [];
    const [, least = ""] = /^rust-version = "(.+)"$/m.exec(read("Cargo.toml")) ?? [];
    expect(semver.gte(`${rust}.0`, `${least}.0`)).toBe(true);
  });

  it("runs as a user other than root, and has a health check", async () => {
    expect(instruction("USER")).toMatch(/^[1-9]\d*:[1-9]\d*$/);
    expect(instruction("EXPOSE")).toBe(environment.PORT);
    const [, path = ""] = /PORT\}(\/\w+)`/.exec(instruction("HEALTHCHECK") ?? "") ?? [];
    expect((await app.inject(path)).statusCode).toBe(200);
  });

  it("listens on a public address only with a credential", async () => {
    const config = { inputScanners: [{ type: "InvisibleText" }] };
    const open = startServer({ config, host: environment.HOST, port: 0 });
    await expect(open).rejects.toThrow(
      /listening on 0\.0\.0\.0 requires a credential.*auth: \{type: http_bearer, token/,
    );
  });
});

describe("the configuration of the containers", () => {
  it("is valid, with a credential", async () => {
    const env = { AUTH_TOKEN: "secret", HOST: environment.HOST, PORT: environment.PORT };
    const config = await loadConfig(join(root, "deploy/chart/scanners.yml"), env);
    expect(config.auth).toHaveLength(1);
    expect(config.app).toMatchObject({ host: "0.0.0.0", port: 8000 });
    await expect(loadConfig(join(root, "deploy/chart/scanners.yml"), {})).rejects.toThrow(/AUTH_TOKEN/);
  });
});

describe("the compose file", () => {
  const { guard, prometheus } = compose.services;

  it("mounts existing files to the paths of the image", () => {
    const mounts: string[][] = [guard, prometheus].flatMap(({ volumes }) =>
      volumes.map((volume: string) => volume.split(":")),
    );
    for (const [from = ""] of mounts) {
      if (from.startsWith(".")) expect(existsSync(join(root, "deploy", from)), from).toBe(true);
      else expect(compose.volumes).toHaveProperty(from);
    }
    expect(existsSync(join(root, "deploy", guard.build.context, "Dockerfile"))).toBe(true);
    const places = mounts.map(([, to]) => to);
    expect(places).toContain(`${instruction("WORKDIR")}/scanners.yml`);
    expect(places).toContain(environment.GUARD_MODELS_DIR);
  });

  it("waits for running requests", async () => {
    const { app } = await loadConfig(join(root, "deploy/chart/scanners.yml"), { AUTH_TOKEN: "secret" });
    const longest = Math.max(app.scanPromptTimeout, app.scanOutputTimeout) + 5;
    expect(Number.parseInt(guard.stop_grace_period, 10)).toBeGreaterThanOrEqual(longest);
  });

  it("sets used variables only, and publishes ports on this machine only", () => {
    const known = knownVariables();
    for (const name of Object.keys(guard.environment)) expect(known).toContain(name);
    expect(guard.ports).toEqual([`127.0.0.1:8000:${environment.PORT}`]);
    for (const service of Object.values<{ ports?: string[]; read_only?: boolean }>(compose.services)) {
      for (const port of service.ports ?? []) expect(port).toMatch(/^127\.0\.0\.1:/);
      expect(service.read_only).toBe(true);
    }
  });

  it("lets Prometheus read the metrics", async () => {
    const [job] = yaml("integrations/prometheus/prometheus.yml").scrape_configs;
    expect(job.static_configs[0].targets).toEqual([`guard:${environment.PORT}`]);
    expect((await app.inject(job.metrics_path)).statusCode).toBe(200);
    expect(yaml("deploy/chart/scanners.yml").metrics.public).toBe(true);
  });
});
