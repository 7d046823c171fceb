import { GuardValidationError } from "../support/errors.ts";
import { type HubSettings, hubSettings } from "./hub/requests.ts";
import { modelsFolder } from "./model-files.ts";

/** The default number of texts that may wait for one model before calls are refused. */
export const DEFAULT_QUEUE_CAPACITY = 512;

/**
 * The default number of windows of a text that a model reads. guard's model of prompt injections, whose windows are the shortest, makes
 * 2.6 windows of 1,000 characters of English, so that 390,000 characters are read.
 */
export const DEFAULT_MAX_WINDOWS = 1024;

/** How an engine is set up. */
export interface EngineOptions {
  /** How many texts may wait for one model before calls are refused with `GUARD_OVERLOADED`. Default: 512. */
  queueCapacity?: number;
  /**
   * How many windows of a text a model reads that judges it, at least 2. Of a longer text it reads the beginning and the end, and the
   * coverage says so. Models that find names read all of a text. Default: 1024, which is about 390,000 characters of English or more.
   */
  maxWindows?: number;
  /** How many threads inference uses in total. Default: the physical cores, or fewer where the process may not use them all. */
  threads?: number;
  /** The execution providers of ONNX Runtime in order of preference, such as `["cuda", "cpu"]`. Default: the CPU. */
  providers?: readonly string[];
  /**
   * Where the ONNX Runtime library may be; the first file that exists is taken. Default: an installed `onnxruntime-node`, guard's
   * own package for this platform, the system. A process can have only one library.
   */
  libraries?: readonly string[];
  /** Where models are kept that do not come with the package. Default: the cache of Hugging Face's tools. */
  modelsDir?: string;
  /** Whether `load()` may download a model of the hub. If it may not, the model must already be on this machine. Default true. */
  downloads?: boolean;
  /** The address of the Hugging Face hub and the token of the user. Default: the public hub, without a token. */
  hub?: HubSettings;
}

/**
 * The options that the environment sets: `GUARD_BACKEND`, `GUARD_ONNX_LIBRARY`, `GUARD_ONNX_PROVIDERS`, `GUARD_ONNX_THREADS`,
 * `GUARD_MODELS_DIR`, and `HF_HUB_CACHE`, `HF_HOME`, `HF_ENDPOINT`, `HF_TOKEN` and `HF_HUB_OFFLINE` for the hub.
 *
 * @throws GuardValidationError for a variable with an impossible value.
 */
export function engineOptions(env: NodeJS.ProcessEnv = process.env): EngineOptions {
  const backend = env.GUARD_BACKEND || "onnx";
  if (backend !== "onnx") {
    throw new GuardValidationError([{ path: "GUARD_BACKEND", message: `unknown backend ${backend}; known are: onnx` }]);
  }
  const threads = env.GUARD_ONNX_THREADS ? Number(env.GUARD_ONNX_THREADS) : undefined;
  if (threads !== undefined && !isThreadCount(threads)) {
    throw new GuardValidationError([{ path: "GUARD_ONNX_THREADS", message: "expected an integer from 1 to 1024" }]);
  }
  const providers = (env.GUARD_ONNX_PROVIDERS ?? "")
    .split(",")
    .map((name) => name.trim())
    .filter(Boolean);
  return {
    providers,
    modelsDir: modelsFolder(env),
    hub: hubSettings(env),
    ...(env.GUARD_ONNX_LIBRARY ? { libraries: [env.GUARD_ONNX_LIBRARY] } : {}),
    ...(threads === undefined ? {} : { threads }),
  };
}

/**
 * Checks numbers that a program gave.
 *
 * @throws GuardValidationError with the name of the option.
 */
export function checkEngineOptions({ queueCapacity, maxWindows, threads }: EngineOptions): void {
  const issues = [
    ...(queueCapacity === undefined || isQueueCapacity(queueCapacity)
      ? []
      : [{ path: "queueCapacity", message: "expected an integer of at least 1" }]),
    ...(maxWindows === undefined || (isQueueCapacity(maxWindows) && maxWindows > 1)
      ? []
      : [{ path: "maxWindows", message: "expected an integer of at least 2" }]),
    ...(threads === undefined || isThreadCount(threads)
      ? []
      : [{ path: "threads", message: "expected an integer from 1 to 1024" }]),
  ];
  if (issues.length > 0) throw new GuardValidationError(issues);
}

function isThreadCount(threads: number): boolean {
  return Number.isInteger(threads) && threads >= 1 && threads <= 1024;
}

/** The engine counts in unsigned integers of 32 bits. */
function isQueueCapacity(capacity: number): boolean {
  return Number.isInteger(capacity) && capacity >= 1 && capacity < 2 ** 32;
}
