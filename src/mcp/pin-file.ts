import { createHmac } from "node:crypto";
import { readFile } from "node:fs/promises";
import { MIN_KEY_LENGTH, type PinStore, randomKey, type ToolPins } from "../scanners/parts/tool-pins.ts";
import { GuardValidationError } from "../support/errors.ts";
import { isRecord } from "../support/is-record.ts";
import { withFileLock, writeAtomically } from "../support/locked-file.ts";

/** The version of the file format. */
const VERSION = 1;

/** The maximum number of tools of a server, so that a server cannot fill the disk. */
const MAX_PINS = 10_000;

/** The content of the file. */
interface Content {
  key: string;
  /** By server, the pins by name of the tool. */
  servers: Map<string, Map<string, string>>;
}

/** Identifies a server in a pin file: by the name that the user gave it, or by its command or address. */
export type ServerIdentity = { name: string } | { label: string; address: readonly string[] };

/** A tool that was pinned, and how it differs from the earlier pin. */
export interface AcceptedTool {
  name: string;
  state: "new" | "changed" | "as before";
}

/**
 * The pins of a server's tools, in a file that several servers share. The file also has the key of the hashes: whoever can read the file
 * has the pins anyway, and whoever can write it could replace both. Only its owner has access.
 */
export class PinFile implements ToolPins {
  readonly key: string;
  readonly store: PinStore = { get: (name) => this.#pins.get(name), set: (name, pin) => this.#set(name, pin) };
  readonly #file: string;
  readonly #section: string;
  readonly #accepts: boolean;
  /** The pins when the file was opened. */
  readonly #before: ReadonlyMap<string, string>;
  readonly #pins: Map<string, string>;
  readonly #added = new Map<string, string>();
  #next: Promise<void> | undefined;
  #last: Promise<void> = Promise.resolve();

  private constructor(file: string, section: string, { key, servers }: Content, accepts: boolean) {
    this.#file = file;
    this.#section = section;
    this.#accepts = accepts;
    this.key = key;
    this.#before = servers.get(section) ?? new Map();
    this.#pins = new Map(accepts ? [] : this.#before);
  }

  /**
   * Opens the file, and creates it if it does not exist.
   *
   * @param accepts whether to pin the current tools. Then nothing is written before {@link accept} is called.
   * @throws GuardValidationError for a file that cannot be read or is not a pin file.
   */
  static async open(file: string, server: ServerIdentity, accepts = false): Promise<PinFile> {
    const content =
      (await contentOf(file)) ??
      (await withLock(file, async () => {
        const created: Content = (await contentOf(file)) ?? { key: randomKey(), servers: new Map() };
        await write(file, created);
        return created;
      }));
    return new PinFile(file, sectionOf(server, content.key), content, accepts);
  }

  /**
   * Pins the listed tools, replacing their earlier pins. Pins of other tools are kept, because some servers offer different tools to each
   * client.
   *
   * @param listed the names of the tools that passed all checks.
   */
  async accept(listed: readonly string[]): Promise<AcceptedTool[]> {
    const pins = new Map(
      listed.flatMap((name) => {
        const pin = this.#pins.get(name);
        return pin === undefined ? [] : [[name, pin] as const];
      }),
    );
    await this.#change((section) => {
      for (const [name, pin] of pins) section.set(name, pin);
    });
    return [...pins].map(([name, pin]): AcceptedTool => {
      const before = this.#before.get(name);
      return { name, state: before === undefined ? "new" : before === pin ? "as before" : "changed" };
    });
  }

  /** @returns a promise that resolves when the pin is in the file. Pins set at the same time are written together. */
  async #set(name: string, pin: string): Promise<void> {
    if (this.#pins.size >= MAX_PINS) throw invalid(this.#file, `more than ${MAX_PINS} tools of one server`);
    this.#pins.set(name, pin);
    if (this.#accepts) return;
    this.#added.set(name, pin);
    this.#next ??= this.#last.then(() => {
      this.#next = undefined;
      return this.#change((section) => {
        // If another session pinned the tool first, its pin is kept.
        for (const [added, own] of this.#added) if (!section.has(added)) section.set(added, own);
        this.#added.clear();
      });
    });
    this.#last = this.#next.catch(() => {});
    await this.#next;
  }

  async #change(edit: (section: Map<string, string>) => void): Promise<void> {
    await withLock(this.#file, async () => {
      const content = (await contentOf(this.#file)) ?? { key: this.key, servers: new Map() };
      if (content.key !== this.key) throw invalid(this.#file, "its key has changed since the start of the session");
      const section = content.servers.get(this.#section) ?? new Map<string, string>();
      content.servers.set(this.#section, section);
      edit(section);
      await write(this.#file, content);
    });
  }
}

/** The name of a server's section. Commands and URLs may contain secrets, so the file has only a keyed hash of them. */
function sectionOf(server: ServerIdentity, key: string): string {
  if ("name" in server) return server.name;
  const hash = createHmac("sha256", key).update(JSON.stringify(server.address)).digest("base64url");
  return `${server.label} ${hash.slice(0, 16)}`;
}

/** Reads a pin file; undefined if it does not exist. */
async function contentOf(file: string): Promise<Content | undefined> {
  let text: string;
  try {
    text = await readFile(file, "utf8");
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT") return undefined;
    throw invalid(file, `it cannot be read: ${code ?? "unknown error"}`, error);
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw invalid(file, "it is not JSON");
  }
  if (!isRecord(value) || value.version !== VERSION) throw invalid(file, `expected "version": ${VERSION}`);
  const { key, servers } = value;
  if (typeof key !== "string" || key.length < MIN_KEY_LENGTH) throw invalid(file, "expected a key", undefined, "key");
  if (!isRecord(servers)) throw invalid(file, "expected an object", undefined, "servers");
  const sections = Object.entries(servers).map(([server, pins]) => {
    const entries = isRecord(pins) ? Object.entries(pins) : [];
    if (!isRecord(pins) || entries.some(([, pin]) => typeof pin !== "string")) {
      throw invalid(file, "expected an object of pins", undefined, `servers.${server}`);
    }
    return [server, new Map(entries as [string, string][])] as const;
  });
  return { key, servers: new Map(sections) };
}

async function write(file: string, { key, servers }: Content): Promise<void> {
  const sections = [...servers].map(([server, pins]) => [server, Object.fromEntries(pins)] as const);
  const content = { version: VERSION, key, servers: Object.fromEntries(sections) };
  await writeAtomically(file, `${JSON.stringify(content, undefined, 2)}\n`, (...why) => invalid(file, ...why));
}

function withLock<T>(file: string, work: () => Promise<T>): Promise<T> {
  return withFileLock(file, (...why) => invalid(file, ...why), work);
}

function invalid(file: string, reason: string, cause?: unknown, path = ""): GuardValidationError {
  return new GuardValidationError([{ path, message: `pin file ${file}: ${reason}` }], { cause });
}
