import { z } from "zod";
import { adHocRecognizer } from "../../scanners/parts/ad-hoc-recognizers.ts";
import { batchLine, outputsRequest, promptsRequest } from "./batch.ts";
import { profileList, serverConfig, traffic } from "./console.ts";
import { conversationRequest, conversationResult, message, messagePart } from "./conversation.ts";
import { document, documentResult, documentsRequest, documentsResult } from "./documents.ts";
import { namedSchemas } from "./named.ts";
import { outputRequest, outputResult, toolCall } from "./output.ts";
import { outputStreamEvent, outputStreamRequest, outputStreamStart } from "./output-stream.ts";
import { problemSchema } from "./problem.ts";
import { promptRequest, promptResult } from "./prompt.ts";
import { coverage, finding, scanResult } from "./scan.ts";

const serviceName = z
  .object({ name: z.string().describe("The name of the service: app.name of its configuration.") })
  .describe("Name of the service.");

const status = z
  .object({
    status: z.string().describe("alive, or ready."),
    redis: z
      .enum(["up", "down"])
      .optional()
      .describe("If Redis is configured: whether it responds. The service is ready without it, too."),
  })
  .describe("State of the service.");

/** All named schemas of the API. */
export const schemas = [
  ...namedSchemas(
    {
      PromptRequest: promptRequest,
      PromptsRequest: promptsRequest,
      OutputsRequest: outputsRequest,
      OutputRequest: outputRequest,
      OutputStreamRequest: outputStreamRequest,
      OutputStreamStart: outputStreamStart,
      ConversationRequest: conversationRequest,
      Message: message,
      ToolCall: toolCall,
      MessagePart: messagePart,
      DocumentsRequest: documentsRequest,
      Document: document,
      AdHocRecognizer: adHocRecognizer,
    },
    "input",
  ),
  ...namedSchemas(
    {
      PromptResult: promptResult,
      BatchLine: batchLine,
      OutputResult: outputResult,
      OutputStreamEvent: outputStreamEvent,
      ConversationResult: conversationResult,
      DocumentsResult: documentsResult,
      DocumentResult: documentResult,
      ScanResult: scanResult,
      Finding: finding,
      Coverage: coverage,
      ProfileList: profileList,
      Traffic: traffic,
      ServerConfig: serverConfig,
      ServiceName: serviceName,
      Status: status,
      Problem: problemSchema,
    },
    "output",
  ),
];
