import { createHash, createHmac, randomBytes } from "node:crypto";
import { LRUCache } from "lru-cache";
import { z } from "zod";
import { decryptWithNonce, encryptWithRandomNonce } from "../support/authenticated-encryption.ts";
import { isRecord } from "../support/is-record.ts";
import { parseOptions } from "../support/options.ts";
import { TimeSlice } from "../support/time-slice.ts";
import type { Coverage, Scanner, Verdict } from "./scanner.ts";
import type { Source } from "./source.ts";
import { DerivedFromVaults, type Vault, type VaultEntry } from "./vault.ts";

/** The options of a {@link VerdictCache}. */
export const verdictCacheOptions = z.strictObject({
  maxSize: z.number().int().min(0).default(10_000).describe("Texts whose verdicts are kept; no text is."),
});

/** An external store of verdicts, which several instances share. */
export interface VerdictStore {
  /** Returns the values of keys, in order, and undefined for missing ones. It never rejects. */
  get(keys: readonly string[]): Promise<readonly (string | undefined)[]>;
  /** Stores a value. Errors are ignored: the verdict is then computed again. */
  set(key: string, value: string): void;
}

/** The settings for verdicts that several instances share. */
export interface SharedVerdicts {
  store: VerdictStore;
  /** A secret of at least 32 bytes, equal in all instances. */
  secret: Uint8Array;
  /** Returns equal ids for scanners with equal verdicts. Undefined for a scanner whose verdicts are not shared. */
  idOf(scanner: Scanner): string | undefined;
}

/** A stored verdict: in plain form without findings, or else encrypted, because it reveals something about its text. */
type StoredVerdict = Omit<Verdict, "findings" | "edits"> | string;

/** The encrypted content: the verdict, and the pairs that the scanner added to the vault. */
interface Content {
  verdict: Verdict;
  added?: VaultEntry[];
}

/** The result of a lookup for a scanner and a text. */
export interface CachedVerdict {
  /** The verdict, if it is cached. */
  verdict?: Verdict | undefined;
  /** Stores the verdict of the scan that follows. */
  keep(verdict: Verdict): void;
}

const NOT_KEPT: CachedVerdict = { keep: () => {} };

/** The location of a stored verdict. */
interface VerdictPlace {
  scanner: Scanner;
  text: string;
  key: string;
  /** The name of the verdict among those of the text. */
  name: string;
}

/** The incremental hash of the pairs of each vault. */
const PAIRS = new DerivedFromVaults(
  () => createHash("sha256"),
  (hash, entry) => hash.update(JSON.stringify(entry)),
);

/** The stored verdicts of one text: by scanner, and by the content of the vault for scanners that use it. */
type TextVerdicts = Map<string, StoredVerdict>;

/** The maximum memory of all stored verdicts, in characters. */
const MAX_LENGTH = 32 * 1024 * 1024;
/** Unlike UTF-8, this encoding distinguishes lone surrogates. */
const EXACT = "utf16le";

/**
 * Caches verdicts on the texts of conversations, so that a call scans only its new messages. Create one object for all conversations.
 *
 * Texts are stored as hashes, keyed with a secret of this object. A verdict that quotes its text, or contains a rewritten one, is encrypted
 * with a key that is derived from the text itself, so only a caller with the text can read it. Verdicts of scanners that are
 * {@link Scanner.volatile}, have a vault of their own or depend on other texts are never stored.
 */
export class VerdictCache {
  #texts: LRUCache<string, TextVerdicts> | undefined;
  #secret: Uint8Array;
  #shared: SharedVerdicts | undefined;
  #names: ScannerNames;
  /** The last text, because all scanners of a list look up the same one. */
  #last: { text: string; source: Source; key: string } | undefined;

