import type { IncomingHttpHeaders } from "node:http";
import { Problem } from "../../../http-server/problem.ts";
import type { NamedScanner } from "../../../scan/named-scanners.ts";
import { CONVERSATION_RISK, SUFFIXES } from "../../../scan/report.ts";
import type { Side } from "../../../scan/scanner.ts";

/** The id of the detector that all scanners of a side are together. */
const ALL = "guard";

/** What an id of a detector ends with when the scanners of outputs are meant. */
const OUTPUT = "-output";

/** Which scanners a request asks. */
export interface Detector {
  side: Side;
  /** The scanners to leave out. */
  suppress: string[];
  /** Whether a check is one of the detector's. Scanners that could not be left out have results as well. */
  counts(check: string): boolean;
}

/** Which detectors an endpoint has. */
export interface Detectors {
  /** The sides whose scanners may be asked. */
  sides: readonly Side[];
  /** Whether the endpoint is told what an output answers. */
  knowsPrompt: boolean;
}

/**
 * Finds the scanners that the header `detector-id` names: `guard` for all scanners of prompts, the name or type of a scanner of prompts,
 * and either of them with `-output` for those of outputs. What follows a `/` is a label, because the detectors of an orchestrator need
 * different names: `guard/chat`. Without the header, or with another detector's id, the answer must not look like a pass.
 *
 * @throws Problem 404 when there is no such detector.
 */
export function detectorOf(
  headers: IncomingHttpHeaders,
  scanners: Readonly<Record<Side, readonly NamedScanner[]>>,
  { sides, knowsPrompt }: Detectors,
): Detector {
  const header = headers["detector-id"] ?? ALL;
  const [id = ""] = String(header).split("/", 1);
  for (const side of sides) {
    const able = scanners[side].filter(({ scanner }) => knowsPrompt || !scanner.comparesWithPrompt);
    const asked = named(id, able, side, sides);
    if (asked === "all") {
      const suppress = scanners[side].filter((item) => !able.includes(item)).map(({ name }) => name);
      return { side, suppress, counts: () => true };
    }
    if (asked) return only(asked, scanners[side], side);
  }
  const known = sides.flatMap((side) => {
    const ending = side === "output" && sides.length > 1 ? OUTPUT : "";
    const able = scanners[side].filter(({ scanner }) => knowsPrompt || !scanner.comparesWithPrompt);
    return [ALL, ...able.map(({ name }) => name)].map((name) => name + ending);
  });
  throw new Problem(404, `The header detector-id names no detector of this endpoint. There are: ${known.join(", ")}.`);
}

/** The scanners of a side that an id names; undefined when it names none of them. */
function named(
  id: string,
  able: readonly NamedScanner[],
  side: Side,
  sides: readonly Side[],
): "all" | readonly NamedScanner[] | undefined {
  // Where there are outputs only, their ids need no ending.
  const ids = [
    ...(side === "input" || sides.length === 1 ? [id] : []),
    ...(side === "output" && id.endsWith(OUTPUT) ? [id.slice(0, -OUTPUT.length)] : []),
  ];
  for (const wanted of ids) {
    if (wanted === ALL) return "all";
    const found = able.filter(({ name, scanner }) => name === wanted || scanner.type === wanted);
    if (found.length > 0) return found;
  }
  return undefined;
}

function only(asked: readonly NamedScanner[], all: readonly NamedScanner[], side: Side): Detector {
  const names = new Set(asked.map(({ name }) => name));
  // A name that is suppressed leaves out all scanners of that type, so the type of one that is asked must not be among them.
  const types = new Set(asked.map(({ scanner }) => scanner.type));
  const others = all.map(({ name }) => name).filter((name) => !names.has(name) && !types.has(name));
  return {
    side,
    suppress: [...others, ...(side === "input" ? [CONVERSATION_RISK] : [])],
    counts: (check) => {
      const suffix = SUFFIXES.find((suffix) => check.endsWith(suffix)) ?? "";
      return names.has(suffix === "" ? check : check.slice(0, -suffix.length));
    },
  };
}
