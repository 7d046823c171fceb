import type { parse } from "../command.ts";
import { labelledOptions } from "./labelled.ts";

/** The options of `guard-scan eval`. */
export const evalOptions = {
  ...labelledOptions,
  scanner: { ...labelledOptions.scanner, help: "a scanner to measure; may be repeated" },
  config: {
    type: "string",
    value: "FILE",
    help: "measure the verdicts of a configuration, and of each of its scanners",
  },
  otherwise: {
    type: "string",
    value: "LABEL",
    help: "compare labels: the label of the most confident finding, or LABEL without findings, should be the text's",
  },
  spans: {
    type: "string",
    multiple: true,
    value: "TYPE",
    help: "compare spans: findings of this type should be the text's spans; ALL for every type; may be repeated",
  },
  by: {
    type: "string",
    multiple: true,
    value: "FIELD",
    help: "group the figures by this field; default: source or set, and lang with --spans",
  },
  suite: { type: "string", value: "FILE", help: "YAML file with a list of evaluations, instead of a file of texts" },
  data: {
    type: "string",
    value: "DIR",
    help: "folder with the files that a suite names; default: GUARD_EVAL_DATA, or the folder of the suite",
  },
  only: {
    type: "string",
    multiple: true,
    value: "NAME",
    help: "run only this evaluation or scanner of the suite; may be repeated",
  },
  failures: {
    type: "string",
    value: "FILE",
    help: "write the texts with wrong verdicts to a file .csv, .jsonl or .html",
  },
  junit: { type: "string", value: "FILE", help: "write a JUnit report (XML), in which a wrong verdict is a failure" },
  json: { type: "boolean", help: "print JSON" },
  out: { type: "string", value: "FILE", help: "write JSON to a file" },
} as const;

/** The parsed options of `guard-scan eval`. */
export type EvalValues = ReturnType<typeof parse<typeof evalOptions>>["values"];
