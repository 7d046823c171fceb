import { isIP } from "node:net";
import { z } from "zod";
import { conversationRiskOptions, type ScoringFunction } from "../conversation/scan-conversation.ts";
import { DEFAULT_MAX_WINDOWS } from "../models/engine-options.ts";
import { checkConditions, exceptionFields, exceptionScanners } from "../scan/exceptions/exception.ts";
import { modeSetting } from "../scan/mode.ts";
import { REVIEW_POLICIES } from "../scan/outcome.ts";
import { SCAN_GROUPS } from "../scan/source.ts";
import { type DefinedScanner, isDefinedScanner } from "../scanners/definition.ts";
import { TREATMENTS } from "../scanners/parts/untrained-languages.ts";
import { HOLDBACK } from "../stream/holdback.ts";
import { checkOptions, fromSnakeCase } from "../support/options.ts";
import { PLUGIN_REFERENCE } from "../support/plugin-kind.ts";
import { audit } from "./audit.ts";
import { cache } from "./cache.ts";
import { nameIssues } from "./credential-names.ts";
import { secretIssues } from "./credential-secrets.ts";
import { DIALECTS } from "./dialects.ts";
import { exceptionStore } from "./exception-store.ts";
import { MAIN_PROFILE } from "./main-profile.ts";
import { MAX_WORKERS } from "./max-workers.ts";
import { rateLimit } from "./rate-limit.ts";
import { reviews } from "./reviews.ts";
import { shadow } from "./shadow.ts";
import { traffic } from "./traffic.ts";

const seconds = z.number().positive().max(3600);

const LOG_LEVELS = ["trace", "debug", "info", "warn", "error", "fatal", "silent"] as const;
/** Names of levels in Python, which files of llm-guard use. */
const PYTHON_LEVELS: Record<string, string> = { warning: "warn", critical: "fatal", notset: "trace" };

/** The most proxies between a client and the server. */
const MAX_HOPS = 10;

function isHops(count: number): boolean {
  return Number.isInteger(count) && count >= 1 && count <= MAX_HOPS;
}

/** Named ranges of addresses of Fastify's `trustProxy`. */
const RANGES = ["loopback", "linklocal", "uniquelocal"];

function isAddressOrRange(text: string): boolean {
  if (RANGES.includes(text)) return true;
  const [, address = "", bits] = /^([^/]*)(?:\/(\d{1,3}))?$/.exec(text) ?? [];
  const version = isIP(address);
  return version !== 0 && (bits === undefined || (Number(bits) >= 1 && Number(bits) <= (version === 4 ? 32 : 128)));
}