  /** @throws GuardValidationError for an option out of range. */
  constructor(options: z.input<typeof verdictCacheOptions> = {}, shared?: SharedVerdicts) {
    const { maxSize } = parseOptions(verdictCacheOptions, options);
    this.#texts =
      maxSize === 0
        ? undefined
        : new LRUCache({ max: maxSize, maxSize: MAX_LENGTH, sizeCalculation: (verdicts) => lengthOf(verdicts) });
    this.#secret = shared?.secret ?? randomBytes(32);
    this.#shared = shared;
    this.#names = new ScannerNames(shared);
  }

  /**
   * Returns a cache with separate verdicts for one caller. All callers share the capacity, but no caller can tell from the time of an answer
   * what another caller sent.
   *
   * @param caller identifies the caller. Without it, this cache is returned.
   */
  forCaller(caller: string | undefined): VerdictCache {
    if (caller === undefined) return this;
    const own = new VerdictCache({ maxSize: 0 });
    own.#texts = this.#texts;
    own.#shared = this.#shared;
    own.#names = this.#names;
    own.#secret = createHmac("sha256", this.#secret).update("caller\0").update(caller).digest();
    return own;
  }

  /**
   * Looks up the verdict of a scanner on a text. Pairs that the scanner added to the vault are added again.
   *
   * @param vault the vault of the call, if there is one.
   */
  lookUp(scanner: Scanner, text: string, source: Source, vault: Vault | undefined): CachedVerdict {
    if (!this.#texts || !isCacheable(scanner)) return NOT_KEPT;
    const key = this.#keyOf(text, source);
    const name = this.#nameOf(scanner, vault);
    const kept = this.#texts.get(key)?.get(name);
    const content = typeof kept === "string" ? this.#open(text, kept) : kept && { verdict: { ...kept, findings: [] } };
    if (content) {
      for (const pair of content.added ?? []) vault?.append(pair);
      return { verdict: content.verdict, keep: () => {} };
    }
    const before = vault?.size ?? 0;
    return { keep: (verdict) => this.#keep({ scanner, text, key, name }, verdict, vault?.entriesFrom(before) ?? []) };
  }

  /** @param added the pairs that the scanner added to the vault. */
  #keep({ scanner, text, key, name }: VerdictPlace, verdict: Verdict, added: VaultEntry[]): void {
    if (!this.#texts) return;
    const verdicts: TextVerdicts = new Map(this.#texts.get(key));
    const isPlain = verdict.findings.length === 0 && verdict.edits === undefined && added.length === 0;
    verdicts.set(name, isPlain ? plain(verdict, verdicts) : this.#seal(text, { verdict, added }));
    this.#texts.set(key, verdicts);
    if (this.#shared?.idOf(scanner) !== undefined) this.#shared.store.set(key, JSON.stringify([...verdicts]));
  }

  /** Fetches the verdicts of other instances on texts, in one request. */
  async prefetch(texts: readonly { text: string; source: Source }[]): Promise<void> {
    if (!this.#texts || !this.#shared) return;
    const slice = new TimeSlice();
    const all = new Set<string>();
    for (const { text, source } of texts) {
      if (slice.isOver) await slice.next();
      all.add(this.#keyOf(text, source));
    }
    const keys = [...all];
    const missing = keys.filter((key) => !this.#texts?.has(key));
    if (missing.length === 0) return;
    const values = await this.#shared.store.get(missing);
    for (const [index, key] of missing.entries()) {
      if (slice.isOver) await slice.next();
      const verdicts = values[index] === undefined ? undefined : parsed(values[index]);
      if (verdicts) this.#texts.set(key, verdicts);
    }
  }

  #keyOf(text: string, source: Source): string {
    if (this.#last?.text === text && this.#last.source === source) return this.#last.key;
    const key = createHmac("sha256", this.#secret).update(source).update("\0").update(text, EXACT).digest("base64");
    this.#last = { text, source, key };
    return key;
  }

  /** Returns the name of a verdict among those of a text. */
  #nameOf(scanner: Scanner, vault: Vault | undefined): string {
    const name = this.#names.of(scanner);
    return scanner.vaultScope === "call" && vault && vault.size > 0 ? `${name} ${this.#digestOf(vault)}` : name;
  }

  /** Returns a keyed hash of all pairs of a vault. */
  #digestOf(vault: Vault): string {
    return createHmac("sha256", this.#secret).update(PAIRS.of(vault).copy().digest()).digest("base64");
  }

  /** Returns the encryption key for verdicts on a text. Each key encrypts few messages, with random nonces (NIST SP 800-38D, 8.2.2). */
  #cipherKey(text: string): Buffer {
    return createHmac("sha256", this.#secret).update("verdict\0").update(text, EXACT).digest();
  }

  #seal(text: string, content: Content): string {
    return encryptWithRandomNonce(this.#cipherKey(text), JSON.stringify(content)).toString("base64");
  }

  #open(text: string, sealed: string): Content | undefined {
    // A value that was written with another secret, or tampered with, is ignored.
    const opened = decryptWithNonce(this.#cipherKey(text), Buffer.from(sealed, "base64"));
    return opened === undefined ? undefined : (JSON.parse(opened) as Content);
  }
}

/** Names scanners in a cache. The names of local scanners never collide with shared names. */
class ScannerNames {
  readonly #shared: SharedVerdicts | undefined;
  readonly #names = new WeakMap<Scanner, string>();
  /** Distinguishes the numbers of local scanners between processes. */
  readonly #instance = randomBytes(8).toString("base64");
  #count = 0;

  constructor(shared: SharedVerdicts | undefined) {
    this.#shared = shared;
  }

  of(scanner: Scanner): string {
    const known = this.#names.get(scanner);
    if (known !== undefined) return known;
    const shared = this.#shared?.idOf(scanner);
    const name = shared === undefined ? `own ${++this.#count} ${this.#instance}` : `shared ${shared}`;
    this.#names.set(scanner, name);
    return name;
  }
}

let shared: VerdictCache | undefined;

/** The cache of all conversations of the process without a cache of their own. */
export function defaultVerdictCache(): VerdictCache {
  shared ??= new VerdictCache();
  return shared;
}

/** Whether verdicts of a scanner are equal for equal texts. */
function isCacheable({ volatile, vaultScope, conversation }: Scanner): boolean {
  return !volatile && vaultScope !== "own" && !conversation?.dependsOnOthers;
}

/** Returns the plain form of a verdict without findings. The coverage of most scanners is equal, and is stored once per text. */
function plain({ isValid, score, probability, coverage: own }: Verdict, others: TextVerdicts): StoredVerdict {
  let coverage = own;
  for (const other of others.values()) {
    if (typeof other === "string" || !isSameCoverage(other.coverage, own)) continue;
    coverage = other.coverage;
    break;
  }
  return probability === undefined ? { isValid, score, coverage } : { isValid, score, probability, coverage };
}

function isSameCoverage(one: Coverage, other: Coverage): boolean {
  return (
    one.chars === other.chars &&
    one.scannedChars === other.scannedChars &&
    one.truncated === other.truncated &&
    one.windows === other.windows &&
    one.findingsOmitted === other.findingsOmitted &&
    one.untrainedLanguages === undefined &&
    other.untrainedLanguages === undefined
  );
}

/** The estimated memory of an entry without its verdicts, and of a verdict. */
const ENTRY_LENGTH = 300;
const VERDICT_LENGTH = 80;

function lengthOf(verdicts: TextVerdicts): number {
  let length = ENTRY_LENGTH;
  for (const kept of verdicts.values()) length += VERDICT_LENGTH + (typeof kept === "string" ? kept.length : 0);
  return length;
}

/** Parses a value of another instance. Undefined if it has another form. */
function parsed(value: string): TextVerdicts | undefined {
  try {
    const pairs: unknown = JSON.parse(value);
    return Array.isArray(pairs) &&
      pairs.every((pair) => Array.isArray(pair) && (isRecord(pair[1]) || typeof pair[1] === "string"))
      ? new Map(pairs)
      : undefined;
  } catch {
    return undefined;
  }
}
