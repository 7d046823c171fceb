import { type Mode, type ModeGroup, modeOf } from "../../scan/mode.ts";
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
  /** The sources for which it only monitors. */
  monitors: string[];
}

/** Describes the scanners of each side, in order. A scanner that is off has no sources. */
export function describeScanners(service: ScanService): Record<Side, DescribedScanner[]> {
  const { input, output } = service.scanners;
  const inputSources = (item: NamedScanner) =>
    SOURCES.filter((source) => service.scannersOf(source).some(({ name }) => name === item.name));
  const describe = (item: NamedScanner, sources: readonly ModeGroup[]): DescribedScanner => {
    const { type, sanitizes, mode } = item.scanner;
    const isIn = (wanted: Mode) => (source: ModeGroup) => modeOf(source, [service.mode, mode]) === wanted;
    return {
      ...{ name: item.name, type, models: modelNames(item.scanner), rewrites: sanitizes, masks: service.masks(item) },
      ...limitOf(item.scanner),
      sources: sources.filter((source) => !isIn("off")(source)),
      monitors: sources.filter(isIn("monitor")),
    };
  };
  return {
    input: input.map((item) => describe(item, inputSources(item))),
    output: output.map((item) => describe(item, ["output"])),
  };
}

/** Returns the number that probabilities are compared with, if the options have one. */
function limitOf(scanner: NamedScanner["scanner"]): Pick<DescribedScanner, "threshold" | "minimum"> {
  const { options } = scanner as { options?: unknown };
  if (!isRecord(options)) return {};
  const option = SCANNERS.find(({ definition }) => definition.type === scanner.type)?.definition.minimum;
  if (option !== undefined) return typeof options[option] === "number" ? { minimum: options[option] } : {};
  return typeof options.threshold === "number" ? { threshold: options.threshold } : {};
}
