import { isIP } from "node:net";
import { z } from "zod";
import { conversationRiskOptions, type ScoringFunction } from "../conversation/scan-conversation.ts";
import { DEFAULT_MAX_WINDOWS } from "../models/engine-options.ts";
import { SCANNED } from "../scan/source.ts";
import { type DefinedScanner, isDefinedScanner } from "../scanners/definition.ts";
import { TREATMENTS } from "../scanners/parts/untrained-languages.ts";
import { HOLDBACK } from "../stream/holdback.ts";
import { checkOptions, fromSnakeCase } from "../support/options.ts";
import { PLUGIN_REFERENCE } from "../support/plugin-kind.ts";
import { audit } from "./audit.ts";
import { cache } from "./cache.ts";
import { wrongNames } from "./credential-names.ts";
import { DIALECTS } from "./dialects.ts";
import { MAIN_PROFILE } from "./main-profile.ts";
import { MOST_WORKERS } from "./most-workers.ts";
import { rateLimit } from "./rate-limit.ts";
import { shadow } from "./shadow.ts";

const seconds = z.number().positive().max(3600);

const LOG_LEVELS = ["trace", "debug", "info", "warn", "error", "fatal", "silent"] as const;
/** Python's names for levels, which llm-guard's files use. */
const PYTHON_LEVELS: Record<string, string> = { warning: "warn", critical: "fatal", notset: "trace" };

/** Names that Fastify's `trustProxy` has for ranges of addresses. */
const RANGES = ["loopback", "linklocal", "uniquelocal"];

/** Whether a text names one address or a range of them. */
function isAddressOrRange(text: string): boolean {
  if (RANGES.includes(text)) return true;
  const [, address = "", bits] = /^([^/]*)(?:\/(\d{1,3}))?$/.exec(text) ?? [];
  const version = isIP(address);
  return version !== 0 && (bits === undefined || (Number(bits) >= 1 && Number(bits) <= (version === 4 ? 32 : 128)));
}

