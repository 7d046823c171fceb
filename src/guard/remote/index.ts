// The public surface of `guard-scan/remote`. Nothing here loads the addon or a model.

export type { AnsweredToolCall } from "../../messages/conversation.ts";
export type { ChatRequest, ContentPart, Message } from "../../scan/chat-request.ts";
export { isWithheld, type Outcome } from "../../scan/outcome.ts";
export { type ErrorCode, GuardError, GuardValidationError, type ValidationIssue } from "../../support/errors.ts";
export { type ExchangePart, GuardBlockedError } from "../blocked-error.ts";
export type * from "../guard.ts";
export { RemoteGuard } from "./remote-guard.ts";
export type { RemoteCredential, RemoteGuardOptions } from "./remote-options.ts";
