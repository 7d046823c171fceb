import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { describe, expect, it } from "vitest";
import { installedVersion, requirePackages, unmetNeed } from "../../src/support/optional-packages.ts";
import {
  checkVersion,
  installCommand,
  installHint,
  isSupported,
  type OptionalPackage,
  SUPPORTED_VERSIONS,
} from "../../src/support/package-versions.ts";

const { satisfies } = createRequire(import.meta.url)("semver");
const manifest = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8"));
const names = Object.keys(SUPPORTED_VERSIONS) as OptionalPackage[];

describe("the versions of optional packages", () => {
  it.each<[OptionalPackage, string, boolean]>([
    ["openai", "5.23.2", false],
    ["openai", "6.0.0", true],
    ["openai", "17.1.0", true],
    ["@langchain/core", "0.3.80", false],
    ["@langchain/core", "1.0.0", true],
    ["@langchain/core", "2.0.0", false],
    ["onnxruntime-node", "1.20.1", false],
    ["onnxruntime-node", "1.24.0-dev.20251116-abcdef", true],
    ["@opentelemetry/exporter-trace-otlp-proto", "0.222.0", false],
    ["@opentelemetry/exporter-trace-otlp-proto", "0.223.1", true],
    ["@opentelemetry/exporter-trace-otlp-proto", "1.0.0", true],
  ])("are compared: %s %s is supported: %s", (name, version, expected) => {
    expect(isSupported(name, version)).toBe(expected);
  });

  it.each(names)("of %s include the version that guard is tested with, as semver reads them", (name) => {
    const version = installedVersion(name) as string;
    expect(isSupported(name, version)).toBe(true);
    expect(satisfies(version, SUPPORTED_VERSIONS[name])).toBe(true);
  });

  it("are in the error for another version, with the command to install one", () => {
    const refused = () => checkVersion("@anthropic-ai/sdk", "0.60.0");
    expect(refused).toThrow(expect.objectContaining({ code: "GUARD_PACKAGE" }));
    expect(refused).toThrow(
      "guard supports @anthropic-ai/sdk >=1, and 0.60.0 is installed: npm install @anthropic-ai/sdk@1",
    );
    checkVersion("@anthropic-ai/sdk", "1.0.0");
    checkVersion("@anthropic-ai/sdk", undefined);
  });

  it("are in a command for every shell", () => {
    const exporter = "@opentelemetry/exporter-logs-otlp-proto";
    expect(installCommand(["ioredis", exporter])).toBe(`npm install ioredis@6 ${exporter}@latest`);
    expect(installCommand(names)).toMatch(/^[\w @./-]+$/);
  });

  it("are in the hint for an installed guard, and for one that npx runs from its cache", () => {
    const sdk = ["@modelcontextprotocol/client", "@modelcontextprotocol/server"] as const;
    expect(installHint("/home/ada/project/node_modules/guard-scan/", ["ioredis"], ["ioredis"])).toBe(
      "Install beside guard-scan: npm install ioredis@6",
    );
    for (const folder of ["/home/ada/.npm/_npx/1f2e/node_modules/guard-scan/", "C:\\cache\\_npx\\1f2e\\guard-scan\\"]) {
      expect(installHint(folder, [sdk[0]], sdk)).toBe(
        "Start it as: npx -p guard-scan -p @modelcontextprotocol/client@2 -p @modelcontextprotocol/server@2 guard-scan ...",
      );
    }
  });
});

describe("package.json", () => {
  it("lists every optional package as an optional peer of any version, and installs it for development", () => {
    expect(manifest.peerDependencies).toEqual(Object.fromEntries(names.map((name) => [name, "*"])));
    expect(manifest.peerDependenciesMeta).toEqual(Object.fromEntries(names.map((name) => [name, { optional: true }])));
    expect(names.filter((name) => !(name in manifest.devDependencies))).toEqual([]);
  });
});

describe("requirePackages", () => {
  it("accepts packages that are installed", () => {
    requirePackages("A test", names);
    expect(unmetNeed(names)).toBeUndefined();
  });
});
