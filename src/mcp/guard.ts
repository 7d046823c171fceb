import type { JSONRPCNotification, JSONRPCRequest, JSONRPCResponse } from "@modelcontextprotocol/client";
import pLimit from "p-limit";
import { addon, native } from "../native.ts";
import type { MessageText } from "../scan/conversation-text.ts";
import type { ScanService } from "../service/service.ts";
import { isRecord } from "../support/is-record.ts";
import { restoreOriginals } from "../text/placeholders.ts";
import { BLOCKED, blockedTool, detailsOf, quoted, reasonFor } from "./replies.ts";
import { SessionScanner, type TextVerdict } from "./session-scanner.ts";
import {
  callArguments,
  clientAnswer,
  errorText,
  inputRequests,
  list,
  listEntry,
  type Part,
  plainText,
  promptResult,
  resourceResult,
  serverRequest,
  taskResult,
  toolDefinition,
  toolResult,
} from "./shapes.ts";
import { SlotReader } from "./slots.ts";

/** How a session of MCP is guarded. */
export interface McpGuardOptions {
  /**
   * What happens to a text from the server that fails. `mask`: what scanners can take out is taken out, and the rest goes on if it
   * passes by itself. `block`: nothing of it goes on. The default is mask. Definitions and arguments are never masked.
   */
  onFinding?: "mask" | "block";
  /** The names of the tools that get the real values where arguments have placeholders. */
  restore?: readonly string[];
  /** Is told the name of each tool that is left out of the list. */
  onRemovedTool?: (name: string) => void;
  /** Is told in one line, without texts, of each thing that was left out, masked or blocked. */
  log?: (line: string) => void;
}

/** What becomes of a request: it goes on, perhaps changed, or is answered at once. */
export type Decision = { forward: JSONRPCRequest } | { answer: JSONRPCResponse };

type Shape = Record<string, unknown>;

/** The lists of definitions, by method: the key of their entries, and what an entry is called. */
const LISTS: Readonly<Record<string, readonly [key: string, what: string]>> = {
  "tools/list": ["tools", "tool"],
  "prompts/list": ["prompts", "prompt"],
  "resources/list": ["resources", "resource"],
  "resources/templates/list": ["resourceTemplates", "resource template"],
};

/** How the results of other methods are read. */
const RESULTS: Readonly<Record<string, (result: Shape, toolName?: string) => Part | undefined>> = {
  "tools/call": toolResult,
  "tasks/result": toolResult,
  "prompts/get": promptResult,
  "resources/read": resourceResult,
  "tasks/get": taskResult,
  "tasks/list": taskResult,
  "tasks/cancel": taskResult,
};

/** The requests of clients whose arguments leave for the server. */
const OUTGOING = new Set(["tools/call", "prompts/get", "resources/read", "completion/complete"]);

/** The most texts of earlier messages, and the most characters of them, that scanners can compare a text with. */
const MOST_TEXTS = 64;
const MOST_CHARS = 1_000_000;

/** How many definitions of one list are scanned at the same time. */
const PARALLEL = 8;

/**
 * Judges the messages of one session between an MCP client and a server. It knows nothing of how they travel. Requests, results,
 * errors and definitions that it has to judge are checked before they go on; of everything else it changes nothing. What cannot be
 * checked does not go on.
 */
export class McpGuard {
  readonly #scanner: SessionScanner;
  readonly #mask: boolean;
  readonly #restore: ReadonlySet<string>;
  readonly #log: (line: string) => void;
  readonly #onRemovedTool: (name: string) => void;
  /** Tools that were left out of the list, with the reason. */
  readonly #removedTools = new Map<string, string>();
  #definitions: readonly MessageText[] = [];
  #recent: readonly MessageText[] = [];

  constructor(service: ScanService, { onFinding = "mask", restore = [], log, onRemovedTool }: McpGuardOptions = {}) {
    this.#log = log ?? (() => {});
    this.#onRemovedTool = onRemovedTool ?? (() => {});
    this.#scanner = new SessionScanner(service, (reason) => this.#log(`a text could not be checked: ${reason}`));
    this.#mask = onFinding === "mask";
    this.#restore = new Set(restore);
  }

