import { Problem } from "../../http-server/problem.ts";

/** Problems that a route may answer with, by status: when that happens, and one of them as an example. */
export type ProblemReplies = Record<number, { description: string; example: Problem }>;

/** The problems of requests whose headers cannot be followed. Every route may answer so, in its own shape for errors. */
export const headerProblems: ProblemReplies = {
  400: { description: "A request that cannot be read", example: new Problem(400, "The header Host is missing.") },
  417: { description: "Unknown expectation", example: new Problem(417, "Of expectations, only 100-continue is met.") },
  501: {
    description: "Unknown transfer coding",
    example: new Problem(501, "Of transfer codings, only chunked is taken."),
  },
};

/** The problems of bytes that make no request, of which nobody knows yet to which route they go. */
export const unreadableProblems: ProblemReplies = {
  408: { description: "Too slow", example: new Problem(408, "This is not a request that can be read.") },
  431: { description: "Headers too large", example: new Problem(431, "This is not a request that can be read.") },
};

/** The problems of a request without a credential, or of too many of them. */
export const notAuthenticated: ProblemReplies = {
  401: { description: "Not authenticated", example: new Problem(401, "A credential is needed.") },
  429: { description: "Too many requests", example: new Problem(429, "Too many requests; try again in 12 s.") },
};

/** The problems of a route for operators. */
export const notAdministering: ProblemReplies = {
  ...notAuthenticated,
  403: {
    description: "A credential that is not one of an operator",
    example: new Problem(403, "This credential may not administer the service."),
  },
};

/** The problem of a service that cannot scan now. */
export const notReady: ProblemReplies = {
  503: {
    description: "Starting or closing",
    example: new Problem(503, "The service is starting: its models are being loaded."),
  },
};

/** The problems that a scan may end with. */
export const scanProblems: ProblemReplies = {
  400: {
    description: "Not JSON, or a request that cannot be read",
    example: new Problem(400, "The body is not valid JSON."),
  },
  ...notAuthenticated,
  403: {
    description: "A profile, thresholds or scanners to leave out that the credential may not have",
    example: new Problem(403, "This credential may not ask for that profile."),
  },
  413: { description: "Body, conversation or vault too large", example: new Problem(413, "The body is too large.") },
  415: {
    description: "Not application/json in UTF-8, or compressed",
    example: new Problem(415, "The body must be application/json."),
  },
  422: {
    description: "JSON of the wrong shape or with two meanings, or a vault that cannot be opened",
    example: new Problem(422, "The body has the wrong shape.", {
      errors: [{ pointer: "/details", detail: "must be boolean or must be null" }],
    }),
  },
  500: { description: "A scanner failed", example: new Problem(500, "The scanner Toxicity failed.") },
  503: { description: "Starting, overloaded or closing", example: new Problem(503, "Too many scans are under way.") },
  504: { description: "The scan took too long", example: new Problem(504, "The scan took longer than 30 s.") },
};
