import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

const root = fileURLToPath(new URL("../..", import.meta.url));

/** A program that exists only in the editor. */
const uri = pathToFileURL(join(root, "test/tools/program.ts")).href;
const program = `import { input, output, scanPrompt } from "../../src/index.ts";
new input.Toxicity({ threshold: 0.5 });
new output.Toxicity({ threshold: 0.5 });
new input.Regex({ patterns: ["a"], isBlocked: true });
scanPrompt([], "text", { failFast: true });
`;

/** A client of TypeScript's language server: JSON-RPC with a header for the length, as editors send it. */
class LanguageServer {
  readonly #process: ChildProcessWithoutNullStreams;
  readonly #waiting = new Map<number, (result: unknown) => void>();
  #received = Buffer.alloc(0);
  #last = 0;

  constructor() {
    this.#process = spawn(process.execPath, [join(root, "node_modules/typescript/bin/tsc"), "--lsp", "--stdio"]);
    this.#process.stdout.on("data", (chunk: Buffer) => this.#read(chunk));
  }

  ask(method: string, params?: object): Promise<unknown> {
    const id = ++this.#last;
    this.tell(method, params, id);
    return new Promise((resolve) => this.#waiting.set(id, resolve));
  }

  tell(method: string, params?: object, id?: number): void {
    this.#send({ jsonrpc: "2.0", method, ...(params && { params }), ...(id !== undefined && { id }) });
  }

  async close(): Promise<void> {
    await this.ask("shutdown");
    this.tell("exit");
  }

  #send(message: object): void {
    const text = JSON.stringify(message);
    this.#process.stdin.write(`Content-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`);
  }

  #read(chunk: Buffer): void {
    this.#received = Buffer.concat([this.#received, chunk]);
    for (;;) {
      const end = this.#received.indexOf("\r\n\r\n");
      const [, length] = /Content-Length: (\d+)/i.exec(this.#received.subarray(0, Math.max(0, end)).toString()) ?? [];
      if (length === undefined || this.#received.length < end + 4 + Number(length)) return;
      const message = JSON.parse(this.#received.subarray(end + 4, end + 4 + Number(length)).toString());
      this.#received = this.#received.subarray(end + 4 + Number(length));
      if (message.method === undefined) this.#waiting.get(message.id)?.(message.result);
      // The server requests settings, and the test has none.
      else if (message.id !== undefined) this.#send({ jsonrpc: "2.0", id: message.id, result: null });
    }
  }
}

describe("the hover text of an editor", () => {
  let server: LanguageServer;

  beforeAll(async () => {
    server = new LanguageServer();
    const capabilities = { textDocument: { hover: { contentFormat: ["markdown"] } } };
    await server.ask("initialize", { processId: process.pid, rootUri: pathToFileURL(root).href, capabilities });
    server.tell("initialized", {});
    const textDocument = { uri, languageId: "typescript", version: 1, text: program };
    server.tell("textDocument/didOpen", { textDocument });
  });
  afterAll(() => server.close());

  /** The hover text of a word in a line of the program (counted from 0), with the lines of a paragraph joined. */
  async function hover(line: number, word: string): Promise<string> {
    const character = (program.split("\n")[line] as string).indexOf(word) + 1;
    const result = await server.ask("textDocument/hover", { textDocument: { uri }, position: { line, character } });
    const { contents } = result as { contents: { value: string } };
    return contents.value.replace(/(?<=\S)\n(?=\S)/g, " ");
  }

  it("explains an option, with the default of the side", async () => {
    const ofInput = await hover(1, "threshold");
    expect(ofInput).toContain("A text fails when the probability of the likeliest label is above this.");
    expect(ofInput).toMatch(/@default\W+0\.5$/);
    expect(await hover(2, "threshold")).toMatch(/@default\W+0\.7$/);
    const flag = await hover(3, "isBlocked");
    expect(flag).toContain("true: a text with a match fails.");
    expect(flag).toMatch(/@default\W+true$/);
  });

  it("explains a scanner", async () => {
    expect(await hover(1, "Toxicity")).toContain("Blocks texts that insult, threaten, attack people for what they are");
    expect(await hover(3, "Regex")).toContain("Blocks texts that match a pattern");
  });

  it("explains an option of a scan", async () => {
    expect(await hover(4, "failFast")).toContain("Whether to stop after the first failing scanner");
  });
});