const app = z.strictObject({
  name: z
    .string()
    .min(1)
    .default("LLM Guard API")
    .describe("Name of the service in GET / and in the API's description."),
  host: z.string().min(1).default("127.0.0.1").describe("Address to listen on. Others than loopback need auth."),
  port: z.number().int().min(0).max(65535).default(8000).describe("Port to listen on; 0 takes a free one."),
  workers: z
    .union([z.number().int().min(1).max(MOST_WORKERS), z.literal("auto")])
    .default(1)
    .describe("Processes that serve the port together; auto: one for every four processors."),
  logLevel: z
    .string()
    .default("info")
    .transform((level) => PYTHON_LEVELS[level.toLowerCase()] ?? level.toLowerCase())
    .pipe(z.enum(LOG_LEVELS))
    .describe("trace, debug, info, warn, error, fatal or silent."),
  logJson: z.boolean().default(true).describe("Log lines as JSON; otherwise as text."),
  logContent: z.boolean().default(false).describe("Log prompts, outputs and error messages. They may hold secrets."),
  scanFailFast: z.boolean().default(false).describe("Stop a scan after the first failing scanner."),
  scanPromptTimeout: seconds.default(30).describe("Seconds that a scan of a prompt or conversation may take."),
  scanOutputTimeout: seconds.default(30).describe("Seconds that a scan of an output may take."),
  selfTestInterval: z
    .number()
    .min(0)
    .max(86_400)
    .default(300)
    .describe(
      "Seconds from one self-test to the next: models and rules are asked about known texts, and after a wrong answer there are no scans until a restart or a reload. 0: only before the server is ready.",
    ),
  lazyLoad: z
    .boolean()
    .default(false)
    .describe(
      "Load models with the first request that needs them, not at start. Those of the hub must be downloaded before: guard models pull.",
    ),
  requireFullCoverage: z
    .boolean()
    .default(false)
    .describe("A text fails when a part of it or one of its checks was left out, for whatever reason."),
  onUntrainedLanguage: z
    .enum(TREATMENTS)
    .optional()
    .describe(
      "What happens to text in languages that a model was not trained in, for all scanners whose params do not say it: score, pass, fail or raw.",
    ),
  onScannerError: z
    .enum(["fail", "block"])
    .default("fail")
    .describe("What a scanner that throws means: status 500, or a text that fails."),
  allowThresholds: z
    .boolean()
    .default(false)
    .describe("Whether a request may bring thresholds of its own (thresholds), for scanners that have one."),
  masking: z
    .array(z.string().min(1))
    .default([])
    .describe(
      "Scanners, by name or type, whose failing texts may go on as they rewrote them: the outcome is masked, not blocked. " +
        "They have to take out all that they find, not only the first of it. Those that put placeholders of a vault into texts need not be named. With scan_fail_fast every failing text is blocked, because not all checks have run.",
    ),
  maxBodySize: z.number().int().min(1024).default(1_048_576).describe("Largest request body, in bytes."),
  maxStreamSize: z
    .number()
    .int()
    .min(1024)
    .default(16_777_216)
    .describe(
      "Largest body of a request that streams an output, in bytes; a line of it is as long as max_body_size at most.",
    ),
  streamIdleTimeout: seconds
    .default(120)
    .describe("Seconds after which a stream ends whose client sends no line, or takes nothing."),
  maxMessages: z
    .number()
    .int()
    .min(1)
    .default(1000)
    .describe("Most messages of a conversation, texts in it, and documents of a call."),
  vaultExpiry: z
    .number()
    .int()
    .min(1)
    .max(31_536_000)
    .default(86_400)
    .describe("Seconds that a vault which was handed out can be handed in again."),
  vaultMaxSize: z
    .number()
    .int()
    .min(1024)
    .default(524_288)
    .describe("Largest vault, in characters; it comes back in a body, so never more than half of max_body_size."),
  queueSize: z
    .number()
    .int()
    .min(1)
    .default(512)
    .describe("Most scans at a time, whether they wait or run, and most texts that wait for one model."),
  maxQueueTime: seconds
    .default(2)
    .describe("Seconds that a scan is expected to wait at most; what would wait longer is refused at once, with 503."),
  maxWindows: z
    .number()
    .int()
    .min(2)
    .max(2 ** 32 - 1)
    .default(DEFAULT_MAX_WINDOWS)
    .describe(
      "Most windows of a text that a model reads which judges it; of a longer text it reads the beginning and the end, and the coverage says truncated.",
    ),
  trustProxy: z
    .union([
      z.boolean(),
      z.array(
        z
          .string()
          .refine(isAddressOrRange, `expected an address, a range such as 10.0.0.0/8, or one of ${RANGES.join(", ")}`),
      ),
    ])
    .default(false)
    .describe(
      "Take the client's address from X-Forwarded-For: of any proxy, or of those with these addresses or in these ranges.",
    ),
});

const secret = z
  .string()
  .min(1, "expected a secret, got an empty text")
  .refine(
    (value) => !value.startsWith("sha256:") || /^sha256:[0-9a-fA-F]{64}$/.test(value),
    "expected 64 hexadecimal digits after sha256:",
  );

/** A secret that clients send in a header. Headers hold printable ASCII only, so that nobody could send another secret. */
const sentSecret = secret.regex(
  /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/,
  "expected printable ASCII characters without white space around them: others cannot be sent",
);

/** What the callers with a credential may do besides calling. */
const rights = {
  profile: z.string().min(1).optional().describe("The profile of these callers. Default: default."),
  mayChoose: z
    .array(z.string().min(1))
    .optional()
    .describe(
      "The profiles that these callers may ask for instead, in the header X-Guard-Profile or the field profile. Default: none.",
    ),
  maySuppress: z
    .boolean()
    .optional()
    .describe(
      "Whether these callers may leave scanners out (scanners_suppress). Default: false. Without auth everybody may.",
    ),
  mayAdminister: z
    .boolean()
    .optional()
    .describe(
      "Whether these callers may use the routes of operators, such as POST /admin/reload. Default: false. Without auth everybody may.",
    ),
};

