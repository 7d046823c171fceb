import type { ChatRequest } from "../scan/chat-request.ts";

/** The part of a body that is sent to a model. Its shape was checked, and what it holds is checked where it is read. */
export function chatOf({ messages, tools, system }: Partial<Record<keyof ChatRequest, unknown>>): ChatRequest {
  return { messages, tools, system } as ChatRequest;
}
