import type { Scanner, Side } from "./scanner.ts";

/** The types of the scanners whose definitions are loaded. */
const types = new Set<string>();

/** The sides on which a scanner class has the right defaults. */
const sides = new WeakMap<object, Side[]>();

/** Registers a class that `defineScanner` created for a side. One class may serve both sides. */
export function registerScannerClass(type: string, side: Side, scannerClass: object): void {
  types.add(type);
  sides.set(scannerClass, [...(sides.get(scannerClass) ?? []), side]);
}

/** Whether a scanner type is defined, on any side. */
export function isScannerType(type: string): boolean {
  return types.has(type);
}

/** Returns the sides of a scanner from `defineScanner`, or undefined for any other scanner. */
export function sidesOf(scanner: Scanner): readonly Side[] | undefined {
  return sides.get(scanner.constructor);
}