const app = z.strictObject({
  name: z.string().min(1).default("LLM Guard API").describe("Name of the service in GET / and in the API description."),
  host: z
    .string()
    .min(1)
    .default("127.0.0.1")
    .describe("Address to listen on. Addresses other than loopback require auth."),
  allowedHosts: z
    .array(z.string().min(1))
    .default([])
    .describe(
      "Names that requests may have as Host besides those of this machine, without ports. Only a server without auth checks Host and Origin.",
    ),
  port: z.number().int().min(0).max(65535).default(8000).describe("Port to listen on; 0 takes a free one."),
  workers: z
    .union([z.number().int().min(1).max(MAX_WORKERS), z.literal("auto")])
    .default(1)
    .describe("Number of processes that serve the port; auto: one for every four processors."),
  logLevel: z
    .string()
    .default("info")
    .transform((level) => PYTHON_LEVELS[level.toLowerCase()] ?? level.toLowerCase())
    .pipe(z.enum(LOG_LEVELS))
    .describe("trace, debug, info, warn, error, fatal or silent."),
  logJson: z.boolean().default(true).describe("Log lines as JSON; otherwise as text."),
  logContent: z
    .boolean()
    .default(false)
    .describe("Log prompts, outputs and error messages, which may contain secrets."),
  scanFailFast: z.boolean().default(false).describe("Stop a scan after the first failing scanner."),
  scanPromptTimeout: seconds
    .default(30)
    .describe("Timeout of a scan of a prompt, conversation or documents, in seconds."),
  scanOutputTimeout: seconds.default(30).describe("Timeout of a scan of an output, in seconds."),
  selfTestInterval: z
    .number()
    .min(0)
    .max(86_400)
    .default(300)
    .describe(
      "Seconds between self-tests, which check models and rules with known texts. After a wrong result all scans are refused until a restart or a reload. 0: self-test only before the server is ready.",
    ),
  lazyLoad: z
    .boolean()
    .default(false)
    .describe(
      "Load a model with the first request that needs it instead of at the start. Models of the hub must be downloaded before: guard-scan models pull.",
    ),
  requireFullCoverage: z
    .boolean()
    .default(false)
    .describe("Fail a text if a part of it or one of its checks was skipped, for any reason."),
  stateful: z
    .enum(["allow", "refuse"])
    .default("allow")
    .describe(
      "Requests whose model reads texts that are not in them (earlier answers, stored prompts, connected data, tools of the provider): allow, and report in coverage.state_elsewhere, or refuse.",
    ),
  unknownFields: z
    .enum(["report", "read", "refuse"])
    .default("report")
    .describe(
      "Fields of requests that the HTTP API does not know: report them in coverage.unknown_fields, read them with the input scanners, or refuse the request with status 422.",
    ),
  onUntrainedLanguage: z
    .enum(TREATMENTS)
    .optional()
    .describe(
      "How to treat text in languages that a model was not trained in, for scanners without this option in params: score, pass, fail or raw.",
    ),
  onScannerError: z
    .enum(["fail", "block"])
    .default("fail")
    .describe("If a scanner throws: fail the request with status 500, or block the text."),
  allowThresholds: z.boolean().default(false).describe("Whether requests may set thresholds (thresholds)."),
  masking: z
    .array(z.string().min(1))
    .default([])
    .describe(
      "Scanners, by name or type, that mask instead of block: their failing texts may be used as rewritten. They must remove all of " +
        "their findings, not only the first one. Scanners that insert placeholders of a vault need not be listed. With scan_fail_fast every failing text is blocked, because not all checks have run.",
    ),
  review: z
    .enum(REVIEW_POLICIES)
    .default("hold")
    .describe(
      "Texts above the review_threshold of a scanner: hold them until a person has approved them, or let them pass, and report them.",
    ),
  mode: modeSetting
    .optional()
    .describe(
      "Mode of all scanners: enforce, monitor (texts go on unchanged, and reports tell what would have happened) or off. One for all texts, or by source: user, tool, assistant, tool_call, tool_definition, system, history, output. Of this mode and that of a scanner, the least strict wins. Default: enforce.",
    ),
  maxBodySize: z.number().int().min(1024).default(1_048_576).describe("Maximum size of a request body, in bytes."),
  maxStreamSize: z
    .number()
    .int()
    .min(1024)
    .default(16_777_216)
    .describe("Maximum size of a request that streams an output, in bytes. Each line is limited by max_body_size."),
  maxOpenBodies: z
    .number()
    .int()
    .min(1024)
    .optional()
    .describe(
      "Maximum size of the bodies of all requests in progress, in bytes. Further requests get 503. Default: 64 MiB, and at least two of max_body_size.",
    ),
  streamIdleTimeout: seconds
    .default(120)
    .describe("Seconds after which a stream ends if its client sends no line or reads nothing."),
  maxMessages: z
    .number()
    .int()
    .min(1)
    .default(1000)
    .describe("Maximum number of messages of a conversation, of texts in it, and of documents of a call."),
  vaultExpiry: z.number().int().min(1).max(31_536_000).default(86_400).describe("Seconds until a vault expires."),
  vaultMaxSize: z
    .number()
    .int()
    .min(1024)
    .default(524_288)
    .describe(
      "Maximum size of a vault, in characters. Clients send it back in a body, so at most half of max_body_size.",
    ),
  queueSize: z
    .number()
    .int()
    .min(1)
    .default(512)
    .describe("Maximum number of waiting and running scans, and of texts in the queue of a model."),
  maxQueueTime: seconds
    .default(2)
    .describe(
      "Maximum expected wait of a scan, in seconds. Scans that would wait longer are refused at once, with 503.",
    ),
  maxWindows: z
    .number()
    .int()
    .min(2)
    .max(2 ** 32 - 1)
    .default(DEFAULT_MAX_WINDOWS)
    .describe(
      "Maximum number of windows of a text that a classifier reads. Of a longer text it reads the beginning and the end, and coverage.truncated is true.",
    ),
  trustProxy: z
    .union([
      z.boolean(),
      z.number(),
      z.array(
        z
          .string()
          .refine(isAddressOrRange, `expected an address, a range such as 10.0.0.0/8, or one of ${RANGES.join(", ")}`),
      ),
    ])
    .refine((proxies) => proxies !== true, {
      error:
        "true would believe every client that claims another address in X-Forwarded-For; list your proxies, such as [10.0.0.0/8], or give their number, such as 1",
    })
    .refine((proxies) => typeof proxies !== "number" || isHops(proxies), {
      error: `expected the number of proxies, from 1 to ${MAX_HOPS}`,
    })
    .default(false)
    .describe(
      "Take the address of the client from X-Forwarded-For: from proxies with these addresses or ranges, or from this number of proxies.",
    ),
});

