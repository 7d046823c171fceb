import type { JSONRPCRequest, JSONRPCResponse } from "@modelcontextprotocol/client";
import pLimit from "p-limit";
import type { ScanService } from "../service/service.ts";
import { isRecord } from "../support/is-record.ts";
import { blockedError, blockedResponse, blockReason, quotedName, requestLabel } from "./replies.ts";
import { SessionScanner, type TextVerdict } from "./session-scanner.ts";
import { SessionTexts } from "./session-texts.ts";
import {
  callArguments,
  clientAnswer,
  errorText,
  inputRequests,
  list,
  listEntry,
  type Part,
  plainName,
  plainText,
  promptResult,
  resourceResult,
  serverRequest,
  taskResult,
  toolDefinition,
  toolResult,
} from "./shapes.ts";

/** How an MCP session is guarded. */
export interface McpGuardOptions {
  /**
   * What happens to a text of the server that fails. `mask` (default): scanners remove what they can, and the rest is passed on if it
   * passes alone. `block`: the whole text is blocked. Definitions and arguments are never masked.
   */
  onFinding?: "mask" | "block";
  /** The names of the tools whose arguments get the real values of placeholders. */
  restore?: readonly string[];
  /** Called with the name of each tool that is removed from the list. */
  onRemovedTool?: (name: string) => void;
  /** Called with a line, without texts, for each text that is removed, masked or blocked. */
  log?: (line: string) => void;
}

/** What happens to a request: it is forwarded, perhaps changed, or answered at once. */
export type Decision = { forward: JSONRPCRequest } | { answer: JSONRPCResponse };

type Shape = Record<string, unknown>;

/** The lists of definitions by method: the key of their entries, and the word for an entry. */
const LISTS: Readonly<Record<string, readonly [key: string, word: string]>> = {
  "tools/list": ["tools", "tool"],
  "prompts/list": ["prompts", "prompt"],
  "resources/list": ["resources", "resource"],
  "resources/templates/list": ["resourceTemplates", "resource template"],
};

/** The readers of other results by method. */
const RESULTS: Readonly<Record<string, (result: Shape, toolName?: string) => Part | undefined>> = {
  "tools/call": toolResult,
  "tasks/result": toolResult,
  "prompts/get": promptResult,
  "resources/read": resourceResult,
  "tasks/get": taskResult,
  "tasks/list": taskResult,
  "tasks/cancel": taskResult,
};

/** The requests of clients whose arguments are sent to the server. */
const OUTGOING = new Set(["tools/call", "prompts/get", "resources/read", "completion/complete"]);

/** The number of definitions of a list that are scanned at the same time. */
const CONCURRENCY = 8;

/**
 * Checks the messages of a session between an MCP client and a server, independent of their transport: requests, results, errors and
 * definitions. Other messages are not changed. Messages that cannot be checked are blocked.
 */
export class McpGuard {
  readonly #scanner: SessionScanner;
  readonly #mask: boolean;
  readonly #restore: ReadonlySet<string>;
  readonly #log: (line: string) => void;
  readonly #onRemovedTool: (name: string) => void;
  readonly #texts = new SessionTexts();
  /** The names of the tools that were removed from the list, with the reason. */
  readonly #removedTools = new Map<string, string>();

  constructor(service: ScanService, { onFinding = "mask", restore = [], log, onRemovedTool }: McpGuardOptions = {}) {
    this.#log = log ?? (() => {});
    this.#onRemovedTool = onRemovedTool ?? (() => {});
    this.#scanner = new SessionScanner(service, (reason) => this.#log(`a text could not be checked: ${reason}`));
    this.#mask = onFinding === "mask";
    this.#restore = new Set(restore);
  }

