import { createHash, createHmac } from "node:crypto";

/** What a record says of its place: every record has the hash of the one before it, so that a missing or changed one shows. */
export interface Link {
  /** The number of the record, from 1. */
  seq: number;
  /** The hash of the record before it, in hexadecimal; zeros before the first one. */
  prev: string;
}

/** The last record of a chain. */
export interface Head {
  seq: number;
  hash: string;
}

/** What stands before the first record. */
export const START: Head = { seq: 0, hash: "0".repeat(64) };

/** How every record begins. */
const BEGINNING = '{"seq":';

/** The field that ends a record: its own hash, over the bytes before this field. */
const HASH = /^(.*),"hash":"([0-9a-f]{64})"\}$/s;

/**
 * Writes a record behind the last one of a chain.
 *
 * @param key the key of HMAC-SHA-256 (RFC 2104). Without one the hash is SHA-256 (FIPS 180-4), which shows accidents, but not somebody
 *   who changes the file and computes all hashes again.
 * @returns the record as a line of JSON without a line break, and the new end of the chain.
 */
export function linked(
  record: object,
  { seq, hash: prev }: Head,
  key: Uint8Array | undefined,
): { line: string; head: Head } {
  const link: Link = { seq: seq + 1, prev };
  const body = JSON.stringify({ ...link, ...record }).slice(0, -1);
  const hash = hashOf(body, key);
  return { line: `${body},"hash":"${hash}"}`, head: { seq: link.seq, hash } };
}

/** Reads the place of a line in its chain. It returns undefined for what is no whole record. */
export function headOf(line: string): Head | undefined {
  const [, body, hash] = HASH.exec(line) ?? [];
  if (body === undefined || hash === undefined) return undefined;
  try {
    const { seq } = JSON.parse(`${body}}`) as Partial<Link>;
    return typeof seq === "number" ? { seq, hash } : undefined;
  } catch {
    return undefined;
  }
}

/** Something that is wrong with a chain of records. */
export interface ChainFault {
  /** The number of the line, from 1, over all that were read. */
  line: number;
  message: string;
}

/** What a check of a chain found. */
export interface ChainCheck {
  records: number;
  faults: ChainFault[];
  /** The numbers of the first and the last record. */
  first?: number;
  last?: number;
  /** How many decisions the records themselves call lost. */
  lost: number;
}

/** The most faults that are told. */
const MOST_FAULTS = 100;

/**
 * Checks the records of a chain: that each is as it was written, and that none is missing between the first and the last one. Whether
 * some are missing at the end, only somebody can tell who knows the number of the last one.
 */
export async function checkChain(
  lines: AsyncIterable<string> | Iterable<string>,
  key: Uint8Array | undefined,
): Promise<ChainCheck> {
  const check: ChainCheck = { records: 0, faults: [], lost: 0 };
  let number = 0;
  let head: Head | undefined;
  const fault = (message: string) => {
    if (check.faults.length < MOST_FAULTS) check.faults.push({ line: number, message });
  };
  for await (const line of lines) {
    number += 1;
    // Records on standard output have lines of the log between them.
    if (!line.startsWith(BEGINNING)) continue;
    const [, body, hash] = HASH.exec(line) ?? [];
    const record = body === undefined ? undefined : parsed(`${body}}`);
    if (body === undefined || hash === undefined || !record) {
      fault("is not a whole record");
      continue;
    }
    if (hashOf(body, key) !== hash) fault(key ? "was changed, or written with another key" : "was changed");
    const { seq, prev, lost } = record;
    if (head && seq !== head.seq + 1) fault(`has the number ${seq} behind ${head.seq}: ${missing(seq - head.seq - 1)}`);
    else if (head && prev !== head.hash) fault(`does not follow the record ${head.seq}, which was replaced or changed`);
    else if (!head && seq === 1 && prev !== START.hash) fault("is the first one, but says that one was before it");
    head = { seq, hash };
    check.records += 1;
    check.first ??= seq;
    check.last = seq;
    check.lost += typeof lost === "number" ? lost : 0;
  }
  return check;
}

function missing(count: number): string {
  if (count < 0) return "records stand in another order, or a new chain begins";
  return count === 1 ? "1 record is missing" : `${count} records are missing`;
}

function parsed(text: string): (Link & { lost?: unknown }) | undefined {
  try {
    const record = JSON.parse(text) as Partial<Link>;
    return typeof record.seq === "number" && typeof record.prev === "string" ? (record as Link) : undefined;
  } catch {
    return undefined;
  }
}

function hashOf(body: string, key: Uint8Array | undefined): string {
  return (key ? createHmac("sha256", key) : createHash("sha256")).update(body).digest("hex");
}
