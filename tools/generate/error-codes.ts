import type { ErrorCode } from "../../src/support/errors.ts";
import { code, table } from "./markdown.ts";

/** What an error code means, and what the HTTP API answers then. */
interface ErrorMeaning {
  meaning: string;
  /** What to do about it. */
  remedy: string;
  /** The status of the HTTP API, where a request can lead to it. */
  status?: number;
}

/** The codes of guard's errors. They are stable: programs may go by them, while messages may change. */
export const ERROR_CODES: Readonly<Record<ErrorCode, ErrorMeaning>> = {
  GUARD_VALIDATION: {
    meaning: "An argument, an option or a configuration cannot be used. `issues` names every value at fault.",
    remedy: "Correct the values at the paths of the issues.",
    status: 422,
  },
  GUARD_PATTERN: {
    meaning: "A pattern is no valid expression, or took more steps on this text than it may.",
    remedy: "Simplify the pattern: one without look-around and back-references runs in linear time.",
    status: 500,
  },
  GUARD_SCANNER: {
    meaning: "A scanner of a program failed, or its answer was no verdict. The text was not checked.",
    remedy: "Look at `cause`, which is what the scanner threw.",
    status: 500,
  },
  GUARD_MODEL: {
    meaning: "The files of a model are missing or cannot be read, or the model has not what its scanner needs.",
    remedy: "Check `model` of the scanner; `guard-scan models` lists what is there.",
  },
  GUARD_DOWNLOAD: {
    meaning: "A model could not be downloaded.",
    remedy: "Check the connection and `HF_TOKEN`; `guard-scan models pull` goes on where it was interrupted.",
  },
  GUARD_PACKAGE: {
    meaning:
      "A feature needs a package that guard does not install: it is missing, or guard does not support its version.",
    remedy: "Run the command that the message names.",
  },
  GUARD_RUNTIME: {
    meaning: "The library of ONNX Runtime could not be loaded, or data that belongs to guard cannot be read.",
    remedy:
      "Install guard anew, or set `GUARD_ONNX_LIBRARY` to a library of ONNX Runtime; `guard-scan doctor` says what was found.",
  },
  GUARD_PROVIDER_UNAVAILABLE: {
    meaning: "An execution provider of `GUARD_ONNX_PROVIDERS` is not available, or did not start.",
    remedy: "Install the package with the provider, or take it out of the variable.",
  },
  GUARD_SETTING: {
    meaning: "A setting of the inference engine makes no sense.",
    remedy: "Correct the variable that the message names.",
  },
  GUARD_TOKENIZATION: {
    meaning: "The tokenizer of a model refused a text.",
    remedy: "Check whether `tokenizer.json` belongs to the model.",
    status: 500,
  },
  GUARD_INFERENCE: {
    meaning: "ONNX Runtime failed while it ran a model.",
    remedy: "The message is that of ONNX Runtime; too little memory is a common cause.",
    status: 500,
  },
  GUARD_PANIC: {
    meaning: "A bug of guard. Only the one call is affected.",
    remedy: "Please report it, with the message.",
    status: 500,
  },
  GUARD_OVERLOADED: {
    meaning:
      "There is too much to do for now: a scan would have waited too long, or not ended in time, or too many are under way.",
    remedy:
      "Try again after the seconds of `retryAfter` (`Retry-After`), add instances, or raise `max_queue_time` or `queue_size`.",
    status: 503,
  },
  GUARD_STARTING: {
    meaning: "The service still loads its models.",
    remedy: "Wait until `GET /readyz` answers with 200.",
    status: 503,
  },
  GUARD_UNAVAILABLE: {
    meaning: "The service could not load its models.",
    remedy: "The log of the service says why.",
    status: 503,
  },
  GUARD_CLOSED: {
    meaning: "The scanner, the model or the service is closed.",
    remedy: "Scan before closing it, or make a new one.",
    status: 503,
  },
  GUARD_ABORTED: {
    meaning: "The caller aborted the call.",
    remedy: "Nothing: that is what was asked for.",
    status: 499,
  },
  GUARD_TIMEOUT: {
    meaning: "A scan took longer than the service allows.",
    remedy: "Raise `scan_prompt_timeout` or `scan_output_timeout`, or scan shorter texts.",
    status: 504,
  },
  GUARD_TOO_LARGE: {
    meaning: "A conversation, a list of documents or a vault is larger than the service allows.",
    remedy: "Raise `max_messages` or `vault_max_size`, or send less.",
    status: 413,
  },
  GUARD_BLOCKED: {
    meaning:
      "A check failed: a wrapped client did not send the request, or does not show the answer. `report` says which check.",
    remedy: "Show the user that it was blocked, or give the wrapper a text to answer with.",
  },
  GUARD_UNREACHABLE: {
    meaning: "A server of guard could not be reached, or its reply made no sense. Nothing was checked.",
    remedy: "Look at `cause`, and check the address and the credential of the server.",
  },
  GUARD_UPSTREAM: {
    meaning: "The answer of a model has another shape than its API says, so nothing of it was checked or shown.",
    remedy: "Check that the address is that of an API whose format guard reads.",
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

Every error of guard is a \`GuardError\` with a \`code\`. Codes are stable and meant for programs; messages are meant for people and may
change.

- \`GuardValidationError\` has \`issues\`, each with the \`path\` of a value and a \`message\`, and the \`path\` of the first one. Paths are
  written as the value is: \`input_scanners.0.params.threshold\` in a file, \`matchType\` in a program.
- \`ScannerError\` has the name of the \`scanner\`, and as \`cause\` what the scanner threw; its code is that of the cause, if it has one.

A scan that ends with an error has not checked the text: never take it for a pass. With \`onScannerError: "block"\` a scanner that fails
makes the text fail in place of an error.

The last column is the status of the HTTP API where a request leads to the error. Its replies are problems as in RFC 9457.

${table([["Error", "Meaning", "What to do", "Status"], ...rows])}
`;
}
