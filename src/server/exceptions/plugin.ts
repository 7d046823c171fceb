import type { FastifyInstance, FastifyRequest } from "fastify";
import fp from "fastify-plugin";
import { z } from "zod";
import { assertAddingExceptions } from "../../http-server/callers/rights.ts";
import { Problem } from "../../http-server/problem.ts";
import {
  checkConditions,
  type Exception,
  exceptionFields,
  exceptionScanners,
  expiryOf,
  idOf,
} from "../../scan/exceptions/exception.ts";
import { Exceptions } from "../../scan/exceptions/exceptions.ts";
import { CONVERSATION_RISK } from "../../scan/report.ts";
import { didYouMean } from "../../support/did-you-mean.ts";
import { GuardValidationError } from "../../support/errors.ts";
import { parseOptions } from "../../support/options.ts";
import type { Profiles } from "../callers/profiles.ts";
import { authProblems, bodyProblems, type ProblemReplies } from "../http/problem-replies.ts";
import { jsonReply } from "../routes/replies.ts";
import {
  exceptionExample,
  exceptionList,
  exceptionReply,
  exceptionRequest,
  exceptionRequestExample,
} from "../schemas/exceptions.ts";
import { named, namedSchemas } from "../schemas/named.ts";
import type { StoredException } from "./exception-store.ts";
import type { RunTimeExceptions } from "./run-time-exceptions.ts";

export interface ExceptionsPluginOptions {
  exceptions: RunTimeExceptions;
  profiles: Profiles;
  /** The names of the credentials. */
  credentials: readonly string[];
  /** The key of the hashes of exact texts. */
  key: Uint8Array;
  /** Whether hashes of the command line match: the environment has their key. */
  hasKey: boolean;
  /** Records an event in the audit log. */
  record(event: Record<string, unknown>): Promise<void>;
}

const problems: ProblemReplies = {
  ...authProblems,
  403: {
    description: "The credential may not add exceptions",
    example: new Problem(403, "This credential may not add exceptions."),
  },
};

/** A request's exception, with names in camelCase. */
const requested = z
  .strictObject({ scanners: exceptionScanners, text: z.string().min(1).optional(), ...exceptionFields })
  .superRefine((given, context) => checkConditions(given, context, ["text"]));

/** `GET`, `POST` and `DELETE /admin/exceptions`: lists exceptions, and adds and removes those of the run time. */
export const exceptionsPlugin = fp(async (app: FastifyInstance, options: ExceptionsPluginOptions) => {
  const { exceptions, profiles } = options;
  const requests = { ExceptionRequest: exceptionRequest };
  for (const schema of namedSchemas(requests, "input")) app.addSchema(schema);
  const replies = { Exception: exceptionReply, ExceptionList: exceptionList };
  for (const schema of namedSchemas(replies, "output")) app.addSchema(schema);

  app.get("/admin/exceptions", {
    config: { problems },
    schema: {
      tags: ["Admin"],
      operationId: "list_exceptions",
      summary: "List the exceptions",
      response: jsonReply("ExceptionList", { kept: "file", exceptions: [exceptionExample] }),
    },
    onRequest,
    handler: async () => {
      await exceptions.refresh();
      const ofRunTime = exceptions.all.map((exception) => listed(exception));
      return { kept: exceptions.kind, exceptions: [...configuredIn(profiles), ...ofRunTime] };
    },
  });

  addRoute(app, options);
  removeRoute(app, options);
});

const onRequest = async ({ rights }: FastifyRequest) => assertAddingExceptions(rights);

function addRoute(app: FastifyInstance, options: ExceptionsPluginOptions): void {
  app.post("/admin/exceptions", {
    config: {
      problems: { ...problems, ...invalidProblems, ...storeProblems },
      requestExample: exceptionRequestExample,
    },
    schema: {
      tags: ["Admin"],
      operationId: "add_exception",
      summary: "Add an exception, or replace the one with the same id or the same conditions",
      body: named("ExceptionRequest"),
      response: { 201: jsonReply("Exception", exceptionExample)[200] },
    },
    onRequest,
    handler: async (request, reply) => {
      const exception = readException(request.body, options);
      if (isExpired(exception)) throw new GuardValidationError([{ path: "expires", message: "is in the past" }]);
      const stored: StoredException = {
        ...exception,
        created: new Date().toISOString(),
        createdBy: request.credential?.name ?? null,
      };
      await options.record(eventOf("exception_added", request, stored));
      await options.exceptions.add(stored);
      request.log.info(
        { exception: stored.id, scanners: stored.scanners, expires: stored.expires },
        "an exception was added",
      );
      return reply.code(201).send(listed(stored));
    },
  });
}

function removeRoute(app: FastifyInstance, options: ExceptionsPluginOptions): void {
  const { exceptions, profiles } = options;
  app.delete<{ Params: { id: string } }>("/admin/exceptions/:id", {
    config: { problems: { ...problems, ...unknownProblems, ...storeProblems } },
    schema: {
      tags: ["Admin"],
      operationId: "remove_exception",
      summary: "Remove an exception of the run time",
      params: { type: "object", properties: { id: { type: "string" } }, required: ["id"] },
      response: { 204: { description: "Removed", type: "null" } },
    },
    onRequest,
    handler: async (request, reply) => {
      const { id } = request.params;
      await exceptions.refresh();
      const known = exceptions.all.find((exception) => exception.id === id);
      if (!known && isConfigured(profiles, id)) {
        throw new Problem(409, "This exception is part of the configuration: remove it there.");
      }
      if (!known) throw new Problem(404, "There is no such exception.");
      await options.record(eventOf("exception_removed", request, known));
      await exceptions.remove(id);
      request.log.info({ exception: id }, "an exception was removed");
      return reply.code(204).send();
    },
  });
}

