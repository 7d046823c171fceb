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

/** What the texts of a side are called. */
export const TEXTS: Readonly<Record<Side, string>> = { input: "prompts", output: "outputs" };

/** An option of a scanner, as its page and `guard-scan scanners NAME --json` show it. */
export interface ScannerOption {
  /** As files write it. */
  name: string;
  /** As programs write it, where that differs. */
  camelName?: string;
  /** What it takes, in plain words. */
  type: string;
  required: boolean;
  /** The value that it has when it is left out, by side; absent where there is none. */
  defaults?: Partial<Record<Side, unknown>>;
  description: string;
  /** Whether it is only there because files of llm-guard have it. */
  ofLlmGuard: boolean;
  /** The keys of the objects that it takes. */
  keys?: ScannerOption[];
}

/** All that a user has to know of a scanner. */
export interface ScannerReference {
  type: string;
  summary: string;
  description: string;
  sides: Side[];
  options: ScannerOption[];
  conversation: NonNullable<Scanner["conversation"]>;
  comparesWithPrompt: boolean;
  findings: readonly { type: string; label?: string }[];
  /** What it does otherwise than llm-guard 0.3.16. */
  differences: readonly Difference[];
  examples: { options: Record<string, unknown>; passes: readonly Example[]; fails: readonly Example[] };
  /** The model that it uses unless it is told another one. */
  model?: ModelReference;
  figures: { measured: Figures[]; thresholds: Figures[] };
}

/** The reference of every scanner, by the alphabet of their types. */
export function scannerReferences(): ScannerReference[] {
  return SCANNERS.map(scannerReference);
}

/** The reference of one scanner, which may be of a plugin. */
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

const SOURCE_WORDS: Record<Source, string> = {
  user: "the user messages that the model has not answered",
  tool: "tool results that the model is about to read",
  assistant: "messages of the assistant",
  tool_call: "the arguments of tool calls",
  tool_definition: "definitions of tools",
  system: "system and developer messages",
};

/** What a scanner looks at besides the text that it is given, in a sentence. */
export function whereItLooks({ sides, conversation, comparesWithPrompt }: ScannerReference): string {
  if (!sides.includes("input")) {
    return comparesWithPrompt
      ? "It compares an output with its prompt; without one the output passes."
      : "It does not look at the prompt.";
  }
  const { window, sources = ["user"], history } = conversation;
  const places = [
    ...sources.map((source) => SOURCE_WORDS[source]),
    ...(window ? ["the last few user messages together (where something may have been split)"] : []),
    ...(history ? ["what the model has answered already"] : []),
  ];
  return `In a conversation it looks at ${places.length > 1 ? `${places.slice(0, -1).join(", ")} and ` : ""}${places.at(-1)}.`;
}

/**
 * How one of guard's own scanners reads an output that arrives in pieces, in a sentence; undefined for one of prompts. It says so with its default options, or with those of its examples where it
 * cannot do without.
 */
export function howItStreams(type: string): string | undefined {
  const scanner = SCANNERS.find(({ definition }) => definition.type === type);
  if (!scanner) return undefined;
  const { classes, definition } = scanner;
  const made = classes.output as (new (options: object) => Scanner) | undefined;
  if (!made) return undefined;
  const { options = {} } = definition.examples;
  const required = Object.entries((made as unknown as { options: z.ZodObject }).options.shape)
    .filter(([, schema]) => !schema.safeParse(undefined).success)
    .map(([name]) => [name, options[name]]);
  const { streaming, sanitizes } = new made(Object.fromEntries(required));
  if (streaming?.reads === "sentences") return "While an output arrives, it judges sentence by sentence.";
  if (streaming?.reads === "words") return "While an output arrives, it judges what is new.";
  if (streaming?.reads === "spans")
    return "While an output arrives, it looks at what is new together with the text around it.";
  return sanitizes
    ? "It needs the whole output: while one arrives, nothing is given out before its end."
    : "It needs the whole output: when one arrives in pieces, it runs at the end.";
}

/** The options of both sides as one list, with the defaults of each. */
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

/** The options with those last that all scanners have. */
function commonLast(options: readonly ScannerOption[]): ScannerOption[] {
  const isCommon = ({ name }: ScannerOption) => Object.hasOwn(commonOptions, name);
  return [...options.filter((option) => !isCommon(option)), ...options.filter(isCommon)];
}

function described(name: string, schema: z.ZodType, required: boolean): ScannerOption {
  const snake = toSnakeCase(name);
  const object = objectIn(schema);
  // One key, such as fpr, stands in the text of the option itself.
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

/** The folder of the embedded model that a scanner uses by default. */
function modelFolder(options: readonly ScannerOption[]): string | undefined {
  const names = options.flatMap(({ defaults }) => Object.values(defaults ?? {}));
  const name = names.find((value) => typeof value === "string" && value.startsWith("embedded:"));
  const folder = name === undefined ? undefined : join(embeddedFolder, String(name).slice("embedded:".length));
  return folder !== undefined && existsSync(folder) ? folder : undefined;
}

/** The examples, with the options that a file can write. */
function shownExamples({ options: given = {}, passes, fails }: Examples, options: readonly ScannerOption[]) {
  const written = Object.entries(given).flatMap(([name, value]) => {
    const option = options.find((item) => (item.camelName ?? item.name) === name);
    return option && !option.type.includes("from programs only") ? [[option.name, value] as const] : [];
  });
  return { options: Object.fromEntries(written), passes, fails };
}
