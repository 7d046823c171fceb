// The messages of agentgateway's policy servers for MCP that guard reads and writes. Names and numbers of fields are those of
// https://github.com/agentgateway/agentgateway/blob/main/crates/protos/proto/ext_mcp.proto
import { field, list, message, type Namespace, oneof } from "../descriptors.ts";

/** A request of a client, or the response to it. */
export interface McpMessage {
  /** The servers behind the gateway. */
  serviceNames?: string[];
  /** The method of JSON-RPC, such as `tools/call`. */
  method?: string;
  /** The `params` of a request, as JSON. */
  mcpRequest?: Buffer;
  /** The `result` of a response, as JSON. */
  mcpResponse?: Buffer;
}

/** Codes of an error. */
export const DENIED = 1;
export const EXHAUSTED = 2;
export const INVALID = 3;

/** What the gateway does. */
export type McpResult =
  | { pass: object }
  /** It takes this JSON instead. */
  | { mutated: Buffer }
  | { error: { code: number; reason: string } };

const result = {
  oneofs: oneof("result", ["pass", "mutated", "error"]),
  ...message({ pass: field("Pass", 1), mutated: field("bytes", 2), error: field("AuthorizationError", 3) }),
};

/** The service `agentgateway.dev.ext_mcp.ExtMcp`. */
export const EXT_MCP: Namespace = {
  ExtMcp: {
    methods: {
      CheckRequest: { requestType: "McpRequest", responseType: "McpRequestResult" },
      CheckResponse: { requestType: "McpResponse", responseType: "McpResponseResult" },
    },
  },
  McpRequest: message({ serviceNames: list("string", 1), method: field("string", 2), mcpRequest: field("bytes", 4) }),
  McpResponse: message({ serviceNames: list("string", 1), method: field("string", 2), mcpResponse: field("bytes", 4) }),
  McpRequestResult: result,
  McpResponseResult: result,
  Pass: message({}),
  AuthorizationError: message({ code: field("int32", 1), reason: field("string", 2) }),
};
