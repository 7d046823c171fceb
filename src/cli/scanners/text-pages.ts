import type { PackagePlugin } from "../../plugins/packages.ts";
import type { Side } from "../../scan/scanner.ts";
import type { Example } from "../../scanners/definition.ts";
import { columns, indentLines } from "../layout.ts";
import { type ScannerOption, type ScannerReference, TEXTS, whereItLooks } from "./reference.ts";

/** A table of the scanners for a terminal with lines of `width` characters. */
export function scannerList(references: readonly ScannerReference[], width?: number): string {
  const rows = references.map(({ type, sides, summary }) => [
    type,
    sides.map((side) => TEXTS[side]).join(", "),
    plain(summary),
  ]);
  return `${columns([["NAME", "CHECKS", "WHAT IT DOES"], ...rows], { width, wraps: true })}\nRun guard-scan scanners NAME for details.\n`;
}

/** A table of the plugins that packages offer by name; empty if there are none. */
export function pluginList(offers: readonly PackagePlugin[]): string {
  const rows = offers.map(({ name, package: from, target }) => [name, from, target]);
  return rows.length > 0 ? `\n${columns([["PLUGIN", "PACKAGE", "MODULE"], ...rows])}` : "";
}

/** The page of a scanner for a terminal, without the backticks of code. */
export function scannerPage(reference: ScannerReference): string {
  const { type, summary, description, sides, findings, differences, model, examples } = reference;
  const own = reference.options.filter(({ ofLlmGuard }) => !ofLlmGuard);
  const others = reference.options.filter(({ ofLlmGuard }) => ofLlmGuard);
  const parts = [
    `${type}: checks ${sides.map((side) => TEXTS[side]).join(" and ")}\n\n${indentLines(plain(summary), "  ")}`,
    ...(description === "" ? [] : [indentLines(plain(description), "  ")]),
    indentLines(whereItLooks(reference), "  "),
    `OPTIONS in scanners.yml; programs write them in camelCase\n\n${own.map((option) => optionText(option, sides)).join("\n\n")}`,
    ...(others.length > 0
      ? [
          `OPTIONS that files of llm-guard may have\n\n${others.map((option) => optionText(option, sides)).join("\n\n")}`,
        ]
      : []),
    ...section(`EXAMPLES${exampleOptions(examples.options)}`, [
      ...examples.passes.map((example) => `  passes  ${exampleText(example)}`),
      ...examples.fails.map((example) => `  fails   ${exampleText(example)}`),
    ]),
    ...section(
      "FINDINGS",
      findings.map(({ type, label }) => indentLines(`${type}${label ? `: ${plain(label)}` : ""}`, "  ")),
    ),
    ...section(
      "UNLIKE LLM-GUARD",
      differences.map(({ text }, index) => `${index > 0 ? "\n" : ""}${indentLines(plain(text), "  ")}`),
    ),
    ...(model
      ? [
          `MODEL\n\n  embedded:${model.name}, version ${model.version}, ${(model.size / 1e6).toFixed(1)} MB, ${model.license}` +
            `${model.measured ? `, measured on ${model.measured}` : ""}`,
        ]
      : []),
  ];
  return `${parts.join("\n\n")}\n`;
}

/** A section of a page; nothing without lines, as plugins may have. */
function section(title: string, lines: readonly string[]): string[] {
  return lines.length > 0 ? [`${title}\n\n${lines.join("\n")}`] : [];
}

function plain(markdown: string): string {
  return markdown.replaceAll("`", "");
}

function optionText(option: ScannerOption, sides: readonly Side[], indent = "  "): string {
  const { name, type, required, description, keys = [] } = option;
  const fallback = required ? ", required" : defaultText(option, sides);
  const below = keys.filter((key) => !key.ofLlmGuard).map((key) => `\n${optionText(key, ["input"], `${indent}    `)}`);
  return `${indent}${name}: ${type}${fallback}\n${indentLines(description, `${indent}    `)}${below.join("")}`;
}

function defaultText({ defaults = {} }: ScannerOption, sides: readonly Side[]): string {
  const values = sides.flatMap((side) => (side in defaults ? [[side, JSON.stringify(defaults[side])] as const] : []));
  const [first] = values;
  if (!first) return "";
  if (values.every(([, value]) => value === first[1])) return `; default ${first[1]}`;
  return `; default ${values.map(([side, value]) => `${value} for ${TEXTS[side]}`).join(", ")}`;
}

function exampleOptions(given: Record<string, unknown>): string {
  return Object.keys(given).length > 0 ? ` with ${JSON.stringify(given)}` : "";
}

function exampleText(example: Example): string {
  if (typeof example === "string") return JSON.stringify(example);
  const { text, prompt, sanitized } = example;
  const prompted = prompt === undefined ? "" : `, in answer to ${JSON.stringify(prompt)}`;
  const left = sanitized === undefined || sanitized === text ? "" : `, becomes ${JSON.stringify(sanitized)}`;
  return JSON.stringify(text) + prompted + left;
}