const secret = z
  .string()
  .min(1, "expected a secret, got an empty text")
  .refine(
    (value) => !value.startsWith("sha256:") || /^sha256:[0-9a-fA-F]{64}$/.test(value),
    "expected 64 hexadecimal digits after sha256:",
  );

/** A secret that clients send in a header, which may contain printable ASCII only. */
const sentSecret = secret.regex(
  /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/,
  "expected printable ASCII characters without surrounding white space: others cannot be sent in a header",
);

/** Headers whose values HTTP determines, so that they cannot have a key. */
const RESERVED_HEADERS = new Set(
  "accept accept-encoding connection content-encoding content-length content-type expect host origin te trailer transfer-encoding upgrade".split(
    " ",
  ),
);

/** The rights of callers with a credential. */
const rights = {
  profile: z.string().min(1).optional().describe("Profile of these callers. Default: default."),
  mayChoose: z
    .array(z.string().min(1))
    .optional()
    .describe(
      "Further profiles that these callers may select with the header X-Guard-Profile or the field profile. Default: none.",
    ),
  maySuppress: z
    .boolean()
    .optional()
    .describe(
      "Whether these callers may suppress scanners (scanners_suppress). Default: true if auth is one entry with one credential, otherwise false. Without auth all callers may.",
    ),
  mayAddRecognizers: z
    .boolean()
    .optional()
    .describe(
      "Whether these callers may add recognizers of personal data to their requests (ad_hoc_recognizers). Default: as for may_suppress.",
    ),
  mayAddExceptions: z
    .boolean()
    .optional()
    .describe(
      "Whether these callers may list, add and remove exceptions (/admin/exceptions). Default: false. Without auth all callers may.",
    ),
  mayReview: z
    .boolean()
    .optional()
    .describe(
      "Whether these callers may read the texts in review, approve and reject them (/reviews). Default: false. Without auth all callers may.",
    ),
  mayAdminister: z
    .boolean()
    .optional()
    .describe(
      "Whether these callers may use the routes for operators, such as POST /admin/reload. Default: false. Without auth all callers may.",
    ),
};

const credentialName = z
  .string()
  .regex(
    /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/,
    "expected a name of letters, digits, dots, hyphens and underscores, 64 at most",
  )
  .optional()
  .describe("Name of the credential. With a name, its vaults can still be opened when its secret changes.");

export const authEntry = z.discriminatedUnion(
  "type",
  [
    z.strictObject({ type: z.literal("http_bearer"), name: credentialName, token: sentSecret, ...rights }),
    z.strictObject({
      type: z.literal("http_basic"),
      name: credentialName,
      username: z
        .string()
        .min(1)
        .regex(/^[^:]*$/, "must not contain a colon"),
      password: secret,
      ...rights,
    }),
    z.strictObject({
      type: z.literal("api_key"),
      name: credentialName,
      header: z
        .string()
        .regex(/^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/, "expected the name of a header")
        .refine((name) => !RESERVED_HEADERS.has(name.toLowerCase()), "this header has a meaning of its own in HTTP")
        .default("X-API-Key"),
      keys: z.array(sentSecret).min(1),
      ...rights,
    }),
  ],
  "expected an entry with the type http_bearer, http_basic or api_key",
);
export type AuthEntry = z.output<typeof authEntry>;

/**
 * Lets the only credential of a service suppress scanners, as llm-guard does, whose `auth` is one entry, and add recognizers. Its callers
 * are one party. With a list, or several keys, some callers may be checked because others do not trust them.
 */
function asOnly(entry: AuthEntry): AuthEntry {
  const isOne = entry.type !== "api_key" || entry.keys.length === 1;
  if (!isOne) return entry;
  const { maySuppress = true, mayAddRecognizers = true } = entry;
  return { ...entry, maySuppress, mayAddRecognizers };
}