  /**
   * Checks the arguments of a client's request before they are sent to the server.
   *
   * @param signal is aborted when the client cancels the request. The promise then rejects with its reason.
   */
  async clientRequest(original: JSONRPCRequest, signal: AbortSignal): Promise<Decision> {
    if (!OUTGOING.has(original.method) || !isRecord(original.params)) return { forward: original };
    const request = structuredClone(original);
    const params = request.params as Shape;
    const isCall = request.method === "tools/call";
    const name = String(params.name ?? params.uri ?? "");
    const removalReason = isCall ? this.#removedTools.get(name) : undefined;
    if (removalReason !== undefined) return { answer: this.#removedToolResponse(request, name, removalReason) };
    const toolCall = { name, id: String(request.id), arguments: params.arguments };
    const part = callArguments(params, isCall ? toolCall : undefined);
    const verdict = part && (await this.#check(part, false, signal));
    if (verdict?.outcome === "blocked") {
      this.#log(`blocked the arguments of ${request.method} ${quotedName(name)}: ${blockReason(verdict)}`);
      const target = isCall ? `the tool ${quotedName(name)}` : request.method;
      const message =
        `guard did not send the arguments of ${target}: ${blockReason(verdict)}. ` +
        "Do not try the same again. Remove what must not be sent, or tell the user.";
      return { answer: blockedResponse(request, message, verdict) };
    }
    if (isCall && this.#restore.has(name)) await this.#scanner.restoreValues(params, signal);
    return { forward: request };
  }

  #removedToolResponse(request: JSONRPCRequest, name: string, reason: string): JSONRPCResponse {
    this.#log(`blocked a call of the removed tool ${quotedName(name)}`);
    const message = `guard removed the tool ${quotedName(name)}: ${reason}. The call was not sent. Do not try it again; tell the user.`;
    return blockedResponse(request, message);
  }

  /** Checks the server's response to a client's request. */
  async serverResponse(
    request: JSONRPCRequest,
    original: JSONRPCResponse,
    signal: AbortSignal,
  ): Promise<JSONRPCResponse> {
    const response = structuredClone(original);
    if ("error" in response) {
      const part = errorText(response.error);
      const verdict = part && (await this.#check(part, this.#mask, signal));
      return verdict?.outcome === "blocked" ? this.#blockedResult(request, verdict) : response;
    }
    const result = response.result as Shape;
    await this.#removeFailing(request, result, signal);
    for (const part of resultParts(request, result)) {
      const verdict = await this.#check(part, this.#mask, signal);
      if (verdict.outcome === "blocked") return this.#blockedResult(request, verdict);
      if (verdict.outcome === "masked") {
        this.#log(`masked the result of ${requestLabel(request)}: ${blockReason(verdict)}`);
      }
    }
    return response;
  }

  #blockedResult(request: JSONRPCRequest, verdict: TextVerdict): JSONRPCResponse {
    const label = requestLabel(request);
    this.#log(`blocked the result of ${label}: ${blockReason(verdict)}`);
    const message =
      `guard blocked the result of ${label}: ${blockReason(verdict)}. ` +
      "It is withheld because it may contain instructions from a third party. Do not try the same again; you may tell the user.";
    return blockedResponse(request, message, verdict);
  }

  /** Checks a server's request to the client: messages for the client's model, or a question to the user. */
  async serverRequest(original: JSONRPCRequest, signal: AbortSignal): Promise<Decision> {
    if (!isRecord(original.params)) return { forward: original };
    const request = structuredClone(original);
    for (const part of serverRequest(request.method, request.params as Shape)) {
      const verdict = await this.#check(part, this.#mask, signal);
      if (verdict.outcome !== "blocked") continue;
      this.#log(`blocked ${request.method} of the server: ${blockReason(verdict)}`);
      return { answer: blockedError(request, `guard blocked this request: ${blockReason(verdict)}.`, verdict) };
    }
    return { forward: request };
  }

  /** Checks the client's response to a server's request before it is sent to the server. */
  async clientResponse(
    request: JSONRPCRequest,
    original: JSONRPCResponse,
    signal: AbortSignal,
  ): Promise<JSONRPCResponse> {
    if ("error" in original || !["sampling/createMessage", "elicitation/create"].includes(request.method))
      return original;
    const response = structuredClone(original);
    const part = clientAnswer(response.result as Shape);
    const verdict = part && (await this.#check(part, false, signal));
    if (verdict?.outcome !== "blocked") return response;
    this.#log(`blocked the answer to ${request.method}: ${blockReason(verdict)}`);
    return blockedError(request, `guard did not send the answer: ${blockReason(verdict)}.`, verdict);
  }

  /** Scans a part of a message, writes the changed strings into the message, and keeps the text for later comparisons. */
  async #check(part: Part, mask: boolean, signal: AbortSignal): Promise<TextVerdict> {
    const { text } = part;
    const verdict = await this.#scanner.scan(text, { texts: this.#texts.all(), mask, signal });
    const { wouldBlock, wouldMask } = verdict;
    if (wouldBlock) this.#log(`would block ${placeOf(text)}: ${wouldBlock.join(", ")}`);
    if (wouldMask) this.#log(`would mask ${placeOf(text)}: ${wouldMask.join(", ")}`);
    if (verdict.outcome === "blocked") return verdict;
    if (verdict.strings && !part.write(verdict.strings)) return { ...verdict, outcome: "blocked" };
    if (text.source !== "tool_definition") this.#texts.add(text);
    return verdict;
  }

  /** Removes the failing parts of a result that clients can do without: descriptions of the server, and entries of lists. */
  async #removeFailing({ method, params }: JSONRPCRequest, result: Shape, signal: AbortSignal): Promise<void> {
    if (method === "initialize" || method === "server/discover") await this.#filterServerInfo(result, signal);
    const [key, word] = (Object.hasOwn(LISTS, method) && LISTS[method]) || [];
    if (key === undefined || word === undefined) return;
    const cursor = plainName(result, "nextCursor", "result/nextCursor");
    if (await this.#isBlocked(cursor, "the cursor of a list", signal)) delete result.nextCursor;
    const isFirstPage = !isRecord(params) || params.cursor === undefined;
    await this.#filterDefinitions(result, key, word, isFirstPage, signal);
  }

  async #filterServerInfo(result: Shape, signal: AbortSignal): Promise<void> {
    const info = isRecord(result.serverInfo) ? result.serverInfo : {};
    for (const [holder, key] of [
      [result, "instructions"],
      [info, "title"],
      [info, "description"],
    ] as const) {
      const part = plainText(holder, key, `result/${key}`);
      if (await this.#isBlocked(part, `the ${key} of the server`, signal)) delete holder[key];
    }
    for (const key of Object.keys(info)) {
      if (key === "title" || key === "description" || key === "icons") continue;
      const part = plainName(info, key, `result/serverInfo/${key}`);
      // The protocol requires a name and a version.
      if (await this.#isBlocked(part, `the ${quotedName(key)} of the server`, signal)) info[key] = "unknown";
    }
  }

  /** Checks a part that clients can do without, and logs that it is removed. */
  async #isBlocked(part: Part | undefined, what: string, signal: AbortSignal): Promise<boolean> {
    const verdict = part && (await this.#check(part, false, signal));
    if (verdict?.outcome !== "blocked") return false;
    this.#log(`removed ${what}: ${blockReason(verdict)}`);
    return true;
  }

  /** Removes failing definitions from a page of a list. */
  async #filterDefinitions(
    result: Shape,
    key: string,
    word: string,
    isFirstPage: boolean,
    signal: AbortSignal,
  ): Promise<void> {
    const isToolList = key === "tools";
    const entries = list(result[key]);
    const readEntry = isToolList ? toolDefinition : listEntry;
    const parts = entries.map((entry, index) => readEntry(entry, `result/${key}/${index}`));
    if (isToolList) {
      const texts = parts.flatMap((part) => (part ? [part.text] : []));
      this.#texts.setDefinitions(texts, isFirstPage);
    }
    const limit = pLimit(CONCURRENCY);
    const verdicts = await Promise.all(
      parts.map((part) => limit(() => (part ? this.#check(part, false, signal) : undefined))),
    );
    result[key] = entries.filter((entry, index) => {
      const verdict = verdicts[index];
      const name = String(entry.name ?? entry.uri ?? entry.uriTemplate);
      if (isToolList) this.#removedTools.delete(name);
      if (verdict?.outcome !== "blocked") return true;
      if (isToolList) {
        this.#removedTools.set(name, blockReason(verdict).replace(/^it\b/, "its definition"));
        this.#onRemovedTool(name);
      }
      this.#log(`removed the ${word} ${quotedName(name)}: ${blockReason(verdict)}`);
      return false;
    });
  }
}

/** Describes where a text is, without quoting it. Paths may contain keys of the server. */
function placeOf({ source, path }: Part["text"]): string {
  return `a text of the source ${source} (${path.split("/", 1)[0]})`;
}

/** The parts of a result that are blocked or masked. */
function resultParts({ method, params }: JSONRPCRequest, result: Shape): Part[] {
  const readResult = Object.hasOwn(RESULTS, method) ? RESULTS[method] : undefined;
  const toolName = method === "tools/call" && isRecord(params) ? String(params.name) : undefined;
  const task = isRecord(result.task) ? taskResult(result) : undefined;
  return [readResult?.(result, toolName), task, ...inputRequests(result)].filter((part) => part !== undefined);
}
