import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { FastifyInstance } from "fastify";
import { load } from "js-yaml";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createServer } from "../../src/server/index.ts";

const read = (path: string) => readFileSync(fileURLToPath(new URL(path, import.meta.url)), "utf8");
const folder = fileURLToPath(new URL(".", import.meta.url));

interface Rule {
  record?: string;
  alert?: string;
  expr: string;
  labels?: { severity: string };
  annotations?: { summary: string; description: string };
}
const rules = (load(read("rules.yml")) as { groups: { rules: Rule[] }[] }).groups.flatMap(({ rules }) => rules);
const alerts = rules.filter(({ alert }) => alert !== undefined);

interface Panel {
  id: number;
  type: string;
  title: string;
  gridPos: { x: number; w: number };
  datasource?: { uid: string };
  targets?: { refId: string; expr: string; datasource: { uid: string } }[];
}
const dashboard = JSON.parse(read("dashboard.json")) as {
  panels: Panel[];
  templating: { list: { name: string; type: string; query: string | { query: string } }[] };
};
const shown = dashboard.panels.filter(({ type }) => type !== "row");
const variables = dashboard.templating.list;

/** The metrics in an expression of PromQL. Names with colons are recorded series, not metrics. */
function metricsOf(expression: string): string[] {
  const bare = expression.replace(/"[^"]*"/g, "");
  return bare.match(/(?<![\w:])(?:guard|process|nodejs)_\w+(?![\w:])/g) ?? [];
}
/** Removes the suffixes of a histogram's series. */
const plain = (name: string) => name.replace(/_(?:bucket|sum|count)$/, "");

let app: FastifyInstance;
/** The metrics of a server: kinds by name. */
let kinds: Map<string, string>;
const scratch = mkdtempSync(join(tmpdir(), "guard-prometheus-"));
beforeAll(async () => {
  // A shadow adds metrics.
  const shadow = join(scratch, "shadow.yml");
  writeFileSync(shadow, "input_scanners: [{ type: InvisibleText }]\n");
  app = await createServer({
    config: { metrics: { public: true }, shadow, inputScanners: [{ type: "InvisibleText" }] },
    logger: { write: () => {} },
  });
  const { body } = await app.inject("/metrics");
  kinds = new Map([...body.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name = "", kind = ""]) => [name, kind]));
});
afterAll(async () => {
  await app.close();
  rmSync(scratch, { recursive: true });
});

/** A server on a machine without a memory limit lacks this metric. */
const CONDITIONAL = "guard_memory_limit_bytes";

describe("metrics", () => {
  it("in rules and panels exist on a server", () => {
    const named = new Set(
      [...rules, ...shown.flatMap(({ targets = [] }) => targets)].flatMap(({ expr }) => metricsOf(expr)),
    );
    expect(named.size).toBeGreaterThan(20);
    for (const name of named) {
      if (name !== CONDITIONAL) expect(kinds.has(name) || kinds.get(plain(name)) === "histogram", name).toBe(true);
    }
  });

  it("of a server are all documented, and documented ones exist", () => {
    const page = read("../../docs/observability.md");
    const table = page.split("\n").filter((line) => /^\| `(?:guard|process|nodejs)_/.test(line));
    const described = new Set(table.flatMap((line) => metricsOf(line.split(" | ")[0] ?? "")));
    for (const name of kinds.keys()) expect(described, name).toContain(name);
    for (const name of described) if (name !== CONDITIONAL) expect([...kinds.keys()]).toContain(name);
  });

  it("of a server are all on the dashboard", () => {
    const named = shown.flatMap(({ targets = [] }) => targets.flatMap(({ expr }) => metricsOf(expr))).map(plain);
    for (const name of kinds.keys()) expect(named, name).toContain(name);
  });
});

describe("the rules", () => {
  it("record every series that they use under a unique name", () => {
    const recorded = rules.flatMap(({ record = [] }) => record);
    expect(new Set(recorded).size).toBe(recorded.length);
    const used = rules.flatMap(({ expr }) => expr.match(/\bjob(?:_\w+)?:\w+:\w+/g) ?? []);
    for (const name of used) expect(recorded).toContain(name);
  });

  it("have alerts with a severity and an action, each in the table of the page", () => {
    const page = read("README.md");
    for (const { alert, labels, annotations } of alerts) {
      expect(labels?.severity).toMatch(/^(?:critical|warning|info)$/);
      expect(annotations?.summary.length).toBeGreaterThan(10);
      expect(annotations?.description.length).toBeGreaterThan(30);
      expect(page).toContain(`\`${alert}\``);
    }
    expect(alerts.length).toBeGreaterThan(15);
  });

  it("have a test in which every alert fires", () => {
    const tests = read("rules.test.yml");
    for (const { alert } of alerts) expect(tests).toContain(`ALERTS{alertname="${alert}",alertstate="firing",severity`);
  });
});

describe("the dashboard", () => {
  it("has panels with queries, each with a unique id, of the chosen data source", () => {
    expect(variables.find(({ name }) => name === "datasource")).toMatchObject({
      type: "datasource",
      query: "prometheus",
    });
    const ids = dashboard.panels.map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    for (const { title, datasource, targets = [], gridPos } of shown) {
      expect(targets.length, title).toBeGreaterThan(0);
      expect(new Set(targets.map(({ refId }) => refId)).size).toBe(targets.length);
      const sources = [datasource, ...targets.map((target) => target.datasource)];
      // biome-ignore lint/suspicious/noTemplateCurlyInString: a variable of Grafana
      for (const source of sources) expect(source?.uid).toBe("${datasource}");
      expect(gridPos.x + gridPos.w).toBeLessThanOrEqual(24);
    }
  });

  it("uses defined variables only", () => {
    const known = [...variables.map(({ name }) => name), "__rate_interval", "__range"];
    const used = shown.flatMap(({ targets = [] }) => targets.flatMap(({ expr }) => expr.match(/(?<=\$)\w+/g) ?? []));
    for (const name of used) expect(known).toContain(name);
  });
});

const hasPromtool = spawnSync("promtool", ["--version"]).status === 0;
if (!hasPromtool)
  console.warn("promtool is not here (Debian: apt-get install prometheus): its tests of the rules do not run");

describe.skipIf(!hasPromtool)("promtool", () => {
  const promtool = (...args: string[]) => execFileSync("promtool", args, { cwd: folder, encoding: "utf8" });

  it("accepts the configuration with its rules", () => {
    expect(promtool("check", "config", "prometheus.yml")).toContain("SUCCESS");
  });

  it("confirms when alerts fire and when not", () => {
    expect(promtool("test", "rules", "rules.test.yml")).toContain("SUCCESS");
  });

  it("parses every query of the dashboard", () => {
    const groups = shown.map(({ id, targets = [] }) => ({
      name: String(id),
      // Grafana's variables are replaced: by texts in values, and by durations in ranges.
      rules: targets.map(({ expr, refId }) => ({
        record: `panel${id}:${refId}`,
        expr: expr.replaceAll(/\$__(?:rate_interval|range)/g, "5m"),
      })),
    }));
    // JSON is YAML.
    writeFileSync(join(scratch, "queries.yml"), JSON.stringify({ groups }));
    expect(promtool("check", "rules", join(scratch, "queries.yml"))).toContain("SUCCESS");
  });
});