const credentialName = z
  .string()
  .regex(
    /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/,
    "expected a name of letters, digits, dots, hyphens and underscores, 64 at most",
  )
  .optional()
  .describe("What the credential is called. Its vaults stay open when its secret changes.");

/** One way to authenticate. */
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
        .regex(/^[^:]*$/, "a colon cannot be sent"),
      password: secret,
      ...rights,
    }),
    z.strictObject({
      type: z.literal("api_key"),
      name: credentialName,
      header: z
        .string()
        .regex(/^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/, "expected the name of a header")
        .default("X-API-Key"),
      keys: z.array(sentSecret).min(1),
      ...rights,
    }),
  ],
  "expected an entry with the type http_bearer, http_basic or api_key",
);
export type AuthEntry = z.output<typeof authEntry>;

/** One entry or a list of them; always a list in the result. Issues keep the path that the file has. */
const auth = z
  .unknown()
  .transform((given, context): AuthEntry[] => {
    const value = fromSnakeCase(Array.isArray(given) ? z.array(authEntry) : authEntry, given);
    const result = Array.isArray(value)
      ? checkOptions(z.array(authEntry).min(1), value, "snake_case")
      : checkOptions(authEntry, value, "snake_case");
    const entries = result.success ? [result.data].flat() : [];
    const issues = result.success
      ? wrongNames(entries).map(({ path, message }) => ({ path: Array.isArray(value) ? path : path.slice(1), message }))
      : result.issues;
    if (issues.length === 0) return entries;
    for (const { path, message } of issues) context.issues.push({ code: "custom", message, path, input: undefined });
    return z.NEVER;
  })
  .describe("Who may call: one way to authenticate, or a list of them. Without it only this machine is served.");

/** Where a collector takes one signal. Files of llm-guard have an empty text where none is set. */
const endpoint = (path: string) =>
  z
    .string()
    .refine((text) => text === "" || isWebAddress(text), `expected an address such as http://collector:4318${path}`)
    .nullish()
    .describe(
      `Address of the collector (OTLP over HTTP); ${path} is added where it has no path. Default: OTEL_EXPORTER_OTLP_ENDPOINT, or this machine.`,
    );

function isWebAddress(text: string): boolean {
  return URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);
}

const tracing = z.strictObject({
  exporter: z
    .enum(["none", "console", "otel_http", "xray"])
    .default("none")
    .describe("Where spans go: nowhere, into the log, or to a collector; xray: to a collector, with ids of AWS X-Ray."),
  endpoint: endpoint("/v1/traces"),
});

const metrics = z.strictObject({
  exporter: z
    .enum(["prometheus", "none", "console", "otel_http"])
    .default("prometheus")
    .describe("How metrics leave: GET /metrics, not at all, in the log once a minute, or to a collector."),
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
  name: z.string().min(1).optional().describe("Name in results; may stand in params too."),
  params: z
    .record(z.string(), z.unknown())
    .nullish()
    .transform((params) => params ?? {}),
});
export type ScannerEntry = z.output<typeof scanner>;

const conversation = z.strictObject({
  window: z.number().int().min(1).default(3).describe("How many user messages are scanned together; 1 turns that off."),
  scanToolMessages: z
    .boolean()
    .default(true)
    .describe("Scan tool and function results. Those that are not to be scanned do not count as left out."),
  scan: z
    .partialRecord(z.enum(SCANNED), z.array(z.string().min(1)))
    .optional()
    .describe(
      "The scanners of input_scanners, by name or type, that look at texts of a source: user, tool, assistant, tool_call, " +
        "tool_definition, system; and at what the model has answered already (history). Default: those that ask for it. []: none, and it does not count as left out.",
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
        .describe(
          "A plugin that scores each message, from 0 on, in place of the first scanner that tells a probability.",
        ),
      ...conversationRiskOptions.shape,
    })
    .prefault({})
    .describe("Risk that adds up over the user messages."),
});

