import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Scanner, Side } from "../../src/scan/scanner.ts";
import { Vault, type VaultEntry } from "../../src/scan/vault.ts";
import { createScanner } from "../../src/scanners/catalog.ts";
import { scanned } from "../support/rewritten.ts";

/** A string, or pieces to join. */
type Text = string | (string | { repeat: [string, number] })[];

interface Answer {
  isValid: boolean;
  score: number;
  /** Absent if the text is unchanged. */
  sanitized?: Text | { sha256: string; bytes: number };
  /** The scanner could not be built, or failed. */
  error?: string;
}

/** A case of a table. generate.py describes the fields. */
interface Case {
  name: string;
  side: Side;
  type: string;
  params: Record<string, unknown>;
  guardParams?: Record<string, unknown>;
  text: Text;
  prompt?: Text;
  vault?: VaultEntry[];
  llmGuard: Answer;
  expected?: Partial<Answer>;
  why?: string;
}

interface Table {
  source: string;
  scanner: string;
  cases: Case[];
}

const folder = new URL("./", import.meta.url);
const tables = readdirSync(folder)
  .filter((file) => file.endsWith(".json"))
  .map((file) => JSON.parse(readFileSync(new URL(file, folder), "utf8")) as Table);

const spellOut = (text: Text) =>
  typeof text === "string"
    ? text
    : text.map((part) => (typeof part === "string" ? part : part.repeat[0].repeat(part.repeat[1]))).join("");

/** Returns a text as the tables store it: a long text as its hash. */
function stored(text: string) {
  const bytes = Buffer.from(text);
  return bytes.length > 2000 ? { sha256: createHash("sha256").update(bytes).digest("hex"), bytes: bytes.length } : text;
}

/** The server that URLReachability calls. It responds like the one in generate.py. */
const replies: RequestListener = (request, response) => {
  const [, kind, rest] = (request.url ?? "").split("?")[0]?.split("/") ?? [];
  if (kind === "slow") setTimeout(() => response.end(), 3000);
  else if (kind === "broken") request.socket.destroy();
  else if (kind === "status") response.writeHead(Number(rest)).end();
  else if (kind === "redirect") response.writeHead(302, { location: `/status/${rest}` }).end();
  else if (kind === "loop") response.writeHead(302, { location: request.url }).end();
  else response.end();
};
const server = createServer(replies);
let port = 0;
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  port = (server.address() as AddressInfo).port;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

/** Options that a case cannot contain, because they differ between machines or cannot be written in a file. */
function situation({ type, vault }: Case): Record<string, unknown> {
  if (vault) return { vault: new Vault(vault) };
  // Unlike llm-guard, guard calls addresses of this machine only with an option.
  return type === "URLReachability" ? { allowedNetworks: ["127.0.0.1"], allowedPorts: [port] } : {};
}

/** Scanners of the cases without a vault, by type and options, because building a scanner can take longer than a scan. */
const scanners = new Map<string, Scanner>();

function scannerOf(one: Case): Scanner {
  const { side, type, params, guardParams, vault } = one;
  const build = () => createScanner(side, type, { ...params, ...guardParams, ...situation(one) });
  if (vault) return build();
  const key = JSON.stringify([side, type, params, guardParams]);
  const scanner = scanners.get(key) ?? build();
  scanners.set(key, scanner);
  return scanner;
}

async function ask(one: Case, text: string) {
  const { prompt } = one;
  const scanner = scannerOf(one);
  const context = prompt === undefined ? {} : { prompt: spellOut(prompt) };
  const { isValid, score, rewritten } = await scanned(scanner, text, context);
  return { isValid, score, sanitized: stored(rewritten) };
}

describe.each(tables)("$scanner agrees with llm-guard", ({ source, cases }) => {
  it("in at least 25 cases on each side", () => {
    for (const side of new Set(cases.map(({ side }) => side))) {
      expect(cases.filter((one) => one.side === side).length).toBeGreaterThanOrEqual(25);
    }
  });

  it("or explains the difference", () => {
    for (const { name, llmGuard, expected, why } of cases) {
      if (!expected) continue;
      expect(why, name).toBeTruthy();
      expect({ sanitized: "", ...llmGuard, ...expected }, name).not.toEqual({ sanitized: "", ...llmGuard });
    }
  });

  it.each(cases)("$side: $name", async (one) => {
    const text = spellOut(one.text).replaceAll("{server}", `http://127.0.0.1:${port}`);
    const answer: Answer = { ...one.llmGuard, ...one.expected };
    if (one.expected?.isValid !== undefined) delete answer.error;
    if (answer.error) return expect(ask(one, text)).rejects.toThrow();
    const { isValid, score, sanitized } = await ask(one, text);
    // The stand-in for llm-guard's model has scripted answers, which differ from those of guard's own model. So only the verdict
    // and the sign of the score are compared.
    const known = source.includes("stand-in") ? Math.sign : (value: number) => value;
    expect({ isValid, score: known(score), sanitized }).toEqual({
      isValid: answer.isValid,
      score: known(answer.score),
      sanitized: Array.isArray(answer.sanitized) ? spellOut(answer.sanitized) : (answer.sanitized ?? stored(text)),
    });
  });
});
