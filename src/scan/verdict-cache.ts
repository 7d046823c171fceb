import { createCipheriv, createDecipheriv, createHash, createHmac, randomBytes } from "node:crypto";
import { LRUCache } from "lru-cache";
import { z } from "zod";
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

/** A place outside the process where verdicts are kept, so that several instances share them. */
export interface VerdictStore {
  /** Returns the values of keys, in their order; undefined for those that are not there. It never rejects. */
  get(keys: readonly string[]): Promise<readonly (string | undefined)[]>;
  /** Keeps a value. What goes wrong is not the caller's concern: the verdict is then computed again. */
  set(key: string, value: string): void;
}

/** What a program that shares verdicts between its instances provides. */
export interface SharedVerdicts {
  store: VerdictStore;
  /** A secret of at least 32 bytes that all instances have. */
  secret: Uint8Array;
  /** Returns a text that is the same for scanners that give the same verdicts; undefined for a scanner that shares nothing. */
  idOf(scanner: Scanner): string | undefined;
}

/** A verdict as it is kept: without findings where it has none, and encrypted where it tells anything of its text. */
type StoredVerdict = Omit<Verdict, "findings" | "edits"> | string;

/** What is encrypted: the verdict, and the pairs that the scanner added to the vault. */
interface Content {
  verdict: Verdict;
  added?: VaultEntry[];
}

/** The answer of a cache about a scanner and a text. */
export interface CachedVerdict {
  /** The verdict, if it is known. */
  verdict?: Verdict | undefined;
  /** Keeps the verdict of the scan that follows. */
  keep(verdict: Verdict): void;
}

const NOT_KEPT: CachedVerdict = { keep: () => {} };

/** Where a verdict is kept. */
interface VerdictPlace {
  scanner: Scanner;
  text: string;
  key: string;
  /** The name of the verdict among those of the text. */
  name: string;
}

/** The hash of the pairs of each vault so far. */
const PAIRS = new DerivedFromVaults(
  () => createHash("sha256"),
  (hash, entry) => hash.update(JSON.stringify(entry)),
);

/** The kept verdicts of one text: by scanner, and by what was in the vault for scanners that use it. */
type TextVerdicts = Map<string, StoredVerdict>;

/** How much memory all kept verdicts take together at most, in characters. */
const MAX_LENGTH = 32 * 1024 * 1024;
/** Unlike UTF-8, this encoding tells lone surrogates apart. */
const EXACT = "utf16le";
const CIPHER = "aes-256-gcm";
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/**
 * Keeps what scanners said of the texts of conversations, so that a call pays only for its new messages. Make one object and use it
 * for all conversations.
 *
 * Texts are stored as hashes that are keyed with a secret of this object. A verdict that quotes its text, or holds a rewritten one, is
 * encrypted under a key that is derived from the text itself: only who has the text can read what was said of it. Verdicts of
 * scanners that are {@link Scanner.volatile}, have a vault of their own or depend on other texts are never kept.
 */
export class VerdictCache {
  #texts: LRUCache<string, TextVerdicts> | undefined;
  #secret: Uint8Array;
  #shared: SharedVerdicts | undefined;
  #names: ScannerNames;
  /** The text that was asked about last: all scanners of a list ask about the same one. */
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
   * The same with verdicts that are kept for one caller alone. All callers share the room, but none can tell from the time of an
   * answer what another one sent.
   *
   * @param caller a text that tells callers apart. Without it this cache itself is returned.
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
   * Looks up what a scanner said of a text before. What it added to the vault then is added again.
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

  /** Fetches what other instances have kept about texts, in one request for all of them. */
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

  /** The name of a verdict among those of a text. */
  #nameOf(scanner: Scanner, vault: Vault | undefined): string {
    const name = this.#names.of(scanner);
    return scanner.vaultScope === "call" && vault && vault.size > 0 ? `${name} ${this.#digestOf(vault)}` : name;
  }

  /** Returns a keyed hash of all pairs of a vault. */
  #digestOf(vault: Vault): string {
    return createHmac("sha256", this.#secret).update(PAIRS.of(vault).copy().digest()).digest("base64");
  }

  /** The key of the cipher for what was said of a text. Each key encrypts few messages, under random nonces (NIST SP 800-38D, 8.2.2). */
  #cipherKey(text: string): Buffer {
    return createHmac("sha256", this.#secret).update("verdict\0").update(text, EXACT).digest();
  }

  #seal(text: string, content: Content): string {
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv(CIPHER, this.#cipherKey(text), nonce, { authTagLength: TAG_BYTES });
    const bytes = [nonce, cipher.update(JSON.stringify(content), "utf8"), cipher.final(), cipher.getAuthTag()];
    return Buffer.concat(bytes).toString("base64");
  }

  #open(text: string, sealed: string): Content | undefined {
    const bytes = Buffer.from(sealed, "base64");
    if (bytes.length < NONCE_BYTES + TAG_BYTES) return undefined;
    const decipher = createDecipheriv(CIPHER, this.#cipherKey(text), bytes.subarray(0, NONCE_BYTES), {
      authTagLength: TAG_BYTES,
    }).setAuthTag(bytes.subarray(-TAG_BYTES));
    try {
      const opened = [decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES)), decipher.final()];
      return JSON.parse(Buffer.concat(opened).toString("utf8")) as Content;
    } catch {
      // Another process with another secret wrote it, or somebody changed it: then nothing is known.
      return undefined;
    }
  }
}

/** Names scanners for a cache. Shared names cannot be those of scanners that only this process has. */
class ScannerNames {
  readonly #shared: SharedVerdicts | undefined;
  readonly #names = new WeakMap<Scanner, string>();
  /** Scanners that are not shared have numbers, and these differ between processes by this text. */
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

/** The cache that all conversations of the process share whose caller names no other. */
export function defaultVerdictCache(): VerdictCache {
  shared ??= new VerdictCache();
  return shared;
}

/** Tells whether verdicts of a scanner stay the same for the same text. */
function isCacheable({ volatile, vaultScope, conversation }: Scanner): boolean {
  return !volatile && vaultScope !== "own" && !conversation?.dependsOnOthers;
}

/** What is kept of a verdict without findings. The coverage of most scanners is the same, and is kept once for a text. */
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

/** What an entry takes besides its verdicts, and what a verdict takes, estimated. */
const ENTRY_LENGTH = 300;
const VERDICT_LENGTH = 80;

function lengthOf(verdicts: TextVerdicts): number {
  let length = ENTRY_LENGTH;
  for (const kept of verdicts.values()) length += VERDICT_LENGTH + (typeof kept === "string" ? kept.length : 0);
  return length;
}

/** Reads what another instance has kept; undefined where it has another form. */
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
