import type { IncomingHttpHeaders } from "node:http";
import { Problem } from "../../../http-server/problem.ts";
import type { NamedScanner } from "../../../scan/named-scanners.ts";
import { CONVERSATION_RISK, SUFFIXES } from "../../../scan/report.ts";
import type { Side } from "../../../scan/scanner.ts";

/** The id of the detector with all scanners of a side. */
const ALL = "guard";

/** The suffix of ids for output scanners. */
const OUTPUT_SUFFIX = "-output";

/** A selection of scanners. */
export interface Detector {
  side: Side;
  suppress: string[];
  /** Returns whether a check belongs to the detector. Scanners that cannot be suppressed have results too. */
  includes(check: string): boolean;
}

/** The detectors of an endpoint. */
export interface DetectorRules {
  /** The sides of available scanners. */
  sides: readonly Side[];
  /** Whether requests to the endpoint contain the prompt of an output. */
  knowsPrompt: boolean;
}

/**
 * Finds the scanners of the header `detector-id`: `guard` for all input scanners, the name or type of an input scanner, and either of them
 * with `-output` for output scanners. A label may follow after `/`, because the detectors of an orchestrator need different names:
 * `guard/chat`. An unknown id is an error, because an empty reply would look like a pass.
 *
 * @throws Problem 404 if there is no such detector.
 */
export function detectorOf(
  headers: IncomingHttpHeaders,
  scanners: Readonly<Record<Side, readonly NamedScanner[]>>,
  { sides, knowsPrompt }: DetectorRules,
): Detector {
  const header = headers["detector-id"] ?? ALL;
  const [id = ""] = String(header).split("/", 1);
  for (const side of sides) {
    const available = scanners[side].filter(({ scanner }) => knowsPrompt || !scanner.comparesWithPrompt);
    const found = findScanners(id, available, side, sides);
    if (found === "all") {
      const suppress = scanners[side].filter((item) => !available.includes(item)).map(({ name }) => name);
      return { side, suppress, includes: () => true };
    }
    if (found) return detectorWith(found, scanners[side], side);
  }
  const known = sides.flatMap((side) => {
    const ending = side === "output" && sides.length > 1 ? OUTPUT_SUFFIX : "";
    const available = scanners[side].filter(({ scanner }) => knowsPrompt || !scanner.comparesWithPrompt);
    return [ALL, ...available.map(({ name }) => name)].map((name) => name + ending);
  });
  throw new Problem(
    404,
    `The header detector-id names no detector of this endpoint. Known detectors: ${known.join(", ")}.`,
  );
}

/** Returns the scanners of a side that an id names. */
function findScanners(
  id: string,
  available: readonly NamedScanner[],
  side: Side,
  sides: readonly Side[],
): "all" | readonly NamedScanner[] | undefined {
  // Without input scanners, ids of output scanners need no suffix.
  const ids = [
    ...(side === "input" || sides.length === 1 ? [id] : []),
    ...(side === "output" && id.endsWith(OUTPUT_SUFFIX) ? [id.slice(0, -OUTPUT_SUFFIX.length)] : []),
  ];
  for (const candidate of ids) {
    if (candidate === ALL) return "all";
    const found = available.filter(({ name, scanner }) => name === candidate || scanner.type === candidate);
    if (found.length > 0) return found;
  }
  return undefined;
}

function detectorWith(selected: readonly NamedScanner[], all: readonly NamedScanner[], side: Side): Detector {
  const names = new Set(selected.map(({ name }) => name));
  // Suppressing a name suppresses all scanners of that type, so names that are types of selected scanners must not be suppressed.
  const types = new Set(selected.map(({ scanner }) => scanner.type));
  const others = all.map(({ name }) => name).filter((name) => !names.has(name) && !types.has(name));
  return {
    side,
    suppress: [...others, ...(side === "input" ? [CONVERSATION_RISK] : [])],
    includes: (check) => {
      const suffix = SUFFIXES.find((suffix) => check.endsWith(suffix)) ?? "";
      return names.has(suffix === "" ? check : check.slice(0, -suffix.length));
    },
  };
}
