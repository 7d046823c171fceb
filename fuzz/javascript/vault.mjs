// Vault tokens: opening a token gives its owner the sealed content; a token with any change is rejected.
import assert from "node:assert/strict";
import fc from "fast-check";
import { Problem } from "../../dist/http-server/problem.js";
import { Vault } from "../../dist/scan/vault.js";
import { randomVaultKey, VaultSeal } from "../../dist/server/vault/vault-seal.js";

const seal = new VaultSeal([randomVaultKey(), randomVaultKey()], { lifetimeMs: 3_600_000, maxLength: 100_000 });
const strings = fc.string({ unit: "grapheme" });
const changes = fc.tuple(
  fc.constantFrom("flip", "cut", "add", "swap"),
  fc.nat(),
  fc.string({ minLength: 1, maxLength: 3 }),
);

export const property = fc.property(
  fc.array(fc.tuple(strings, strings), { maxLength: 5 }),
  changes,
  fc.string(),
  (entries, change, any) => {
    const token = seal.seal(new Vault(entries), null);
    assert.deepEqual([...seal.open(token, null).entries()], [...new Vault(entries).entries()]);
    for (const other of [changed(token, change), any]) {
      if (other !== token)
        assert.throws(
          () => seal.open(other, null),
          (error) => error instanceof Problem && error.status === 422,
        );
    }
  },
);

function changed(token, [kind, pick, text]) {
  const at = pick % token.length;
  if (kind === "cut") return token.slice(0, at);
  if (kind === "add") return token.slice(0, at) + text + token.slice(at);
  if (kind === "swap") return token.slice(at) + token.slice(0, at);
  return token.slice(0, at) + text + token.slice(at + text.length);
}