/** One entry or a list. The result is a list; issues have the paths of the file. */
const auth = z
  .unknown()
  .transform((given, context): AuthEntry[] => {
    const value = fromSnakeCase(Array.isArray(given) ? z.array(authEntry) : authEntry, given);
    const result = Array.isArray(value)
      ? checkOptions(z.array(authEntry).min(1), value, "snake_case")
      : checkOptions(authEntry, value, "snake_case");
    const entries = result.success ? (Array.isArray(result.data) ? result.data : [asOnly(result.data)]) : [];
    const issues = result.success
      ? [...nameIssues(entries), ...secretIssues(entries)].map(({ path, message }) => ({
          path: Array.isArray(value) ? path : path.slice(1),
          message,
        }))
      : result.issues;
    if (issues.length === 0) return entries;
    for (const { path, message } of issues) context.issues.push({ code: "custom", message, path, input: undefined });
    return z.NEVER;
  })
  .describe("Credentials of callers: one entry or a list. Without it only this machine is served.");

/** The endpoint of one signal. It is empty in files of llm-guard if it is not set. */
const endpoint = (path: string) =>
  z
    .string()
    .refine((text) => text === "" || isWebAddress(text), `expected an address such as http://collector:4318${path}`)
    .nullish()
    .describe(
      `Address of the collector (OTLP over HTTP). Without a path, ${path} is added. Default: OTEL_EXPORTER_OTLP_ENDPOINT, or this machine.`,
    );

function isWebAddress(text: string): boolean {
  return URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);
}

const tracing = z.strictObject({
  exporter: z
    .enum(["none", "console", "otel_http", "xray"])
    .default("none")
    .describe("Destination of spans: none, the log, or a collector; xray: a collector, with ids of AWS X-Ray."),
  endpoint: endpoint("/v1/traces"),
});

const metrics = z.strictObject({
  exporter: z
    .enum(["prometheus", "none", "console", "otel_http"])
    .default("prometheus")
    .describe("Destination of metrics: GET /metrics, none, the log once a minute, or a collector."),
  endpoint: endpoint("/v1/metrics"),
  public: z.boolean().default(false).describe("Serve GET /metrics without authentication."),
});

const scanner = z.strictObject({
  type: z.custom<string | DefinedScanner>(
    (value) => (typeof value === "string" && value !== "") || isDefinedScanner(value),
    {
      error: ({ input }) => (input === undefined ? "is required" : "expected the type of a scanner, or a plugin"),
    },
  ),
  name: z.string().min(1).optional().describe("Name in results. It may also be in params."),
  mode: modeSetting
    .optional()
    .describe("enforce, monitor or off, for all texts or by source. It may also be in params. Default: enforce."),
  params: z
    .record(z.string(), z.unknown())
    .nullish()
    .transform((params) => params ?? {}),
  allow: z
    .array(z.strictObject(exceptionFields).superRefine((given, context) => checkConditions(given, context)))
    .optional()
    .describe("Exceptions of this scanner: texts and passages that it must not fail."),
});
export type ScannerEntry = z.output<typeof scanner>;

const conversation = z.strictObject({
  window: z
    .number()
    .int()
    .min(1)
    .default(3)
    .describe("Number of user messages that are also scanned together; 1 turns this off."),
  scanToolMessages: z
    .boolean()
    .default(true)
    .describe("Scan tool and function results. With false they do not count as skipped."),
  scan: z
    .partialRecord(z.enum(SCAN_GROUPS), z.array(z.string().min(1)))
    .optional()
    .describe(
      "Scanners of input_scanners, by name or type, that check texts of a source: user, tool, assistant, tool_call, " +
        "tool_definition, system; and earlier responses of the model (history). Default: scanners that declare the source. []: none, and its texts do not count as skipped.",
    ),
  risk: z
    .strictObject({
      enabled: z.boolean().default(false),
      scoringFunction: z
        .custom<ScoringFunction>(
          (value) => typeof value === "function",
          "expected a function (text) => number; a file names a plugin that exports one",
        )
        .meta({ plugin: "scoring function", jsonSchema: PLUGIN_REFERENCE })
        .optional()
        .describe("A plugin that scores each message, from 0 upward, instead of the first scanner with a probability."),
      ...conversationRiskOptions.shape,
    })
    .prefault({})
    .describe("Risk that accumulates over user messages."),
});

