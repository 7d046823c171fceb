import { isValid, type ScanResult } from "../scan/check-result.ts";
import type { CompiledException, Exceptions } from "../scan/exceptions/exceptions.ts";
import type { NamedScanner } from "../scan/named-scanners.ts";
import { PASSED } from "../scan/score.ts";
import type { Source } from "../scan/source.ts";

/** The scan of the texts that a model would assemble from several messages. */
interface AssembledScan {
  scanners: readonly NamedScanner[];
  /** The messages. */
  texts: readonly string[];
  source: Source;
  exceptions: Exceptions;
  credential: string | undefined;
  /** Assembles messages, and scans the assembled texts. */
  scanAssembled(scanners: readonly NamedScanner[], texts: readonly string[]): Promise<ScanResult[]>;
}

/**
 * Applies exceptions for exact texts to assembled texts. A failure does not count if what the excepted messages assemble fails by itself,
 * and what the other messages assemble passes.
 */
export async function exceptAssembled(results: readonly ScanResult[], scan: AssembledScan): Promise<void> {
  const { scanners, texts, source, exceptions, credential, scanAssembled } = scan;
  for (const item of scanners) {
    const failing = results
      .flatMap(({ checks }) => checks)
      .filter((check) => check.scanner === item.name && !check.isValid);
    if (failing.length === 0 || failing.some(({ outcome }) => outcome === "error")) continue;
    const scope = { name: item.name, type: item.scanner.type, side: "input", source, credential } as const;
    const excepted = texts.map((text) => exceptions.forWhole(text, scope));
    if (excepted.every((exception) => !exception)) continue;
    const allValid = async (of: readonly string[]) => (await scanAssembled([item], of)).every(isValid);
    const isOwn = !(await allValid(texts.filter((_, index) => excepted[index])));
    if (!isOwn || !(await allValid(texts.filter((_, index) => !excepted[index])))) continue;
    const applied = new Map(
      excepted.flatMap((exception) => (exception ? [[exception.id, exception]] : [])) as [string, CompiledException][],
    );
    for (const check of failing) {
      const { score, findings } = check;
      const removed = [...applied.values()].map(({ id, reason }) => ({ id, reason, score, findings }));
      Object.assign(check, { isValid: true, outcome: "passed", score: PASSED, findings: [], excepted: removed });
      delete check.probability;
      delete check.edits;
    }
  }
}
