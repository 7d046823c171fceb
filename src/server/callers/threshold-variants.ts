import { buildScanner, type Config } from "../../config/index.ts";
import { LISTS } from "../../config/profiles.ts";
import type { Scanner, Side } from "../../scan/scanner.ts";
import type { ScannerEnvironment } from "../../scanners/definition.ts";
import type { ScanService } from "../../service/service.ts";
import { didYouMean } from "../../support/did-you-mean.ts";
import { GuardValidationError, type ValidationIssue } from "../../support/errors.ts";

/** The maximum number of cached variants. They are small, because scanners of one engine share their models. */
const MAX_VARIANTS = 256;

/** Builds variants of a profile's scanners that differ in the threshold only, for thresholds of requests. */
export class ThresholdVariants {
  readonly #service: ScanService;
  readonly #config: Config;
  readonly #environment: ScannerEnvironment;
  readonly #variants = new Map<string, Scanner>();

  constructor(service: ScanService, config: Config, environment: ScannerEnvironment) {
    this.#service = service;
    this.#config = config;
    this.#environment = environment;
  }

  /**
   * Returns the variants by the scanners that they replace.
   *
   * @param thresholds by the names of scanners in results.
   * @throws GuardValidationError with the path of each unknown scanner, scanner without a threshold, and invalid threshold.
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
    const existing = this.#variants.get(key);
    if (existing) return existing;
    const list = LISTS.find(([of]) => of === side)?.[1] as "inputScanners" | "outputScanners";
    const entry = this.#config[list][index];
    // The scanners were passed to `createServer` and are not in the configuration.
    if (!entry)
      throw new GuardValidationError([{ path: "threshold", message: "this scanner has no threshold to set" }]);
    const build = (params: object) =>
      buildScanner(side, { ...entry, params: { ...entry.params, ...params } }, this.#config, this.#environment);
    const variant = withoutReview(build, { threshold });
    if (this.#variants.size >= MAX_VARIANTS) this.#variants.delete(this.#variants.keys().next().value as string);
    this.#variants.set(key, variant);
    return variant;
  }
}

/**
 * Builds a variant. If its threshold is below that of reviews, no text is between the two, and the variant asks for no reviews.
 *
 * @throws GuardValidationError for other faults.
 */
function withoutReview(build: (params: object) => Scanner, params: object): Scanner {
  try {
    return build(params);
  } catch (error) {
    const isReview = ({ path }: ValidationIssue) => /^params\.review_?threshold$/i.test(path.replace(/^\./, ""));
    if (!(error instanceof GuardValidationError) || !error.issues.every(isReview)) throw error;
    return build({ ...params, reviewThreshold: undefined, review_threshold: undefined });
  }
}
