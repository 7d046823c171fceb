import { STATUS_CODES } from "node:http";

/** An invalid value in a request. */
export interface ProblemError {
  /** JSON pointer (RFC 6901) into the body. */
  pointer: string;
  detail: string;
}

/** Returns the JSON pointer of a path of keys and indexes. */
export function pointerOf(path: readonly (string | number)[]): string {
  return path.map((part) => `/${escapePointer(String(part))}`).join("");
}

export function escapePointer(part: string): string {
  return part.replaceAll("~", "~0").replaceAll("/", "~1");
}

/** What error responses say about requests that Node.js or Fastify refuse, by status. */
export const REFUSALS = { 408: "The request took too long to arrive.", 431: "The headers are too large." } as const;

/** An error response. The client sees its texts, so they must not quote a prompt, an output or a secret. */
export class Problem extends Error {
  /** The HTTP status. */
  readonly status: number;
  readonly errors: readonly ProblemError[] | undefined;
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    status: number,
    detail: string,
    { errors, headers = {} }: { errors?: readonly ProblemError[]; headers?: Record<string, string> } = {},
  ) {
    super(detail);
    this.name = "Problem";
    this.status = status;
    this.errors = errors;
    this.headers = headers;
  }
}

/** The body of an error response: RFC 9457 with the `message` and `details` of llm-guard's API. */
export interface ProblemBody {
  type: string;
  title: string;
  status: number;
  detail: string;
  errors?: ProblemError[] | undefined;
  message: string;
  details: { type: string; loc: (string | number)[]; msg: string }[] | null;
}

export function problemBody({ status, message, errors }: Problem): ProblemBody {
  return {
    // Without a page about the problem, the title is the status phrase (RFC 9457, section 4.2.1).
    type: "about:blank",
    title: STATUS_CODES[status] ?? "Error",
    status,
    detail: message,
    ...(errors ? { errors: [...errors] } : {}),
    message: status === 422 ? "Validation failed" : message,
    details:
      errors?.map(({ pointer, detail }) => ({
        type: "value_error",
        loc: ["body", ...location(pointer)],
        msg: detail,
      })) ?? null,
  };
}

/** Returns the names and indexes of a JSON pointer. */
function location(pointer: string): (string | number)[] {
  return pointer
    .split("/")
    .slice(1)
    .map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"))
    .map((part) => (/^\d+$/.test(part) ? Number(part) : part));
}
