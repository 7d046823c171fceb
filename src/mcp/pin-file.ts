import { createHmac } from "node:crypto";
import { open, readFile, rename, rm, stat } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { MIN_KEY_LENGTH, type PinStore, randomKey, type ToolPins } from "../scanners/parts/tool-pins.ts";
import { GuardValidationError } from "../support/errors.ts";
import { isRecord } from "../support/is-record.ts";

/** The format of the file. */
const VERSION = 1;

/** The most tools of one server. A server cannot fill the disk with names. */
const MOST_PINS = 10_000;

/** When a process takes another one for dead that has not done with the file, and when it gives up, in milliseconds. */
const LOCK_AGE = 5_000;
const LOCK_WAIT = 15_000;

/** What is in the file. */
interface Content {
  key: string;
  /** The pins by name of the tool, by server. */
  servers: Map<string, Map<string, string>>;
}

/** A server in a file of pins: the name that the user gave it, or else how it is reached. */
export type ServerIdentity = { name: string } | { label: string; address: readonly string[] };

/** How a list of tools differs from what was pinned before. */
export interface Accepted {
  name: string;
  state: "new" | "changed" | "as before";
}

/**
 * The pins of one server's tools in a file, which guards of other servers share. The key of the hashes is in the file too: who may
 * read the file has the pins already, and who may write it could replace both. Only its owner may.
 */
export class PinFile implements ToolPins {
  readonly key: string;
  readonly store: PinStore = { get: (name) => this.#pins.get(name), set: (name, pin) => this.#set(name, pin) };
  readonly #file: string;
  readonly #section: string;
  readonly #accepts: boolean;
  /** What was in the file when it was opened. */
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
   * Opens the file, and makes it when it is not there.
   *
   * @param accepts whether the server's tools are taken as they are now. Nothing is written then before {@link accept} is called.
   * @throws GuardValidationError for a file that cannot be read or is no file of pins.
   */
  static async open(file: string, server: ServerIdentity, accepts = false): Promise<PinFile> {
    const content =
      (await contentOf(file)) ??
      (await locked(file, async () => {
        const made: Content = (await contentOf(file)) ?? { key: randomKey(), servers: new Map() };
        await write(file, made);
        return made;
      }));
    return new PinFile(file, sectionOf(server, content.key), content, accepts);
  }

  /**
   * Pins those tools that were listed, in place of what was pinned before. Pins of other tools stay, because some servers offer to
   * each client other tools.
   *
   * @param listed the names of the tools that passed all checks.
   */
  async accept(listed: readonly string[]): Promise<Accepted[]> {
    const pins = new Map(
      listed.flatMap((name) => {
        const pin = this.#pins.get(name);
        return pin === undefined ? [] : [[name, pin] as const];
      }),
    );
    await this.#change((section) => {
      for (const [name, pin] of pins) section.set(name, pin);
    });
    return [...pins].map(([name, pin]): Accepted => {
      const before = this.#before.get(name);
      return { name, state: before === undefined ? "new" : before === pin ? "as before" : "changed" };
    });
  }

  /** @returns settled when the pin is in the file. Pins that come at the same time are written together. */
  async #set(name: string, pin: string): Promise<void> {
    if (this.#pins.size >= MOST_PINS) throw invalid(this.#file, `more than ${MOST_PINS} tools of one server`);
    this.#pins.set(name, pin);
    if (this.#accepts) return;
    this.#added.set(name, pin);
    this.#next ??= this.#last.then(() => {
      this.#next = undefined;
      return this.#change((section) => {
        // What another session has seen first is the measure for the next one.
        for (const [added, own] of this.#added) if (!section.has(added)) section.set(added, own);
        this.#added.clear();
      });
    });
    this.#last = this.#next.catch(() => {});
    await this.#next;
  }

  async #change(edit: (section: Map<string, string>) => void): Promise<void> {
    await locked(this.#file, async () => {
      const content = (await contentOf(this.#file)) ?? { key: this.key, servers: new Map() };
      if (content.key !== this.key) throw invalid(this.#file, "another key is in it than at the start of the session");
      const section = content.servers.get(this.#section) ?? new Map<string, string>();
      content.servers.set(this.#section, section);
      edit(section);
      await write(this.#file, content);
    });
  }
}

/** The name of a server's section. Commands and URLs may have secrets in them, so that only a keyed hash of them is in the file. */
function sectionOf(server: ServerIdentity, key: string): string {
  if ("name" in server) return server.name;
  const hash = createHmac("sha256", key).update(JSON.stringify(server.address)).digest("base64url");
  return `${server.label} ${hash.slice(0, 16)}`;
}

/** Reads a file of pins; undefined when there is none. */
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
    throw invalid(file, "it is no JSON");
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

/** Replaces the file by another one, so that no reader sees half of it. */
async function write(file: string, { key, servers }: Content): Promise<void> {
  const sections = [...servers].map(([server, pins]) => [server, Object.fromEntries(pins)] as const);
  const content = { version: VERSION, key, servers: Object.fromEntries(sections) };
  const temporary = `${file}.${process.pid}.tmp`;
  try {
    // A file of this name is left over from a process that was killed.
    await rm(temporary, { force: true });
    const handle = await open(temporary, "wx", 0o600);
    try {
      await handle.writeFile(`${JSON.stringify(content, undefined, 2)}\n`);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(temporary, file);
  } catch (error) {
    await rm(temporary, { force: true }).catch(() => {});
    throw invalid(file, `it cannot be written: ${(error as NodeJS.ErrnoException).code ?? "unknown error"}`, error);
  }
}

/** Does something while no other process changes the file. */
async function locked<T>(file: string, work: () => Promise<T>): Promise<T> {
  const lock = `${file}.lock`;
  const end = Date.now() + LOCK_WAIT;
  for (;;) {
    try {
      await (await open(lock, "wx", 0o600)).close();
      break;
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code !== "EEXIST") throw invalid(file, `it cannot be written: ${code ?? "unknown error"}`, error);
      const age = Date.now() - ((await stat(lock).catch(() => undefined))?.mtimeMs ?? Date.now());
      if (age > LOCK_AGE) await rm(lock, { force: true });
      else if (Date.now() > end) throw invalid(file, `another process holds ${lock}`);
      else await sleep(20);
    }
  }
  try {
    return await work();
  } finally {
    await rm(lock, { force: true });
  }
}

function invalid(file: string, reason: string, cause?: unknown, path = ""): GuardValidationError {
  return new GuardValidationError([{ path, message: `the file of pins ${file}: ${reason}` }], { cause });
}
