import type { ErrorCode } from "../../src/support/errors.ts";
import { code, table } from "./markdown.ts";

/** The documentation of an error code. */
interface ErrorDescription {
  meaning: string;
  /** What the user can do. */
  remedy: string;
  /** The status of the HTTP response, if a request can cause the error. */
  status?: number;
}

/** The error codes. They are stable; messages may change. */
export const ERROR_CODES: Readonly<Record<ErrorCode, ErrorDescription>> = {
  GUARD_VALIDATION: {
    meaning: "An argument, an option or a configuration is invalid. `issues` lists all invalid values.",
    remedy: "Correct the values at the paths of the issues.",
    status: 422,
  },
  GUARD_PATTERN: {
    meaning: "A pattern is invalid, or exceeded its step limit on this text.",
    remedy: "Simplify the pattern. Patterns without look-around and back-references run in linear time.",
    status: 500,
  },
  GUARD_SCANNER: {
    meaning: "A custom scanner failed or did not return a verdict. The text was not checked.",
    remedy: "See `cause`, the error that the scanner threw.",
    status: 500,
  },
  GUARD_MODEL: {
    meaning: "The files of a model are missing or invalid, or the model does not fit its scanner.",
    remedy: "Check `model` of the scanner. `npx guard-scan models` lists the installed models.",
  },
  GUARD_DOWNLOAD: {
    meaning: "A model could not be downloaded.",
    remedy: "Check the connection and `HF_TOKEN`. `npx guard-scan models pull` resumes an interrupted download.",
  },
  GUARD_PACKAGE: {
    meaning:
      "A feature needs a package that guard does not install: it is missing, or guard does not support its version.",
    remedy: "Run the command that the message names.",
  },
  GUARD_RUNTIME: {
    meaning: "The ONNX Runtime library could not be loaded, or data files of guard cannot be read.",
    remedy:
      "Reinstall guard, or set `GUARD_ONNX_LIBRARY` to the path of an ONNX Runtime library. `npx guard-scan doctor` shows what was found.",
  },
  GUARD_PROVIDER_UNAVAILABLE: {
    meaning: "An execution provider of `GUARD_ONNX_PROVIDERS` is not available or failed to start.",
    remedy: "Install a package with the provider, or remove it from the variable.",
  },
  GUARD_SETTING: {
    meaning: "A setting of the inference engine is invalid.",
    remedy: "Correct the variable that the message names.",
  },
  GUARD_TOKENIZATION: {
    meaning: "The tokenizer of a model rejected a text.",
    remedy: "Check that `tokenizer.json` belongs to the model.",
    status: 500,
  },
  GUARD_INFERENCE: {
    meaning: "ONNX Runtime failed while it ran a model.",
    remedy: "The message is from ONNX Runtime. A common cause is too little memory.",
    status: 500,
  },
  GUARD_PANIC: {
    meaning: "A bug in guard. Other calls are not affected.",
    remedy: "Please report it with the message.",
    status: 500,
  },
  GUARD_OVERLOADED: {
    meaning: "Too much load: a scan would have exceeded its queue time or its deadline, or too many scans are running.",
    remedy:
      "Retry after `retryAfter` seconds (`Retry-After`), add instances, or raise `max_queue_time` or `queue_size`.",
    status: 503,
  },
  GUARD_STARTING: {
    meaning: "The service is still loading its models.",
    remedy: "Wait until `GET /readyz` returns 200.",
    status: 503,
  },
  GUARD_UNAVAILABLE: {
    meaning: "The service could not load its models.",
    remedy: "See the log of the service.",
    status: 503,
  },
  GUARD_CLOSED: {
    meaning:
      "The model of a scanner, the engine or the service is closed. A scanner without a model still scans after `close()`.",
    remedy: "Scan before closing it, or create a new one.",
    status: 503,
  },
  GUARD_ABORTED: {
    meaning: "The caller aborted the call.",
    remedy: "Nothing, as the caller wanted this.",
    status: 499,
  },
  GUARD_TIMEOUT: {
    meaning: "A scan took longer than the service allows.",
    remedy: "Raise `scan_prompt_timeout` or `scan_output_timeout`, or scan shorter texts.",
    status: 504,
  },
  GUARD_TOO_LARGE: {
    meaning: "A conversation, a list of documents or a vault exceeds a limit of the service.",
    remedy: "Raise `max_messages` or `vault_max_size`, or send less.",
    status: 413,
  },
  GUARD_BLOCKED: {
    meaning:
      "A check failed, so the wrapped client did not send the request or withheld the answer. `report` has the checks.",
    remedy: "Tell the user that the text was blocked, or give the wrapper a replacement text.",
  },
  GUARD_UNREACHABLE: {
    meaning: "A guard server could not be reached or sent an invalid response. The text was not checked.",
    remedy: "See `cause`, and check the address and the credential of the server.",
  },
  GUARD_UPSTREAM: {
    meaning: "The response of a model does not have the format of its API. It was neither checked nor passed on.",
    remedy: "Check that the address belongs to an API that guard supports.",
  },
};

/** The page of the error codes. */
export function errorPage(): string {
  const rows = Object.entries(ERROR_CODES).map(([name, { meaning, remedy, status }]) => [
    code(name),
    meaning,
    remedy,
    status === undefined ? "" : String(status),
  ]);
  return `<!-- Generated by npm run generate from tools/generate/error-codes.ts. Do not edit. -->

# Errors

All errors of guard are a \`GuardError\` with a \`code\`. Codes are stable; messages may change. A call whose \`signal\` is aborted
rejects with the reason of the signal, which is your own error or a \`DOMException\`.

- \`GuardValidationError\` has \`issues\`, each with the \`path\` of a value and a \`message\`, and the \`path\` of the first issue. Paths have the
  case of the source: \`input_scanners.0.params.threshold\` in a file, \`matchType\` in a program.
- \`ScannerError\` has the name of the \`scanner\`, and the error that the scanner threw as \`cause\`. Its code is that of the cause, if it
  has one.

A scan that ends with an error has not checked the text. Never treat it as a pass. With \`onScannerError: "block"\` a failing scanner
makes the text fail instead of throwing.

The last column is the HTTP status, if a request can cause the error. Error responses are problem details (RFC 9457).

${table([["Error", "Meaning", "What to do", "Status"], ...rows])}
`;
}
