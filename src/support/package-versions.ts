import { GuardError } from "./errors.ts";

/**
 * The versions that guard supports of each package that users install beside it: `^2` is every 2.x, `>=6` is 6.0 and everything later.
 * `package.json` accepts any version of them, so that guard never keeps a project from installing.
 */
export const SUPPORTED_VERSIONS = {
  "@ai-sdk/provider": "^3",
  "@anthropic-ai/sdk": ">=1",
  "@faker-js/faker": ">=9",
  "@fastify/swagger-ui": "^5",
  "@grpc/grpc-js": "^1.12",
  "@grpc/proto-loader": ">=0.7",
  "@huggingface/hub": "^2",
  "@langchain/core": "^1",
  "@modelcontextprotocol/client": "^2",
  "@modelcontextprotocol/server": "^2",
  "@opentelemetry/api": "^1.9",
  "@opentelemetry/core": "^2",
  "@opentelemetry/exporter-logs-otlp-proto": ">=0.223",
  "@opentelemetry/exporter-metrics-otlp-proto": ">=0.223",
  "@opentelemetry/exporter-trace-otlp-proto": ">=0.223",
  "@opentelemetry/id-generator-aws-xray": "^2",
  "@opentelemetry/propagator-aws-xray": "^2",
  "@opentelemetry/resources": "^2",
  "@opentelemetry/sdk-metrics": "^2",
  "@opentelemetry/sdk-trace-node": "^2",
  "@opentelemetry/semantic-conventions": "^1.30",
  express: ">=4",
  ioredis: "^6",
  "onnxruntime-node": ">=1.24",
  openai: ">=6",
} as const satisfies Record<string, `${"^" | ">="}${number}`>;

/** A package that guard uses where it is installed, and does not install itself. */
export type OptionalPackage = keyof typeof SUPPORTED_VERSIONS;

/** Compares versions by their first two numbers: no range above needs more. */
export function isSupported(name: OptionalPackage, version: string): boolean {
  const range = SUPPORTED_VERSIONS[name];
  const [major = 0, minor = 0] = numbersOf(version);
  const [leastMajor = 0, leastMinor = 0] = numbersOf(range);
  if (major === leastMajor) return minor >= leastMinor;
  return range.startsWith(">=") && major > leastMajor;
}

/**
 * Refuses a version that guard does not support.
 *
 * @param version the version that the program uses; undefined where it is unknown, which passes.
 * @throws GuardError `GUARD_PACKAGE` with the installed version, the supported ones and the command that installs one of them.
 */
export function checkVersion(name: OptionalPackage, version: string | undefined): void {
  if (version !== undefined && !isSupported(name, version)) {
    throw new GuardError("GUARD_PACKAGE", `${unsupported(name, version)}: ${installCommand([name])}`);
  }
}

/** Says that a version is not supported, and which ones are. */
export function unsupported(name: OptionalPackage, version: string): string {
  return `guard supports ${name} ${SUPPORTED_VERSIONS[name]}, and ${version} is installed`;
}

/** The command that installs the oldest supported major version of each package. */
export function installCommand(names: readonly OptionalPackage[]): string {
  return `npm install ${names.map(specifier).join(" ")}`;
}

/**
 * Says how guard gets packages that are missing.
 *
 * @param folder the folder of guard. If npx installed it, that is a folder of its cache, where users cannot install anything.
 * @param missing the packages that are missing.
 * @param needed all packages of the feature.
 */
export function installHint(
  folder: string,
  missing: readonly OptionalPackage[],
  needed: readonly OptionalPackage[],
): string {
  if (!/[\\/]_npx[\\/]/.test(folder)) return `Install beside guard-scan: ${installCommand(missing)}`;
  const packages = ["guard-scan", ...needed.map(specifier)].map((name) => `-p ${name}`);
  return `Start it as: npx ${packages.join(" ")} guard-scan ...`;
}

function specifier(name: OptionalPackage): string {
  return `${name}@${installable(SUPPORTED_VERSIONS[name])}`;
}

/** The tag that npm takes without quotes in any shell: `9` for `>=9`. Below 1.0 the newest version is taken. */
function installable(range: string): string {
  const [major = 0] = numbersOf(range);
  return major === 0 ? "latest" : String(major);
}

function numbersOf(version: string): number[] {
  return [...version.matchAll(/\d+/g)].map(Number);
}
