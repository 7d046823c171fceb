import type { JSONRPCRequest, JSONRPCResponse } from "@modelcontextprotocol/client";
import type { FastifyBaseLogger } from "fastify";
import { Counter, type Registry } from "prom-client";
import type { AuthEntry } from "../../config/index.ts";
import { findLongNumbers, stringify } from "../../http-formats/long-numbers.ts";
import { authenticator } from "../../http-server/callers/auth.ts";
import { McpGuard, type McpGuardOptions } from "../../mcp/guard.ts";
import type { ScanService } from "../../service/service.ts";
import { isRecord } from "../../support/is-record.ts";
import { parseStrict } from "../../support/strict-json.ts";
import type { GrpcService } from "../grpc-server.ts";
import { metadataHeaders, UNAUTHENTICATED, type UnaryCall } from "../packages.ts";
import { DENIED, EXHAUSTED, EXT_MCP, INVALID, type McpMessage, type McpResult } from "./messages.ts";

export interface PolicyServerOptions {
  service: ScanService;
  registry: Registry;
  log: FastifyBaseLogger;
  /** Credentials of guard, one of which the gateway has to send as metadata. */
  auth: readonly AuthEntry[];
  onFinding: NonNullable<McpGuardOptions["onFinding"]>;
  /** Checks at the same time. */
  maxCalls: number;
}

type Callback = (error: { code: number; details: string } | null, result?: McpResult) => void;

/** Methods of MCP, which are labels of metrics. A client may send any other. */
const METHODS = new Set([
  ...["initialize", "tools/list", "tools/call", "prompts/list", "prompts/get", "completion/complete"],
  ...["resources/list", "resources/templates/list", "resources/read"],
]);

/** Serves `agentgateway.dev.ext_mcp.ExtMcp`: one call for each request of an MCP client, and one for each response. */
export class PolicyServer {
  readonly #options: PolicyServerOptions;
  readonly #authenticate: ReturnType<typeof authenticator>;
  readonly #checks: Counter;
  #running = 0;
  #isClosing = false;

  constructor(options: PolicyServerOptions) {
    this.#options = options;
    this.#authenticate = authenticator(options.auth);
    this.#checks = new Counter({
      name: "guard_ext_mcp_checks_total",
      help: "Messages of MCP by method, side and what the gateway was told.",
      labelNames: ["method", "side", "result"],
      registers: [options.registry],
    });
  }

  get service(): GrpcService {
    return {
      package: "agentgateway.dev.ext_mcp",
      name: "ExtMcp",
      messages: EXT_MCP,
      handlers: {
        checkRequest: (call: UnaryCall<McpMessage>, reply: Callback) => void this.#answer("request", call, reply),
        checkResponse: (call: UnaryCall<McpMessage>, reply: Callback) => void this.#answer("response", call, reply),
      },
    };
  }

  close(): void {
    this.#isClosing = true;
  }

  async #answer(side: "request" | "response", call: UnaryCall<McpMessage>, reply: Callback): Promise<void> {
    const credential = this.#authenticate({ headers: metadataHeaders(call.metadata) });
    if (this.#options.auth.length > 0 && !credential) {
      return reply({ code: UNAUTHENTICATED, details: "guard needs a valid credential in the metadata." });
    }
    const controller = new AbortController();
    call.once("cancelled", () => controller.abort(new Error("The gateway cancelled the check.")));
    const { method = "" } = call.request;
    let result: McpResult;
    this.#running++;
    try {
      result = await this.#check(side, call.request, controller.signal);
    } catch (error) {
      if (!controller.signal.aborted) this.#options.log.error({ err: error }, "request failed");
      result = { error: { code: DENIED, reason: "guard could not check this message." } };
    } finally {
      this.#running--;
    }
    const [label = ""] = Object.keys(result);
    this.#checks.inc({ method: METHODS.has(method) ? method : "other", side, result: label });
    reply(null, result);
  }

  async #check(side: "request" | "response", message: McpMessage, signal: AbortSignal): Promise<McpResult> {
    if (this.#isClosing || this.#running > this.#options.maxCalls) {
      return { error: { code: EXHAUSTED, reason: "guard has too many messages to check. Try again." } };
    }
    const text = (side === "request" ? message.mcpRequest : message.mcpResponse)?.toString();
    const content = text ? readObject(text) : {};
    if (!content)
      return { error: { code: INVALID, reason: "guard could not read this message: expected a JSON object." } };
    const { onFinding, service, log } = this.#options;
    const guard = new McpGuard(service, { onFinding, log: (line) => log.info(line) });
    const request = { jsonrpc: "2.0", id: 1, method: message.method ?? "" } as const;
    if (side === "request") return checkRequest(guard, { ...request, params: content }, signal);
    return checkResponse(guard, request, { content, text: text ?? "" }, signal);
  }
}

function readObject(text: string): Record<string, unknown> | undefined {
  try {
    const value = parseStrict(text);
    return isRecord(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

async function checkRequest(guard: McpGuard, request: JSONRPCRequest, signal: AbortSignal): Promise<McpResult> {
  const decision = await guard.clientRequest(request, signal);
  return "forward" in decision ? { pass: {} } : denial(decision.answer);
}

async function checkResponse(
  guard: McpGuard,
  request: JSONRPCRequest,
  { content, text }: { content: Record<string, unknown>; text: string },
  signal: AbortSignal,
): Promise<McpResult> {
  const before = JSON.stringify(content);
  const response = await guard.serverResponse(request, { jsonrpc: "2.0", id: 1, result: content }, signal);
  if ("error" in response) return denial(response);
  const { result } = response as { result: Record<string, unknown> };
  if (JSON.stringify(result) === before) return { pass: {} };
  // Protocol revisions from 2026 on require the type of a result.
  if ("resultType" in content) result.resultType ??= content.resultType;
  return { mutated: Buffer.from(stringify(result, findLongNumbers(text))) };
}

/** Returns the refusal of a message, with the words that guard has for the client. */
function denial(answer: JSONRPCResponse): McpResult {
  const { error, result } = answer as { error?: { message: string }; result?: { content: { text: string }[] } };
  return {
    error: { code: DENIED, reason: error?.message ?? result?.content[0]?.text ?? "guard blocked this message." },
  };
}
