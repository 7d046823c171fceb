import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { packageFolder } from "../own-files.ts";
import { GuardError } from "./errors.ts";
import { checkVersion, installHint, isSupported, type OptionalPackage, unsupported } from "./package-versions.ts";

const require = createRequire(import.meta.url);

/** The packages of OpenTelemetry that a server needs to export traces, metrics or audit records. */
export const OPENTELEMETRY = [
  "@opentelemetry/api",
  "@opentelemetry/core",
  "@opentelemetry/exporter-logs-otlp-proto",
  "@opentelemetry/exporter-metrics-otlp-proto",
  "@opentelemetry/exporter-trace-otlp-proto",
  "@opentelemetry/id-generator-aws-xray",
  "@opentelemetry/propagator-aws-xray",
  "@opentelemetry/resources",
  "@opentelemetry/sdk-metrics",
  "@opentelemetry/sdk-trace-node",
  "@opentelemetry/semantic-conventions",
] as const satisfies readonly OptionalPackage[];

/** The packages of the Model Context Protocol that `guard-scan mcp` needs. */
export const MCP = [
  "@modelcontextprotocol/client",
  "@modelcontextprotocol/server",
] as const satisfies readonly OptionalPackage[];

/** The packages that servers of gRPC need. */
export const GRPC = ["@grpc/grpc-js", "@grpc/proto-loader"] as const satisfies readonly OptionalPackage[];

/**
 * Checks that packages are installed, in versions that guard supports. Call it before the `import()` of the code that uses them.
 *
 * @param feature what needs the packages, as the subject of a sentence: a setting, a command, a route.
 * @throws GuardError `GUARD_PACKAGE` with the command that installs what is missing.
 */
export function requirePackages(feature: string, names: readonly OptionalPackage[]): void {
  const need = unmetNeed(names);
  if (need !== undefined) throw new GuardError("GUARD_PACKAGE", `${feature} ${need}`);
}

/** Names the packages that are missing or too old, and the command that installs them. It is undefined when all are there. */
export function unmetNeed(names: readonly OptionalPackage[]): string | undefined {
  // Plug'n'Play of Yarn has no node_modules to look into. Its own error names a missing package.
  if (process.versions.pnp !== undefined) return undefined;
  const versions = names.map((name) => [name, installedVersion(name)] as const);
  const bad = versions.filter(([name, version]) => version === undefined || !isSupported(name, version));
  if (bad.length === 0) return undefined;
  const wanted = bad.map(([name]) => name);
  const needs = `needs the ${wanted.length === 1 ? "package" : "packages"} ${wanted.join(", ")}`;
  const old = bad.flatMap(([name, version]) => (version === undefined ? [] : [`; ${unsupported(name, version)}`]));
  return `${needs}${old.join("")}. ${installHint(packageFolder, wanted, names)}`;
}

/**
 * Refuses an installed version that guard does not support, for packages that the caller brings.
 *
 * @throws GuardError `GUARD_PACKAGE`.
 */
export function checkInstalledVersion(name: OptionalPackage): void {
  checkVersion(name, installedVersion(name));
}

/** The version of a package where guard would load it from; undefined when it is not there. */
export function installedVersion(name: OptionalPackage): string | undefined {
  // Many packages do not export their package.json, so it is read as a file.
  const manifest = (require.resolve.paths(name) ?? [])
    .map((folder) => join(folder, name, "package.json"))
    .find((path) => existsSync(path));
  return manifest && (JSON.parse(readFileSync(manifest, "utf8")) as { version: string }).version;
}
