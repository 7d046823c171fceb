import { existsSync } from "node:fs";
import { join } from "node:path";
import type { z } from "zod";
import { embeddedFolder } from "../../models/model-files.ts";
import type { Scanner, Side } from "../../scan/scanner.ts";
import type { Source } from "../../scan/source.ts";
import { SCANNERS } from "../../scanners/catalog.ts";
import { commonOptions } from "../../scanners/common-options.ts";
import type { DefinedScanner, Example, Examples } from "../../scanners/definition.ts";
import type { Difference } from "../../scanners/difference.ts";
import { metaOf, toSnakeCase } from "../../support/options.ts";
import { type Figures, figuresOfScanner, type ModelReference, modelReference } from "./model-card.ts";
import { objectIn, plainType } from "./option-types.ts";
import { optionsOf } from "./options.ts";

/** The name of the texts of a side. */
export const TEXTS: Readonly<Record<Side, string>> = { input: "prompts", output: "outputs" };

/** An option of a scanner, as pages and `guard-scan scanners NAME --json` show it. */
export interface ScannerOption {
  /** The name in files. */
  name: string;
  /** The name in programs, if it differs. */
  camelName?: string;
  /** Its values in plain words, such as `number from 0 to 1`. */
  type: string;
  required: boolean;
  /** The default by side; absent if there is none. */
  defaults?: Partial<Record<Side, unknown>>;
  description: string;
  /** Whether it exists only for compatibility with files of llm-guard. */
  ofLlmGuard: boolean;
  /** The keys, if its values are objects. */
  keys?: ScannerOption[];
}

/** The documentation of a scanner. */
export interface ScannerReference {
  type: string;
  summary: string;
  description: string;
  sides: Side[];
  options: ScannerOption[];
  conversation: NonNullable<Scanner["conversation"]>;
  comparesWithPrompt: boolean;
  findings: readonly { type: string; label?: string }[];
  /** The differences from llm-guard 0.3.16. */
  differences: readonly Difference[];
  examples: { options: Record<string, unknown>; passes: readonly Example[]; fails: readonly Example[] };
  /** The default model. */
  model?: ModelReference;
  figures: { measured: Figures[]; thresholds: Figures[] };
}

/** The documentation of all scanners, in the alphabetical order of their types. */
export function scannerReferences(): ScannerReference[] {
  return SCANNERS.map(scannerReference);
}

/** The documentation of a scanner, which may be a plugin. */
export function scannerReference({ definition, classes }: DefinedScanner): ScannerReference {
  const { type, summary, description = "", examples, conversation = {}, comparesWithPrompt = false } = definition;
  const sides = Object.keys(classes) as Side[];
  const schemas = sides.map((side) => [side, (classes[side] as { options: z.ZodObject }).options] as const);
  const options = commonLast(mergedOptions(schemas));
  const folder = modelFolder(options);
  return {
    ...{ type, summary, description, sides, options, conversation, comparesWithPrompt, findings: definition.findings },
    differences: definition.differences ?? [],
    examples: shownExamples(examples, options),
    ...(folder === undefined ? {} : { model: modelReference(folder) }),
    figures: folder === undefined ? { measured: [], thresholds: [] } : figuresOfScanner(folder, type),
  };
}

const SOURCE_NAMES: Record<Source, string> = {
  user: "unanswered user messages",
  tool: "new tool results",
  assistant: "messages of the assistant",
  tool_call: "arguments of tool calls",
  tool_definition: "tool definitions",
  system: "system and developer messages",
};

/** A sentence about the texts of a conversation, or the prompt, that a scanner checks. */
export function whereItLooks({ sides, conversation, comparesWithPrompt }: ScannerReference): string {
  if (!sides.includes("input")) {
    return comparesWithPrompt
      ? "It compares an output with its prompt. Outputs without a prompt pass."
      : "It does not read the prompt.";
  }
  const { window, sources = ["user"], history } = conversation;
  const places = [
    ...sources.map((source) => SOURCE_NAMES[source]),
    ...(window ? ["the last user messages together (in case a text is split over them)"] : []),
    ...(history ? ["earlier answers of the model"] : []),
  ];
  return `In a conversation it checks ${places.length > 1 ? `${places.slice(0, -1).join(", ")} and ` : ""}${places.at(-1)}.`;
}