  /**
   * Judges a request of the client: its arguments on their way out.
   *
   * @param signal is aborted when the client takes the request back. The promise then rejects with its reason.
   */
  async clientRequest(original: JSONRPCRequest, signal: AbortSignal): Promise<Decision> {
    if (!OUTGOING.has(original.method) || !isRecord(original.params)) return { forward: original };
    const request = structuredClone(original);
    const params = request.params as Shape;
    const isCall = request.method === "tools/call";
    const name = String(params.name ?? params.uri ?? "");
    const removed = isCall ? this.#removedTools.get(name) : undefined;
    if (removed !== undefined) {
      this.#log(`blocked a call of the removed tool ${quoted(name)}`);
      return {
        answer: this.#refusal(
          request,
          `guard removed the tool ${quoted(name)}: ${removed}. The call was not sent. Do not try it again; tell the user.`,
        ),
      };
    }
    const toolCall = { name, id: String(request.id), arguments: params.arguments };
    const part = callArguments(params, isCall ? toolCall : undefined);
    const judged = part && (await this.#judged(part, false, signal));
    if (judged && judged.outcome === "blocked") {
      this.#log(`blocked the arguments of ${request.method} ${quoted(name)}: ${reasonFor(judged)}`);
      const sentence =
        `guard did not send the arguments of ${isCall ? `the tool ${quoted(name)}` : request.method}: ${reasonFor(judged)}. ` +
        "Do not try the same again; leave out what must not be sent, or tell the user.";
      return { answer: this.#refusal(request, sentence, judged) };
    }
    if (isCall && this.#restore.has(name)) await this.#restoreValues(params, signal);
    return { forward: request };
  }

  /** Judges what the server answers a request of the client. */
  async serverResponse(
    request: JSONRPCRequest,
    original: JSONRPCResponse,
    signal: AbortSignal,
  ): Promise<JSONRPCResponse> {
    const response = structuredClone(original);
    if ("error" in response) {
      const part = errorText(response.error);
      const judged = part && (await this.#judged(part, this.#mask, signal));
      return judged?.outcome === "blocked" ? this.#blockedResult(request, judged) : response;
    }
    const result = response.result as Shape;
    const { method } = request;
    if (method === "initialize" || method === "server/discover") await this.#introduction(result, signal);
    const listed = Object.hasOwn(LISTS, method) ? LISTS[method] : undefined;
    if (listed) {
      const isFirst = !isRecord(request.params) || request.params.cursor === undefined;
      await this.#definitionList(result, listed, isFirst, signal);
    }
    const name = isRecord(request.params) ? request.params.name : undefined;
    const read = Object.hasOwn(RESULTS, method) ? RESULTS[method] : undefined;
    const toolName = method === "tools/call" ? String(name) : undefined;
    const parts = [read?.(result, toolName), isRecord(result.task) ? taskResult(result) : undefined];
    for (const part of [...parts, ...inputRequests(result)]) {
      if (!part) continue;
      const judged = await this.#judged(part, this.#mask, signal);
      if (judged.outcome === "blocked") return this.#blockedResult(request, judged);
      if (judged.outcome === "masked") this.#log(`masked the result of ${shown(request)}: ${reasonFor(judged)}`);
    }
    return response;
  }

  /** Judges a request of the server to the client: messages for its model, or a question to a person. */
  async serverRequest(original: JSONRPCRequest, signal: AbortSignal): Promise<Decision> {
    if (!isRecord(original.params)) return { forward: original };
    const request = structuredClone(original);
    for (const part of serverRequest(request.method, request.params as Shape)) {
      const judged = await this.#judged(part, this.#mask, signal);
      if (judged.outcome !== "blocked") continue;
      this.#log(`blocked ${request.method} of the server: ${reasonFor(judged)}`);
      return { answer: blockedError(request, `guard blocked this request: ${reasonFor(judged)}.`, judged) };
    }
    return { forward: request };
  }

  /** Judges what the client answers a request of the server: text on its way out. */
  async clientResponse(
    request: JSONRPCRequest,
    original: JSONRPCResponse,
    signal: AbortSignal,
  ): Promise<JSONRPCResponse> {
    if ("error" in original || !["sampling/createMessage", "elicitation/create"].includes(request.method))
      return original;
    const response = structuredClone(original);
    const part = clientAnswer(response.result as Shape);
    const judged = part && (await this.#judged(part, false, signal));
    if (judged?.outcome !== "blocked") return response;
    this.#log(`blocked the answer to ${request.method}: ${reasonFor(judged)}`);
    return blockedError(request, `guard did not send the answer: ${reasonFor(judged)}.`, judged);
  }

  /** Judges a part, writes what was changed into its message, and remembers it for scanners that compare. */
  async #judged(part: Part, mask: boolean, signal: AbortSignal): Promise<TextVerdict> {
    const { text } = part;
    const texts = [...this.#definitions, ...this.#recent];
    const judged = await this.#scanner.scan(text, { texts, mask, signal });
    if (judged.outcome === "blocked") return judged;
    if (judged.strings && !part.write(judged.strings)) return { ...judged, outcome: "blocked" };
    if (text.source !== "tool_definition") this.#remember(text);
    return judged;
  }

  #remember(text: MessageText): void {
    const texts = [...this.#recent, text].slice(-MOST_TEXTS);
    let chars = texts.reduce((sum, item) => sum + item.text.length, 0);
    while (chars > MOST_CHARS && texts.length > 1) chars -= (texts.shift() as MessageText).text.length;
    this.#recent = texts;
  }

  /** Leaves out of a server's introduction what fails: nothing depends on it. */
  async #introduction(result: Shape, signal: AbortSignal): Promise<void> {
    const info = isRecord(result.serverInfo) ? result.serverInfo : {};
    for (const [holder, key] of [
      [result, "instructions"],
      [info, "title"],
      [info, "description"],
    ] as const) {
      const part = plainText(holder, key, `result/${key}`);
      const judged = part && (await this.#judged(part, false, signal));
      if (judged?.outcome !== "blocked") continue;
      delete holder[key];
      this.#log(`removed the ${key} of the server: ${reasonFor(judged)}`);
    }
  }

  /** Leaves out of a page of a list the definitions that fail. */
  async #definitionList(
    result: Shape,
    [key, what]: readonly [key: string, what: string],
    isFirst: boolean,
    signal: AbortSignal,
  ): Promise<void> {
    const entries = list(result[key]);
    const read = key === "tools" ? toolDefinition : listEntry;
    const parts = entries.map((entry, index) => read(entry, `result/${key}/${index}`));
    if (key === "tools") {
      const texts = parts.flatMap((part) => (part ? [part.text] : []));
      this.#definitions = isFirst ? texts : [...this.#definitions, ...texts];
    }
    const limit = pLimit(PARALLEL);
    const judged = await Promise.all(
      parts.map((part) => limit(() => (part ? this.#judged(part, false, signal) : undefined))),
    );
    result[key] = entries.filter((entry, index) => {
      const judgement = judged[index];
      const name = String(entry.name ?? entry.uri ?? entry.uriTemplate);
      if (judgement?.outcome !== "blocked") {
        if (key === "tools") this.#removedTools.delete(name);
        return true;
      }
      if (key === "tools") {
        this.#removedTools.set(name, reasonFor(judgement).replace(/^it\b/, "its definition"));
        this.#onRemovedTool(name);
      }
      this.#log(`removed the ${what} ${quoted(name)}: ${reasonFor(judgement)}`);
      return false;
    });
  }

  async #restoreValues(params: Shape, signal: AbortSignal): Promise<void> {
    const entries = this.#scanner.vault.entries();
    if (entries.length === 0) return;
    const placeholders = entries.map(([placeholder]) => placeholder);
    const originals = entries.map(([, original]) => original);
    const reader = new SlotReader();
    reader.read(params, "arguments", "params/arguments");
    for (const { text, write } of reader.slots) {
      const { matches, restored } = await native(
        () => addon.restorePlaceholders(text, placeholders, originals, "exact"),
        { signal },
      );
      if (matches.length > 0) write?.(restored ?? restoreOriginals(text, matches, originals));
    }
    reader.commit();
  }

  #blockedResult(request: JSONRPCRequest, judged: TextVerdict): JSONRPCResponse {
    this.#log(`blocked the result of ${shown(request)}: ${reasonFor(judged)}`);
    const sentence =
      `guard blocked the result of ${shown(request)}: ${reasonFor(judged)}. ` +
      "It is not shown here because it may hold instructions of somebody else. Do not try the same again; you may tell the user.";
    return this.#refusal(request, sentence, judged);
  }

  /** What a client gets in place of a result: for a tool, a result that its model can read, otherwise an error. */
  #refusal(request: JSONRPCRequest, sentence: string, judged?: TextVerdict): JSONRPCResponse {
    if (request.method !== "tools/call") return blockedError(request, sentence, judged);
    return { jsonrpc: "2.0", id: request.id, result: blockedTool(request, sentence) };
  }
}

/** The error in place of a message that was blocked. */
export function blockedError(
  { id }: Pick<JSONRPCRequest, "id">,
  message: string,
  judged?: TextVerdict,
): JSONRPCResponse {
  return { jsonrpc: "2.0", id, error: { code: BLOCKED, message, ...(judged ? { data: detailsOf(judged) } : {}) } };
}

/** A request in words, without its arguments. */
function shown({ method, params }: Pick<JSONRPCNotification, "method" | "params">): string {
  const name = params?.name ?? params?.uri;
  return name === undefined ? method : `${method} ${quoted(name)}`;
}