const stream = z.strictObject({
  holdbackChars: z
    .number()
    .int()
    .min(0)
    .default(HOLDBACK.chars)
    .describe("Most characters that wait for the end of their sentence, where scanners judge sentences."),
  holdbackMs: z
    .number()
    .int()
    .min(0)
    .max(600_000)
    .default(HOLDBACK.milliseconds)
    .describe("Milliseconds without anything new after which whole words are given out."),
  wholeChars: z
    .number()
    .int()
    .min(0)
    .default(HOLDBACK.whole)
    .describe(
      "Characters that are kept of an output for scanners that need all of it. Of a longer one they read the beginning.",
    ),
});

/** A setting as it may stand in a profile: without a default, because what a profile leaves out is as outside of it. */
function inherited<Setting extends z.ZodType>({
  def,
  description = "",
}: Setting): z.ZodOptional<z.ZodType<z.output<Setting>>> {
  const { innerType } = def as unknown as { innerType: z.ZodType<z.output<Setting>> };
  return innerType.optional().describe(description);
}

const { shape: ofApp } = app;

/** The name of a profile, which is sent in a header and stands in metrics. */
const PROFILE_NAME = /^[a-z0-9](?:[a-z0-9_.-]{0,62}[a-z0-9])?$/;

/** Scanners and settings of their own for some requests. What a profile leaves out is as outside of it. */
export const profile = z.strictObject({
  inputScanners: z.array(scanner).optional(),
  outputScanners: z.array(scanner).optional(),
  conversation: conversation
    .optional()
    .describe("The section conversation of this profile, in the place of the one outside."),
  app: z
    .strictObject({
      scanFailFast: inherited(ofApp.scanFailFast),
      scanPromptTimeout: inherited(ofApp.scanPromptTimeout),
      scanOutputTimeout: inherited(ofApp.scanOutputTimeout),
      requireFullCoverage: inherited(ofApp.requireFullCoverage),
      onUntrainedLanguage: ofApp.onUntrainedLanguage,
      onScannerError: inherited(ofApp.onScannerError),
      allowThresholds: inherited(ofApp.allowThresholds),
      masking: inherited(ofApp.masking),
    })
    .optional()
    .describe("The settings of app that a profile may have for itself."),
});
export type ProfileSettings = z.output<typeof profile>;

/** The configuration file, with camelCase names. */
export const configSchema = z.strictObject({
  app: app.prefault({}),
  auth: auth.optional(),
  rateLimit: rateLimit.prefault({}),
  cache: cache.optional(),
  tracing: tracing.prefault({}),
  metrics: metrics.prefault({}),
  inputScanners: z.array(scanner).default([]),
  outputScanners: z.array(scanner).default([]),
  conversation: conversation.prefault({}),
  stream: stream.prefault({}).describe("How outputs are scanned that arrive in pieces."),
  audit: audit.optional().describe("A record of every decision, apart from the log."),
  shadow: shadow
    .optional()
    .describe(
      "A second configuration that judges a share of the requests after their answers, to see what it would change.",
    ),
  profiles: z
    .record(z.string(), profile)
    .superRefine((profiles, context) => {
      for (const name of Object.keys(profiles)) {
        if (name === MAIN_PROFILE)
          context.addIssue(`${name} is the profile that the file describes outside of profiles`);
        else if (!PROFILE_NAME.test(name)) {
          context.addIssue(
            `the name ${name} has something else than small letters, digits, dots, dashes and underscores`,
          );
        }
      }
    })
    .default({})
    .describe("Further lists of scanners, by a name that requests choose them by."),
  dialects: z
    .array(z.enum(DIALECTS))
    .default([])
    .describe("The APIs of other products that the server speaks as well, for gateways that call them."),
  plugins: z
    .array(z.string().min(1))
    .optional()
    .describe(
      "The packages whose plugins may be written by their names: names of packages, or folders of packages such as ./my-plugins. " +
        "Default: all installed packages.",
    ),
});

/** A checked configuration, with all defaults filled in. */
export type Config = z.output<typeof configSchema>;
/** A configuration as a program writes it: what is left out gets its default. */
export type ConfigInput = z.input<typeof configSchema>;
