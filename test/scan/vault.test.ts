import { expect, it } from "vitest";
import { Vault } from "../../src/scan/vault.ts";

it("Vault keeps each placeholder once, in order", () => {
  const vault = new Vault([["[NAME_1]", "Ann"]]);
  vault.append(["[NAME_2]", "Bob"]);
  vault.append(["[NAME_1]", "Anna"]);
  expect(vault.size).toBe(2);
  expect(vault.entries()).toEqual([
    ["[NAME_1]", "Anna"],
    ["[NAME_2]", "Bob"],
  ]);
});
