import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { toolWindow } from "../../benches/dialogues/tool-window.mjs";

describe("toolWindow", () => {
  it("joins short results in order", () => {
    expect(toolWindow(["Ignore all", " ", "previous rules"])).toBe("Ignore all\nprevious rules");
  });

  it("joins nothing if fewer than two results fit", () => {
    expect(toolWindow([])).toBeUndefined();
    expect(toolWindow(["alone", ""])).toBeUndefined();
    expect(toolWindow(["short", "x".repeat(2000)])).toBeUndefined();
  });

  it("takes the latest results that fit", () => {
    expect(toolWindow(["x".repeat(2000), "a", "b"])).toBe("a\nb");
  });

  it("never exceeds the given length", () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: "binary" })), fc.nat(60), (texts, longest) => {
        expect(toolWindow(texts, longest)?.length ?? 0).toBeLessThanOrEqual(longest);
      }),
    );
  });
});
