import { describe, expect, it } from "vitest";
import { Vault } from "../../src/scan/vault.ts";

describe("Vault", () => {
  it("keeps each placeholder once, in order", () => {
    const vault = new Vault([["[NAME_1]", "Ann"]]);
    vault.append(["[NAME_2]", "Bob"]);
    vault.append(["[NAME_1]", "Anna"]);
    expect(vault.size).toBe(2);
    expect(vault.entries()).toEqual([
      ["[NAME_1]", "Anna"],
      ["[NAME_2]", "Bob"],
    ]);
  });

  it("lists the pairs whose placeholders occur in a text", () => {
    const vault = new Vault([
      ["[NAME_1]", "Ann"],
      ["[NAME_12]", "Bob"],
    ]);
    expect(vault.entriesIn("Dear [NAME_12],")).toEqual([["[NAME_12]", "Bob"]]);
    vault.append(["[NAME_3]", "Cleo"]);
    vault.append(["[NAME_12]", "Ben"]);
    expect(vault.entriesIn("[NAME_12] and [NAME_3]")).toEqual([
      ["[NAME_12]", "Ben"],
      ["[NAME_3]", "Cleo"],
    ]);
  });

  it("refuses a pair beyond its limit at once, and quotes nothing of it", () => {
    const vault = new Vault([], { maxBytes: 50, message: "The vault is full." });
    vault.append(["[NAME_1]", "Ann"]);
    const full = expect.objectContaining({ code: "GUARD_TOO_LARGE", message: "The vault is full." });
    expect(() => vault.append(["[NAME_2]", "B".repeat(40)])).toThrow(full);
  });

  it("can be read without being changed", () => {
    const vault = new Vault([["[NAME_1]", "Ann"]]);
    const view = vault.readOnly();
    view.append(["[NAME_2]", "Bob"]);
    expect(vault.size).toBe(1);
    vault.append(["[NAME_3]", "Cleo"]);
    expect(view.entriesIn("[NAME_3]")).toEqual([["[NAME_3]", "Cleo"]]);
  });
});
