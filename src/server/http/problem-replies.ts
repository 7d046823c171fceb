import { Problem, REFUSALS } from "../../http-server/problem.ts";

/** The problems of a route by status, with an example of each. */
export type ProblemReplies = Record<number, { description: string; example: Problem }>;

/** Problems of request headers, of every route. */
export const headerProblems: ProblemReplies = {
  400: { description: "Malformed request", example: new Problem(400, "The header Host is missing.") },
  403: {
    description: "A page of another origin, on a server without auth",
    example: new Problem(403, "Without auth, pages of other origins may not send requests."),
  },
  421: {
    description: "A Host that is no name of this machine, on a server without auth",
    example: new Problem(421, "Without auth, Host must name this machine, or be one of app.allowed_hosts."),
  },
  417: {
    description: "Unknown expectation",
    example: new Problem(417, "The only supported expectation is 100-continue."),
  },
  501: {
    description: "Unknown transfer coding",
    example: new Problem(501, "The only supported transfer coding is chunked."),
  },
};

/** Problems of malformed bytes, whose route is not known yet. */
export const malformedProblems: ProblemReplies = {
  408: { description: "Request timeout", example: new Problem(408, REFUSALS[408]) },
  431: { description: "Headers too large", example: new Problem(431, REFUSALS[431]) },
};

export const authProblems: ProblemReplies = {
  401: { description: "Not authenticated", example: new Problem(401, "A credential is required.") },
  429: { description: "Too many requests", example: new Problem(429, "Too many requests; try again in 12 s.") },
};

/** Problems of routes for operators. */
export const adminProblems: ProblemReplies = {
  ...authProblems,
  403: {
    description: "The credential is not of an operator",
    example: new Problem(403, "This credential may not administer the service."),
  },
};

export const notReadyProblems: ProblemReplies = {
  503: {
    description: "Starting or closing",
    example: new Problem(503, "The service is starting: its models are being loaded."),
  },
};

/** Problems of JSON bodies. */
export const bodyProblems: ProblemReplies = {
  400: {
    description: "Invalid JSON, or a malformed request",
    example: new Problem(400, "The body is not valid JSON."),
  },
  413: {
    description: "Body, conversation or vault too large",
    example: new Problem(413, "The body has more than 1048576 bytes (app.max_body_size)."),
  },
  415: {
    description: "Not uncompressed application/json in UTF-8",
    example: new Problem(415, "The body must be application/json."),
  },
};

/** Problems of scans. */
export const scanProblems: ProblemReplies = {
  ...bodyProblems,
  ...authProblems,
  403: {
    description: "No right to use a profile, to set thresholds, or to suppress scanners",
    example: new Problem(403, "This credential may not use that profile."),
  },
  422: {
    description: "Invalid or ambiguous fields, or a vault that cannot be opened",
    example: new Problem(422, "The body has the wrong shape.", {
      errors: [{ pointer: "/details", detail: "must be boolean or must be null" }],
    }),
  },
  500: { description: "A scanner failed", example: new Problem(500, "The scanner Toxicity failed.") },
  503: { description: "Starting, overloaded or closing", example: new Problem(503, "Too many scans are in progress.") },
  504: { description: "The scan took too long", example: new Problem(504, "The scan took longer than 30 s.") },
};
