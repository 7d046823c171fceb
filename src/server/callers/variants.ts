import { buildScanner, type Config } from "../../config/index.ts";
import { LISTS } from "../../config/profiles.ts";
import type { Scanner, Side } from "../../scan/scanner.ts";
import type { ScannerEnvironment } from "../../scanners/definition.ts";
import type { ScanService } from "../../service/service.ts";
import { didYouMean } from "../../support/did-you-mean.ts";
import { GuardValidationError, type ValidationIssue } from "../../support/errors.ts";

/** The most variants that are kept. Each is small: scanners of one engine share their models. */
const MOST_KEPT = 256;

/**
 * Makes the scanners of a profile again, with thresholds that a request brings. A variant has the same models and the same
 * parameters, but for the threshold.
 */
export class Variants {
  readonly #service: ScanService;
  readonly #config: Config;
  readonly #environment: ScannerEnvironment;
  readonly #kept = new Map<string, Scanner>();

  constructor(service: ScanService, config: Config, environment: ScannerEnvironment) {
    this.#service = service;
    this.#config = config;
    this.#environment = environment;
  }

  /**
   * The scanners that take the place of others.
   *
   * @param thresholds thresholds by the names of scanners in results.
   * @throws GuardValidationError for a name that no scanner of the side has, for a scanner without a threshold, and for an impossible
   *   threshold, with the path of each.
   */
  with(thresholds: readonly [name: string, threshold: number][], side: Side): ReadonlyMap<Scanner, Scanner> {
    const issues: ValidationIssue[] = [];
    const replacements = new Map<Scanner, Scanner>();
    const named = this.#service.scanners[side];
    for (const [name, threshold] of thresholds) {
      const path = `thresholds.${name}`;
      const index = named.findIndex((item) => item.name === name);
      const scanner = named[index]?.scanner;
      if (!scanner) {
        const names = named.map((item) => item.name);
        issues.push({ path, message: `there is no such scanner${didYouMean(name, names)}` });
        continue;
      }
      try {
        replacements.set(scanner, this.#variant(side, index, threshold));
      } catch (error) {
        if (!(error instanceof GuardValidationError)) throw error;
        issues.push(...error.issues.map(({ message }) => ({ path, message })));
      }
    }
    if (issues.length > 0) throw new GuardValidationError(issues);
    return replacements;
  }

  #variant(side: Side, index: number, threshold: number): Scanner {
    const key = `${side} ${index} ${threshold}`;
    const kept = this.#kept.get(key);
    if (kept) return kept;
    const list = LISTS.find(([of]) => of === side)?.[1] as "inputScanners" | "outputScanners";
    const entry = this.#config[list][index];
    // A program gave the scanners itself, or the parameters have nothing that could be changed.
    if (!entry)
      throw new GuardValidationError([{ path: "threshold", message: "this scanner takes no other threshold" }]);
    const made = buildScanner(
      side,
      { ...entry, params: { ...entry.params, threshold } },
      this.#config,
      this.#environment,
    );
    if (this.#kept.size >= MOST_KEPT) this.#kept.delete(this.#kept.keys().next().value as string);
    this.#kept.set(key, made);
    return made;
  }
}