/**
 * A sentence about how one of guard's own scanners checks a stream; undefined for scanners of prompts. It applies to the default options
 * and, for required options, to those of the examples.
 */
export function howItStreams(type: string): string | undefined {
  const scanner = SCANNERS.find(({ definition }) => definition.type === type);
  if (!scanner) return undefined;
  const { classes, definition } = scanner;
  const Class = classes.output as (new (options: object) => Scanner) | undefined;
  if (!Class) return undefined;
  const { options = {} } = definition.examples;
  const required = Object.entries((Class as unknown as { options: z.ZodObject }).options.shape)
    .filter(([, schema]) => !schema.safeParse(undefined).success)
    .map(([name]) => [name, options[name]]);
  const { streaming, sanitizes } = new Class(Object.fromEntries(required));
  if (streaming?.reads === "sentences") return "In a stream it judges each sentence.";
  if (streaming?.reads === "words") return "In a stream it judges the new words.";
  if (streaming?.reads === "spans") return "In a stream it judges new text together with the text around it.";
  return sanitizes
    ? "It needs the whole output: a stream is held back until its end."
    : "It needs the whole output: in a stream it runs at the end.";
}

/** The options of both sides in one list, with the defaults of each side. */
function mergedOptions(schemas: readonly (readonly [Side, z.ZodObject])[]): ScannerOption[] {
  const merged = new Map<string, ScannerOption>();
  for (const [side, schema] of schemas) {
    for (const option of optionsOf(schema)) {
      const zod = schema.shape[option.name] as z.ZodType;
      const known = merged.get(option.name) ?? described(option.name, zod, option.required);
      if (option.default !== undefined) known.defaults = { ...known.defaults, [side]: JSON.parse(option.default) };
      merged.set(option.name, known);
    }
  }
  return [...merged.values()];
}

/** The options, with those that all scanners have at the end. */
function commonLast(options: readonly ScannerOption[]): ScannerOption[] {
  const isCommon = ({ name }: ScannerOption) => Object.hasOwn(commonOptions, name);
  return [...options.filter((option) => !isCommon(option)), ...options.filter(isCommon)];
}

function described(name: string, schema: z.ZodType, required: boolean): ScannerOption {
  const snake = toSnakeCase(name);
  const object = objectIn(schema);
  // The description of an option explains a single key, such as fpr.
  const keys = object && Object.keys(object.shape).length > 1 ? mergedOptions([["input", object]]) : undefined;
  return {
    name: snake,
    ...(snake === name ? {} : { camelName: name }),
    type: plainType(schema),
    required,
    description: metaOf(schema, "description") ?? "",
    ofLlmGuard: metaOf(schema, "ofLlmGuard") ?? false,
    ...(keys ? { keys } : {}),
  };
}

/** The folder of the default model, if it is embedded. */
function modelFolder(options: readonly ScannerOption[]): string | undefined {
  const names = options.flatMap(({ defaults }) => Object.values(defaults ?? {}));
  const name = names.find((value) => typeof value === "string" && value.startsWith("embedded:"));
  const folder = name === undefined ? undefined : join(embeddedFolder, String(name).slice("embedded:".length));
  return folder !== undefined && existsSync(folder) ? folder : undefined;
}

/** The examples, without options that only programs can set. */
function shownExamples({ options: given = {}, passes, fails }: Examples, options: readonly ScannerOption[]) {
  const written = Object.entries(given).flatMap(([name, value]) => {
    const option = options.find((item) => (item.camelName ?? item.name) === name);
    return option && !option.type.includes("from programs only") ? [[option.name, value] as const] : [];
  });
  return { options: Object.fromEntries(written), passes, fails };
}