const invalidProblems: ProblemReplies = {
  ...bodyProblems,
  422: {
    description: "Invalid fields",
    example: new Problem(422, "The body has the wrong shape.", {
      errors: [{ pointer: "/expires", detail: "expected a date such as 2027-03-31" }],
    }),
  },
};

const unknownProblems: ProblemReplies = {
  404: { description: "Unknown id", example: new Problem(404, "There is no such exception.") },
  409: {
    description: "Part of the configuration",
    example: new Problem(409, "This exception is part of the configuration: remove it there."),
  },
};

const storeProblems: ProblemReplies = {
  503: {
    description: "The store does not respond",
    example: new Problem(503, "Redis does not respond, so the exceptions are unchanged."),
  },
};

/**
 * Reads an exception of a request.
 *
 * @throws GuardValidationError with the path of every invalid value.
 */
function readException(
  body: unknown,
  { exceptions, profiles, credentials, key, hasKey }: ExceptionsPluginOptions,
): Exception {
  const { text_hash: textHash, ...rest } = body as z.output<typeof exceptionRequest>;
  const { text, ...fields } = parseOptions(
    requested,
    { ...rest, ...(textHash === undefined ? {} : { textHash }) },
    "snake_case",
  );
  const issues = [
    ...unknownNames("scanners", fields.scanners, scannerNames(profiles)),
    ...unknownNames("credentials", fields.credentials ?? [], credentials),
    ...(fields.textHash !== undefined && !hasKey
      ? [
          {
            path: "text_hash",
            message: "this server has no GUARD_EXCEPTIONS_KEY, so it knows no hashes: send the text",
          },
        ]
      : []),
  ];
  if (issues.length > 0) throw new GuardValidationError(issues);
  const compared = new Exceptions(key);
  const conditions = text === undefined ? fields : { ...fields, textHash: compared.hashOf(text) };
  const exception: Exception = { ...conditions, id: idOf(conditions) };
  // Compile the pattern, which may be invalid.
  compared.set("run time", [exception], () => "");
  if (isConfigured(profiles, exception.id)) {
    throw new GuardValidationError([{ path: "id", message: "an exception of the configuration has this id" }]);
  }
  exceptions.assertRoomFor(exception.id);
  return exception;
}

function unknownNames(path: string, names: readonly string[], known: readonly string[]) {
  return names.flatMap((name, index) =>
    known.includes(name) ? [] : [{ path: `${path}.${index}`, message: `unknown name${didYouMean(name, known)}` }],
  );
}

/** The names and types of all scanners. */
function scannerNames(profiles: Profiles): string[] {
  const all = profiles.all.flatMap(({ service }) => [...service.scanners.input, ...service.scanners.output]);
  return [...new Set([...all.flatMap(({ name, scanner }) => [name, scanner.type]), CONVERSATION_RISK])];
}

/** The exceptions of the configuration, each with its profiles. */
function configuredIn(profiles: Profiles): z.input<typeof exceptionReply>[] {
  const found = new Map<string, z.input<typeof exceptionReply> & { profiles: string[] }>();
  for (const { name, service } of profiles.all) {
    for (const { origin, isExpired: _, ...exception } of service.exceptions?.list() ?? []) {
      if (origin !== "configuration") continue;
      const key = JSON.stringify(exception);
      const known = found.get(key) ?? { ...listed(exception), origin, profiles: [] };
      known.profiles.push(name);
      found.set(key, known);
    }
  }
  return [...found.values()];
}

function isConfigured(profiles: Profiles, id: string): boolean {
  return configuredIn(profiles).some((exception) => exception.id === id);
}

function isExpired({ expires }: Exception): boolean {
  return (expiryOf(expires) ?? 0) <= Date.now();
}

/** Returns an exception as the API shows it. */
function listed(exception: Exception & Partial<StoredException>): z.input<typeof exceptionReply> {
  const { textHash, createdBy, scanners, sources, credentials, ...rest } = exception;
  return {
    ...rest,
    scanners: [...scanners],
    ...(sources ? { sources: [...sources] } : {}),
    ...(credentials ? { credentials: [...credentials] } : {}),
    ...(textHash === undefined ? {} : { text_hash: textHash }),
    expired: isExpired(exception),
    origin: "run time",
    ...(createdBy === undefined ? {} : { created_by: createdBy }),
  };
}

/** The record of a change in the audit log. It has no passage, which may be confidential. */
function eventOf(event: string, request: FastifyRequest, exception: StoredException): Record<string, unknown> {
  const { id, scanners, textHash, sources, credentials, reason, expires } = exception;
  const kind =
    exception.substring !== undefined ? "substring" : exception.pattern !== undefined ? "pattern" : undefined;
  return {
    time: new Date().toISOString(),
    event,
    request: request.id,
    credential: request.credential?.name ?? null,
    exception: { id, scanners, passage: kind, text_hash: textHash, sources, credentials, reason, expires },
  };
}
