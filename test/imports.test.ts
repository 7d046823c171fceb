import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";

const root = fileURLToPath(new URL("../src", import.meta.url));

/** The imports of every file in src, by file: static, dynamic and type imports. */
const imports = new Map(
  readdirSync(root, { recursive: true, encoding: "utf8" })
    .filter((file) => /\.(ts|js)$/.test(file))
    .map((file) => {
      const text = readFileSync(join(root, file), "utf8");
      const found = [...text.matchAll(/^(?:import|export)\b(?:[^;"]*from)? "(\.[^"$]+)"|\bimport\("(\.[^"$]+)"\)/gm)];
      const targets = found.map(([, fixed, dynamic]) => join(dirname(file), (fixed ?? dynamic) as string));
      return [slashed(file), targets.map(slashed)] as const;
    }),
);

/** The files that import a package of OpenTelemetry. */
const withOpenTelemetry = [...imports.keys()].filter((file) =>
  /\bfrom "@opentelemetry\//.test(readFileSync(join(root, file), "utf8")),
);

/** The rooms of src/, lowest first. A file imports only files of its own room and of rooms below. */
const ROOMS = [
  ...["own-files.ts", "support", "native.ts", "text", "models", "scan", "scanners", "messages"],
  ...["conversation", "documents", "stream", "plugins", "config", "service", "audit", "guard", "http-formats"],
  ...["http-server", "server", "proxy", "mcp", "grpc", "integrations", "plugin.ts", "index.ts", "cli"],
];

/** The room of a file: its folder, or the file itself at the root of src/. */
function roomOf(file: string): string {
  return file.split("/")[0] as string;
}

function rankOf(file: string): number {
  // The addon is outside of src/, below everything.
  return file.startsWith("../") ? -1 : ROOMS.indexOf(roomOf(file));
}

describe("imports", () => {
  it("are read from the sources", () => {
    expect(imports.get("server/app.ts")).toContain("http-server/plugins/lifecycle.ts");
    const missing = [...imports.values()]
      .flat()
      .filter((target) => !imports.has(target) && !target.startsWith("../native/"));
    expect(missing).toEqual([]);
  });

  it("have no circle", () => {
    const done = new Set<string>();
    const circles: string[] = [];
    const visit = (file: string, way: readonly string[]) => {
      if (way.includes(file)) circles.push([...way.slice(way.indexOf(file)), file].join(" → "));
      if (way.includes(file) || done.has(file)) return;
      done.add(file);
      for (const target of imports.get(file) ?? []) visit(target, [...way, file]);
    };
    for (const file of imports.keys()) visit(file, []);
    expect(circles).toEqual([]);
  });

  it("only go downward between rooms", () => {
    const upward = [...imports].flatMap(([file, targets]) =>
      targets
        .filter((target) => rankOf(target) > rankOf(file))
        .map((target) => `${file} imports ${target}: ${roomOf(file)} is below ${roomOf(target)}`),
    );
    expect(upward).toEqual([]);
  });

  it("the list of rooms is complete", () => {
    const rooms = new Set([...imports.keys()].map(roomOf));
    expect([...rooms].sort()).toEqual([...ROOMS].sort());
  });

  it("of the core include nothing of the server, the proxy or the command line", () => {
    const above = (file: string) => /^(?:http-server|server|proxy|grpc|cli)\//.test(file);
    const wrong = [...imports].filter(([file, targets]) => !above(file) && targets.some(above)).map(([file]) => file);
    // The entry point loads the server only when a program creates one.
    expect(wrong).toEqual(["index.ts"]);
  });

  it("of OpenTelemetry are loaded only by servers that export something", () => {
    const plugin = "server/telemetry/plugin.ts";
    expect(withOpenTelemetry).toContain(plugin);
    const inside = (file: string) => file === plugin || file.startsWith("server/telemetry/");
    expect(withOpenTelemetry.filter((file) => !inside(file))).toEqual([]);
    const outside = [...imports].filter(([file, targets]) => !inside(file) && targets.some(inside));
    expect(outside.map(([file]) => file).sort()).toEqual(["server/app.ts", "server/decisions/audit.ts"]);
    const audit = readFileSync(join(root, "server/decisions/audit.ts"), "utf8");
    expect(audit).toContain('await import("../telemetry/audit-collector.ts")');
    const app = readFileSync(join(root, "server/app.ts"), "utf8");
    expect(app).toContain('await import("./telemetry/plugin.ts")');
    expect(app).not.toMatch(/from "[^"]*telemetry/);
  });

  it("of the proxy include the addon only for local scanners", () => {
    const reached = new Set<string>();
    const visit = (file: string) => {
      if (reached.has(file)) return;
      reached.add(file);
      for (const target of valueImports(file)) visit(target);
    };
    visit("proxy/index.ts");
    expect(reached).toContain("guard/remote/remote-guard.ts");
    expect(
      [...reached].filter((file) => ["native.ts", "service/service.ts", "service/create-service.ts"].includes(file)),
    ).toEqual([]);
  });

  it("of the server include nothing of the proxy, and vice versa", () => {
    const crosses = (from: string, to: string) =>
      [...imports].filter(
        ([file, targets]) => file.startsWith(from) && targets.some((target) => target.startsWith(to)),
      );
    expect(crosses("server/", "proxy/")).toEqual([]);
    expect(crosses("proxy/", "server/")).toEqual([]);
    expect(crosses("http-server/", "server/")).toEqual([]);
    expect(crosses("http-server/", "proxy/")).toEqual([]);
  });

  it("of the command line include the server in guard serve only", () => {
    const wrong = [...imports].filter(
      ([file, targets]) => file.startsWith("cli/") && targets.some((target) => target.startsWith("server/")),
    );
    expect(wrong.map(([file]) => file)).toEqual(["cli/serve.ts"]);
  });
});

/** The files that a file imports at load time, without type imports. */
function valueImports(file: string): string[] {
  const text = readFileSync(join(root, file), "utf8");
  const found = text.matchAll(/^(?:import|export)\b(?! type)([^;"]*)from "(\.[^"$]+)"/gm);
  // An import of types only is removed by the compiler.
  return [...found]
    .filter(([, names = ""]) => !/^\s*\{(?:\s*type\s[^,}]*,?)*\s*\}\s*$/.test(names))
    .map(([, , path]) => slashed(join(dirname(file), path as string)));
}

function slashed(path: string): string {
  return relative(".", path).split(sep).join("/");
}
