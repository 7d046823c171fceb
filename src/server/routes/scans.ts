import type { FastifyInstance, FastifyReply } from "fastify";
import { z } from "zod";
import { type Message, ROLES, readMessages } from "../../messages.ts";
import type { Side } from "../../scanner.ts";
import { Vault } from "../../vault.ts";
import { answerOf } from "../answer.ts";
import type { Metrics } from "../plugins/metrics.ts";
import { Problem } from "../problem.ts";
import type { ScanRequest, ScanService, ServedReport } from "../scan-service.ts";
import { answer, jsonSchema, resultFields, type ScanFields, scanFields, scanProblems, vaultField } from "../schemas.ts";
import type { VaultSeal } from "../vault-seal.ts";

const promptBody = z.object({ prompt: z.string().describe("The prompt."), ...scanFields });
const outputBody = z.object({
  prompt: z.string().describe("The prompt that the output answers."),
  output: z.string().describe("The model's output."),
  ...scanFields,
});

const part = z.looseObject({ type: z.string(), text: z.string().nullish() });
const message = z.looseObject({
  role: z.enum(ROLES),
  content: z
    .union([z.string(), z.null(), z.array(z.union([z.string(), part]))])
    .optional()
    .describe("Text, or parts, of which text and tool_result are read."),
});
const conversationBody = z.object({
  messages: z.array(message).min(1).describe("The conversation, oldest first, in OpenAI's or Anthropic's format."),
  ...scanFields,
});

/** What Anonymize puts into texts. */
const PLACEHOLDER = /\[REDACTED_[^\s[\]]{1,100}_\d{1,9}\]/;

const scanResult = z.object(resultFields);
const promptResult = z.object({ sanitized_prompt: z.string(), ...resultFields, ...vaultField });
const outputResult = z.object({ sanitized_output: z.string(), ...resultFields });

/** What is scanned, and where. */
interface ScanRoute<Body extends ScanFields> {
  paths: { analyze: readonly string[]; scan: readonly string[] };
  /** What the texts are called in the API's description. */
  subject: string;
  source: Side;
  body: z.ZodType<Body>;
  result: z.ZodType;
  /** The field of the sanitized text. */
  sanitized: "sanitized_prompt" | "sanitized_output";
  scan(body: Body, request: ScanRequest): Promise<ServedReport>;
  /** The texts, for the log of those who want them there. */
  content(body: Body): Record<string, unknown>;
}

/** What the routes need. */
export interface ScanRoutesOptions {
  service: ScanService;
  metrics: Metrics;
  seal: VaultSeal;
  maxMessages: number;
  logContent: boolean;
}

/** POST /analyze/* rewrites texts and gives them back; POST /scan/* only judges. */
export async function scanRoutes(app: FastifyInstance, options: ScanRoutesOptions): Promise<void> {
  const { service, maxMessages } = options;
  let isWarned = !service.restores;
  /** llm-guard's API has one vault for all; who comes from there hands in none. */
  const warnOfPlaceholders = ({ output, vault }: z.output<typeof outputBody>) => {
    if (isWarned || typeof vault === "string" || !PLACEHOLDER.test(output)) return;
    isWarned = true;
    app.log.warn(
      "an output has placeholders and came without a vault, so they stay: hand in the vault of the answer to its prompt (said once)",
    );
  };

  addRoutes(app, options, {
    paths: { analyze: ["/analyze/prompt", "/analyze/scan"], scan: ["/scan/prompt"] },
    subject: "a prompt",
    source: "input",
    body: promptBody,
    result: promptResult,
    sanitized: "sanitized_prompt",
    scan: ({ prompt }, request) => service.prompt(prompt, request),
    content: ({ prompt }) => ({ prompt }),
  });

  addRoutes(app, options, {
    paths: { analyze: ["/analyze/output"], scan: ["/scan/output"] },
    subject: "an output",
    source: "output",
    body: outputBody,
    result: outputResult,
    sanitized: "sanitized_output",
    scan: (body, request) => {
      warnOfPlaceholders(body);
      return service.output(body.prompt, body.output, request);
    },
    content: ({ prompt, output }) => ({ prompt, output }),
  });

  addRoutes(app, options, {
    paths: { analyze: ["/analyze/conversation"], scan: ["/scan/conversation"] },
    subject: "a conversation",
    source: "input",
    body: conversationBody,
    result: promptResult,
    sanitized: "sanitized_prompt",
    scan: ({ messages }, request) => {
      const tooMany = new Problem(413, `A conversation may have ${maxMessages} messages at most.`);
      if (messages.length > maxMessages) throw tooMany;
      // One message may hold any number of tool results, and each of them is a text to scan.
      const { userTexts, toolTexts } = readMessages(messages as Message[]);
      if (userTexts.length + toolTexts.length > maxMessages) throw tooMany;
      return service.conversation(messages as Message[], request);
    },
    content: ({ messages }) => ({ messages }),
  });
}

function addRoutes<Body extends ScanFields>(
  app: FastifyInstance,
  { metrics, seal, logContent }: ScanRoutesOptions,
  { paths, subject, source, body, result, sanitized, scan, content }: ScanRoute<Body>,
): void {
  for (const [kind, urls] of Object.entries(paths)) {
    const rewrite = kind === "analyze";
    for (const url of urls) {
      app.post(url, {
        schema: {
          tags: [rewrite ? "Analyze" : "Scan"],
          operationId: url.slice(1).replace("/", "_"),
          summary: rewrite ? `Check ${subject} and sanitize it` : `Check ${subject}`,
          body: jsonSchema(body, "input"),
          response: answer(rewrite ? result : scanResult),
        },
        config: { problems: scanProblems },
        handler: async (request, reply) => {
          const fields = request.body as Body;
          const details = fields.details ?? false;
          const vault = typeof fields.vault === "string" ? seal.open(fields.vault) : new Vault();
          const report = await scan(fields, {
            suppress: fields.scanners_suppress ?? [],
            details,
            rewrite,
            vault,
            signal: clientGone(reply),
          });
          metrics.countScan(source, report);
          request.scanLog = {
            valid: report.isValid,
            flagged: Object.keys(report.resultsValid).filter((name) => !report.resultsValid[name]),
            ...(logContent ? { content: content(fields) } : {}),
          };
          return {
            ...answerOf(report, details, rewrite ? sanitized : undefined),
            // With what was handed in: the latest one is all that a client has to keep.
            ...(rewrite && source === "input" && vault.size > 0 ? { vault: seal.seal(vault) } : {}),
          };
        },
      });
    }
  }
}

/** Aborted when the connection closes before the answer is out. */
function clientGone(reply: FastifyReply): AbortSignal {
  const gone = new AbortController();
  reply.raw.once("close", () => {
    if (!reply.raw.writableFinished) gone.abort(new Problem(499, "The client closed the connection."));
  });
  return gone.signal;
}
