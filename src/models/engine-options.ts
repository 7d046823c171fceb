import { GuardValidationError } from "../support/errors.ts";
import { type HubSettings, hubSettings } from "./hub/requests.ts";
import { modelsFolder } from "./model-files.ts";

/** The default for `queueCapacity`. */
export const DEFAULT_QUEUE_CAPACITY = 512;

/**
 * The default for `maxWindows`. The prompt injection model has the shortest windows: it splits 1,000 characters of English into 2.6 of
 * them, so that it reads 390,000 characters.
 */
export const DEFAULT_MAX_WINDOWS = 1024;

/** The options of an engine. */
export interface EngineOptions {
  /** How many texts may wait for one model before calls are refused with `GUARD_OVERLOADED`. Default: 512. */
  queueCapacity?: number;
  /**
   * How many windows of a text a classifying model reads, at least 2. Of a longer text it reads the start and the end, as the coverage
   * reports. Models that find names always read the whole text. Default: 1024, which is at least 390,000 characters of English.
   */
  maxWindows?: number;
  /** How many threads inference uses in total. Default: the number of physical cores that the process may use. */
  threads?: number;
  /** The execution providers of ONNX Runtime in order of preference, such as `["cuda", "cpu"]`. Default: the CPU. */
  providers?: readonly string[];
  /**
   * Candidate paths of the ONNX Runtime library; the first existing file is loaded. Default: an installed `onnxruntime-node`, guard's
   * package for this platform, the system. A process can load only one library.
   */
  libraries?: readonly string[];
  /** The folder of models that are not embedded in the package. Default: the cache of Hugging Face's tools. */
  modelsDir?: string;
  /** Whether `load()` may download hub models. Otherwise they must be on this machine already. Default: true. */
  downloads?: boolean;
  /** The address of the Hugging Face hub and the user's token. Default: the public hub, without a token. */
  hub?: HubSettings;
}

/**
 * Reads the options that the environment sets: `GUARD_BACKEND`, `GUARD_ONNX_LIBRARY`, `GUARD_ONNX_PROVIDERS`, `GUARD_ONNX_THREADS`,
 * `GUARD_MODELS_DIR`, and `HF_HUB_CACHE`, `HF_HOME`, `HF_ENDPOINT`, `HF_TOKEN` and `HF_HUB_OFFLINE` for the hub.
 *
 * @throws GuardValidationError for a variable with an invalid value.
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
 * Validates the numbers in options.
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

/** The engine uses unsigned 32-bit integers. */
function isQueueCapacity(capacity: number): boolean {
  return Number.isInteger(capacity) && capacity >= 1 && capacity < 2 ** 32;
}
