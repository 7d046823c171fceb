import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Bag } from "../../src/support/bag.ts";

describe("Bag", () => {
  it("contains what was added and not removed, in any order of adding and removing", () => {
    const command = fc.record({ adds: fc.boolean(), which: fc.nat(20) });
    fc.assert(
      fc.property(fc.array(command, { maxLength: 200 }), (commands) => {
        const bag = new Bag<number>();
        const kept = new Map<number, () => void>();
        for (const [value, { adds, which }] of commands.entries()) {
          if (adds) kept.set(value, bag.add(value));
          else {
            const [chosen, remove] = [...kept][which % Math.max(1, kept.size)] ?? [];
            remove?.();
            remove?.();
            if (chosen !== undefined) kept.delete(chosen);
          }
          expect(bag.size).toBe(kept.size);
          expect([...bag].sort((a, b) => a - b)).toEqual([...kept.keys()]);
        }
      }),
    );
  });

  it("may change while it is iterated", () => {
    const bag = new Bag<string>();
    const removes = new Map(["a", "b", "c"].map((value) => [value, bag.add(value)]));
    const seen: string[] = [];
    for (const value of bag) {
      seen.push(value);
      for (const remove of removes.values()) remove();
      bag.add("later");
    }
    expect(seen.sort()).toEqual(["a", "b", "c"]);
    expect(bag.size).toBe(3);
  });
});
