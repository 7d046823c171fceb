import { existsSync, readdirSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { GuardValidationError } from "../errors.ts";
import { addon, type EngineInfo, type EngineSettings, native } from "../native.ts";

const require = createRequire(import.meta.url);

/** Texts that may wait for one model before calls are refused, unless set otherwise. */
export const DEFAULT_QUEUE_CAPACITY = 512;

let queueCapacity = DEFAULT_QUEUE_CAPACITY;

/**
 * Sets how many texts may wait for one model. Must be called before the first model is loaded: there is one engine in a
 * process.
 */
export function setQueueCapacity(capacity: number): void {
  queueCapacity = capacity;
}

/**
 * How the inference engine of this process is set up, from `GUARD_BACKEND`, `GUARD_ONNX_LIBRARY`, `GUARD_ONNX_PROVIDERS` and
 * `GUARD_ONNX_THREADS`.
 *
 * @throws GuardValidationError for a variable with an impossible value.
 */
export function engineSettings(env: NodeJS.ProcessEnv = process.env): EngineSettings {
  const backend = env.GUARD_BACKEND || "onnx";
  if (backend !== "onnx") {
    throw new GuardValidationError([{ path: "GUARD_BACKEND", message: `unknown backend ${backend}; known are: onnx` }]);
  }
  const threads = env.GUARD_ONNX_THREADS ? Number(env.GUARD_ONNX_THREADS) : undefined;
  if (threads !== undefined && (!Number.isInteger(threads) || threads < 1 || threads > 1024)) {
    throw new GuardValidationError([{ path: "GUARD_ONNX_THREADS", message: "expected an integer from 1 to 1024" }]);
  }
  const providers = (env.GUARD_ONNX_PROVIDERS ?? "")
    .split(",")
    .map((name) => name.trim())
    .filter(Boolean);
  const libraries = env.GUARD_ONNX_LIBRARY ? [env.GUARD_ONNX_LIBRARY] : runtimeLibraries();
  return { libraries, providers, queueCapacity, ...(threads === undefined ? {} : { threads }) };
}

/** Starts the engine, if it is not started yet, and tells what it runs on. */
export async function engineInfo(): Promise<EngineInfo> {
  return native(() => addon.startEngine(engineSettings()));
}

/**
 * Where the ONNX Runtime library may be, best first: of an installed `onnxruntime-node` (the way to GPUs), of guard's own
 * platform package, of the system (Alpine has one of its own, since the others are for glibc).
 */
export function runtimeLibraries(platform: NodeJS.Platform = process.platform, arch: string = process.arch): string[] {
  const musl = platform === "linux" && isMusl();
  const inPackages = musl
    ? []
    : [
        packageFolder("onnxruntime-node", `bin/napi-v6/${platform}/${arch}`),
        packageFolder(`guard-scan-${platform}-${arch}${{ linux: "-gnu", win32: "-msvc" }[platform as string] ?? ""}`),
      ];
  const inSystem = platform === "linux" ? ["/usr/lib", "/usr/local/lib"] : [];
  return [...inPackages, ...inSystem].flatMap((folder) => (folder ? librariesIn(folder) : []));
}

function librariesIn(folder: string): string[] {
  const pattern = /^(libonnxruntime\.so(\.\d+)*|libonnxruntime(\.\d+)*\.dylib|onnxruntime\.dll)$/;
  return existsSync(folder)
    ? readdirSync(folder)
        .filter((name) => pattern.test(name))
        .sort()
        .map((name) => join(folder, name))
    : [];
}

function packageFolder(name: string, below = ""): string | undefined {
  try {
    return join(dirname(require.resolve(`${name}/package.json`)), below);
  } catch {
    return undefined;
  }
}

function isMusl(): boolean {
  // Without this the report looks up the names of all open connections.
  (process.report as { excludeNetwork?: boolean }).excludeNetwork = true;
  const report = process.report.getReport() as { header?: { glibcVersionRuntime?: string } };
  return !report.header?.glibcVersionRuntime;
}
