import type { NamedScanner } from "../../scan/named-scanners.ts";
import type { Side } from "../../scan/scanner.ts";
import { SOURCES } from "../../scan/source.ts";
import { SCANNERS } from "../../scanners/catalog.ts";
import { modelNames } from "../../scanners/model-names.ts";
import type { ScanService } from "../../service/service.ts";
import { isRecord } from "../../support/is-record.ts";

/** A scanner in JSON, as `GET /profiles` describes it. */
export interface DescribedScanner {
  name: string;
  type: string;
  models: string[];
  rewrites: boolean;
  masks: boolean;
  threshold?: number;
  minimum?: number;
  sources: string[];
}

/** Describes the scanners of each side, in order. */
export function describeScanners(service: ScanService): Record<Side, DescribedScanner[]> {
  const { input, output } = service.scanners;
  const sourcesOf = (item: NamedScanner) =>
    SOURCES.filter((source) => service.scannersOf(source).some(({ name }) => name === item.name));
  return {
    input: input.map((item) => describe(item, service.masks(item), sourcesOf(item))),
    output: output.map((item) => describe(item, service.masks(item), ["output"])),
  };
}

function describe({ name, scanner }: NamedScanner, masks: boolean, sources: string[]): DescribedScanner {
  const { type, sanitizes } = scanner;
  return { name, type, models: modelNames(scanner), rewrites: sanitizes, masks, ...limitOf(scanner), sources };
}

/** Returns the number that probabilities are compared with, if the options have one. */
function limitOf(scanner: NamedScanner["scanner"]): Pick<DescribedScanner, "threshold" | "minimum"> {
  const { options } = scanner as { options?: unknown };
  if (!isRecord(options)) return {};
  const option = SCANNERS.find(({ definition }) => definition.type === scanner.type)?.definition.minimum;
  if (option !== undefined) return typeof options[option] === "number" ? { minimum: options[option] } : {};
  return typeof options.threshold === "number" ? { threshold: options.threshold } : {};
}
