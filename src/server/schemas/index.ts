import { batchLine, outputsRequest, promptsRequest } from "./batch.ts";
import { conversationRequest, conversationResult, message, messagePart } from "./conversation.ts";
import { document, documentResult, documentsRequest, documentsResult } from "./documents.ts";
import { namedSchemas } from "./named.ts";
import { outputRequest, outputResult, toolCall } from "./output.ts";
import { outputStreamEvent, outputStreamRequest, outputStreamStart } from "./output-stream.ts";
import { problemSchema } from "./problem.ts";
import { promptRequest, promptResult } from "./prompt.ts";
import { coverage, finding, scanResult } from "./scan.ts";
import { serviceName, status } from "./status.ts";

/** All schemas of the API by the names that they have in its description. */
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
      ServiceName: serviceName,
      Status: status,
      Problem: problemSchema,
    },
    "output",
  ),
];
