import { createHash, createHmac } from "node:crypto";

/** The fields that chain records: each one has the hash of the previous one, which reveals missing and changed records. */
export interface Link {
  /** The number of the record, from 1. */
  seq: number;
  /** The hash of the previous record in hexadecimal; zeros in the first one. */
  prev: string;
}

/** The last record of a chain. */
export interface Head {
  seq: number;
  hash: string;
}

/** The head of an empty chain. */
export const START: Head = { seq: 0, hash: "0".repeat(64) };

/** The start of every record. */
const RECORD_START = '{"seq":';

/** The last field of a record: the hash of the bytes before it. */
const HASH = /^(.*),"hash":"([0-9a-f]{64})"\}$/s;

/**
 * Serializes a record as the next one of a chain.
 *
 * @param key the key of HMAC-SHA-256 (RFC 2104). Without a key the hash is SHA-256 (FIPS 180-4), which reveals accidents, but not an
 *   attacker who changes the file and recomputes all hashes.
 * @returns the record as a line of JSON without a line break, and the new head of the chain.
 */
export function appendRecord(
  record: object,
  { seq, hash: prev }: Head,
  key: Uint8Array | undefined,
): { line: string; head: Head } {
  const link: Link = { seq: seq + 1, prev };
  const body = JSON.stringify({ ...link, ...record }).slice(0, -1);
  const hash = hashOf(body, key);
  return { line: `${body},"hash":"${hash}"}`, head: { seq: link.seq, hash } };
}

/** Reads the head that a record forms. Returns undefined for anything but a complete record. */
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

export interface ChainFault {
  /** The number of the line, from 1, counted over all files. */
  line: number;
  message: string;
}

/** The result of a check of a chain. */
export interface ChainCheck {
  records: number;
  faults: ChainFault[];
  /** The numbers of the first and the last record. */
  first?: number;
  last?: number;
  /** Number of lost decisions that the records report. */
  lost: number;
}

export interface ChainOptions {
  /** The number that the first record must have. Default: 1. */
  first?: number;
  /** Whether there may be other lines, as on standard output, where log lines are between the records. Default: no. */
  allowsOtherLines?: boolean;
}

/** Further faults are not reported. */
const MAX_FAULTS = 100;

/**
 * Checks that no record of a chain was changed, and that none is missing between the first and the last one. Records that are missing at
 * the end can be noticed only by comparing the number of the last one.
 */
export async function checkChain(
  lines: AsyncIterable<string> | Iterable<string>,
  key: Uint8Array | undefined,
  { first = 1, allowsOtherLines = false }: ChainOptions = {},
): Promise<ChainCheck> {
  const check: ChainCheck = { records: 0, faults: [], lost: 0 };
  let number = 0;
  let head: Head | undefined;
  const fault = (message: string) => {
    if (check.faults.length < MAX_FAULTS) check.faults.push({ line: number, message });
  };
  for await (const line of lines) {
    number += 1;
    if (!line.startsWith(RECORD_START)) {
      if (!allowsOtherLines && line.trim() !== "") fault("is not a record");
      continue;
    }
    const [, body, hash] = HASH.exec(line) ?? [];
    const record = body === undefined ? undefined : parseRecord(`${body}}`);
    if (body === undefined || hash === undefined || !record) {
      fault("is not a complete record");
      continue;
    }
    if (hashOf(body, key) !== hash) fault(key ? "was changed, or written with another key" : "was changed");
    const { seq, prev, lost } = record;
    if (head && seq !== head.seq + 1) fault(`has the number ${seq} after ${head.seq}: ${missing(seq - head.seq - 1)}`);
    else if (head && prev !== head.hash) fault(`does not follow the record ${head.seq}, which was replaced or changed`);
    else if (!head && seq !== first)
      fault(
        `has the number ${seq}, not ${first}: ${missing(seq - first)} before it; if older files were deleted, pass --first ${seq}`,
      );
    else if (!head && seq === 1 && prev !== START.hash) fault("is the first one, but has the hash of a previous one");
    head = { seq, hash };
    check.records += 1;
    check.first ??= seq;
    check.last = seq;
    check.lost += typeof lost === "number" ? lost : 0;
  }
  return check;
}

function missing(count: number): string {
  if (count < 0) return "records are in another order, or a new chain starts";
  return count === 1 ? "1 record is missing" : `${count} records are missing`;
}

function parseRecord(text: string): (Link & { lost?: unknown }) | undefined {
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