const stream = z.strictObject({
  holdbackChars: z
    .number()
    .int()
    .min(0)
    .default(HOLDBACK.chars)
    .describe(
      "Maximum number of characters that are held back until the end of a sentence, for scanners that check sentences.",
    ),
  holdbackMs: z
    .number()
    .int()
    .min(0)
    .max(600_000)
    .default(HOLDBACK.milliseconds)
    .describe("Milliseconds without new text after which whole words are released."),
  wholeChars: z
    .number()
    .int()
    .min(0)
    .default(HOLDBACK.whole)
    .describe(
      "Maximum number of characters of an output that are kept for scanners that need all of it. Of a longer one they read the beginning.",
    ),
});

/** A setting of a profile. It has no default, because a profile inherits every setting that it does not override. */
function inherited<Setting extends z.ZodType>({
  def,
  description = "",
}: Setting): z.ZodOptional<z.ZodType<z.output<Setting>>> {
  const { innerType } = def as unknown as { innerType: z.ZodType<z.output<Setting>> };
  return innerType.optional().describe(description);
}

const { shape: appShape } = app;

/** The name of a profile, which is used in a header and in metrics. */
const PROFILE_NAME = /^[a-z0-9](?:[a-z0-9_.-]{0,62}[a-z0-9])?$/;

/** A profile: scanners and settings for some requests. It inherits every setting that it does not override. */
export const profile = z.strictObject({
  inputScanners: z.array(scanner).optional(),
  outputScanners: z.array(scanner).optional(),
  conversation: conversation
    .optional()
    .describe("The section conversation of this profile, which replaces the main one."),
  app: z
    .strictObject({
      scanFailFast: inherited(appShape.scanFailFast),
      scanPromptTimeout: inherited(appShape.scanPromptTimeout),
      scanOutputTimeout: inherited(appShape.scanOutputTimeout),
      requireFullCoverage: inherited(appShape.requireFullCoverage),
      stateful: inherited(appShape.stateful),
      onUntrainedLanguage: appShape.onUntrainedLanguage,
      onScannerError: inherited(appShape.onScannerError),
      allowThresholds: inherited(appShape.allowThresholds),
      masking: inherited(appShape.masking),
      mode: appShape.mode,
    })
    .optional()
    .describe("The settings of app that a profile may override."),
});

/** The configuration file, in camelCase. */
export const configSchema = z.strictObject({
  app: app.prefault({}),
  auth: auth.optional(),
  rateLimit: rateLimit.prefault({}),
  cache: cache.optional(),
  tracing: tracing.prefault({}),
  metrics: metrics.prefault({}),
  inputScanners: z.array(scanner).default([]),
  outputScanners: z.array(scanner).default([]),
  allow: z
    .array(
      z
        .strictObject({ scanners: exceptionScanners, ...exceptionFields })
        .superRefine((given, context) => checkConditions(given, context)),
    )
    .optional()
    .describe("Exceptions of the named scanners, in all profiles: texts and passages that they must not fail."),
  conversation: conversation.prefault({}),
  stream: stream.prefault({}).describe("How streamed outputs are scanned."),
  traffic: traffic.optional().describe("The counts of decisions that the console shows."),
  exceptions: exceptionStore.optional().describe("Where exceptions are kept that are added at run time."),
  reviews: reviews.prefault({}).describe("Where and how long texts wait for the decision of a person."),
  audit: audit.optional().describe("The audit log: a record of every decision."),
  shadow: shadow
    .optional()
    .describe(
      "A second configuration that scans a sample of the requests after their responses, to show what it would change.",
    ),
  profiles: z
    .record(z.string(), profile)
    .superRefine((profiles, context) => {
      for (const name of Object.keys(profiles)) {
        if (name === MAIN_PROFILE)
          context.addIssue(`${name} is the name of the main profile, whose settings are outside of profiles`);
        else if (!PROFILE_NAME.test(name)) {
          context.addIssue(
            `the name ${name} may contain only lowercase letters, digits, dots, hyphens and underscores`,
          );
        }
      }
    })
    .default({})
    .describe("Further lists of scanners, by the name that requests select them with."),
  dialects: z
    .array(z.enum(DIALECTS))
    .default([])
    .describe("APIs of other products that the server emulates, for gateways that call them."),
  plugins: z
    .array(z.string().min(1))
    .optional()
    .describe(
      "Packages whose plugins may be used by name: names of packages, or folders such as ./my-plugins. Default: all installed " +
        "packages.",
    ),
});

/** A validated configuration with all defaults. */
export type Config = z.output<typeof configSchema>;
/** A configuration as a program writes it. Missing settings get their defaults. */
export type ConfigInput = z.input<typeof configSchema>;
