import { z } from "zod";

const count = z.int().min(0);

const scanner = z
  .object({
    name: z.string().describe("The name in results."),
    type: z.string().describe("The type of the scanner."),
    models: z.array(z.string()).describe("The models that it uses."),
    rewrites: z.boolean().describe("Whether it may rewrite texts."),
    masks: z.boolean().describe("Whether texts that fail only by it are masked instead of blocked."),
    threshold: z
      .number()
      .optional()
      .describe("A probability above it fails. Absent for rules and for false positive rates."),
    minimum: z.number().optional().describe("In place of a threshold: 1 minus the probability must reach it."),
    sources: z.array(z.string()).describe("The sources of texts that it checks: user, tool, system, ... or output."),
    monitors: z.array(z.string()).describe("The sources among them for which it only monitors (mode: monitor)."),
  })
  .describe("A scanner of a profile.");

const profile = z
  .object({
    name: z.string(),
    is_default: z.boolean().describe("Whether requests of this credential use it unless they name another one."),
    may_set_thresholds: z.boolean().describe("Whether requests may set thresholds (thresholds)."),
    scanners: z.object({ input: z.array(scanner), output: z.array(scanner) }),
  })
  .describe("A profile with its scanners in order.");

export const profileList = z
  .object({
    credential: z.string().nullable().describe("The name of the credential; null on a server without credentials."),
    may_suppress: z.boolean().describe("Whether the caller may suppress scanners (scanners_suppress)."),
    may_add_recognizers: z.boolean().describe("Whether the caller may add recognizers (ad_hoc_recognizers)."),
    may_add_exceptions: z.boolean().describe("Whether the caller may list, add and remove exceptions."),
    may_review: z.boolean().describe("Whether the caller may read the texts in review, and decide about them."),
    may_administer: z.boolean().describe("Whether the caller may use the routes for operators (/admin/...)."),
    profiles: z.array(profile).describe("The profiles that the caller may use."),
  })
  .describe("What a credential may do.");

const injection = {
  name: "PromptInjection",
  type: "PromptInjection",
  models: ["embedded:injection"],
  rewrites: false,
  masks: false,
  threshold: 0.92,
  sources: ["user", "tool"],
  monitors: [],
};

export const profileListExample = {
  credential: "shop",
  may_suppress: false,
  may_add_recognizers: false,
  may_add_exceptions: false,
  may_review: false,
  may_administer: false,
  profiles: [
    { name: "default", is_default: true, may_set_thresholds: true, scanners: { input: [injection], output: [] } },
  ],
};

const outcomes = z
  .record(z.string(), count)
  .describe(
    "Number of scans by outcome: passed, masked, review, blocked. would_block and would_mask count scans among them that checks in monitor mode would have stopped.",
  );
const verdicts = z.object({ passed: count.optional(), failed: count.optional() });
const scannerCounts = z.record(
  z.string(),
  verdicts.extend({
    would_fail: count.optional().describe("Checks that only monitor, and failed."),
    excepted: count.optional().describe("Checks from which an exception removed findings."),
    ms: z.number().optional().describe("Milliseconds of all its checks together."),
  }),
);

export const traffic = z
  .object({
    since: z.string().describe("When this server started to count (RFC 3339)."),
    has_texts: z.boolean().describe("Whether decisions have their texts (app.log_content)."),
    instances: z
      .int()
      .describe("Number of instances that report their counts. 1 if the counts are of this server alone."),
    redis: z
      .enum(["up", "down"])
      .optional()
      .describe(
        "Only with traffic.redis. up: the counts are those of all instances. down: those of this server alone.",
      ),
    minutes: z
      .array(z.object({ time: z.string().describe("The start of the minute (RFC 3339)."), outcomes }))
      .describe("Each of the last minutes, oldest first."),
    scanners: z
      .object({ input: scannerCounts.optional(), output: scannerCounts.optional() })
      .describe("Checks by the name of the scanner."),
    sources: z
      .record(z.string(), verdicts)
      .describe("Scans by the source of their texts: whether all its checks passed."),
    credentials: z.record(z.string(), outcomes).describe("Scans by the name of the credential."),
    profiles: z.record(z.string(), outcomes).describe("Scans by profile."),
    errors: z.record(z.string(), count).describe("Requests with an error instead of a decision, by status."),
    decisions: z
      .array(
        z.object({
          time: z.string().describe("When it was made (RFC 3339)."),
          request: z.string().describe("The id of the request, as in the log."),
          route: z.string(),
          credential: z.string(),
          profile: z.string(),
          side: z.string(),
          outcome: z.string(),
          failed: z.array(z.string()).describe("The checks that failed."),
          in_review: z.array(z.string()).optional().describe("The checks that ask for the review of a person."),
          would_fail: z
            .array(z.string())
            .optional()
            .describe("The checks that only monitor, and would have blocked or masked."),
          content: z
            .record(z.string(), z.unknown())
            .optional()
            .describe("The texts, only with app.log_content and for requests with the same credential."),
        }),
      )
      .describe("The latest 50 decisions of this server, newest first."),
  })
  .describe("Decisions of the last minutes.");

export const trafficExample = {
  since: "2026-03-01T08:00:00.000Z",
  has_texts: false,
  instances: 2,
  redis: "up",
  minutes: [{ time: "2026-03-01T08:14:00.000Z", outcomes: { passed: 41, blocked: 2 } }],
  scanners: { input: { PromptInjection: { passed: 41, failed: 2, ms: 731.5 } } },
  sources: { user: { passed: 41, failed: 2 } },
  credentials: { shop: { passed: 41, blocked: 2 } },
  profiles: { default: { passed: 41, blocked: 2 } },
  errors: { "429": 1 },
  decisions: [
    {
      time: "2026-03-01T08:14:12.000Z",
      request: "0199f1c2-7a01-7c3a-9b0e-1d2c3b4a5f60",
      route: "/analyze/prompt",
      credential: "shop",
      profile: "default",
      side: "input",
      outcome: "blocked",
      failed: ["PromptInjection"],
    },
  ],
};

export const serverConfig = z
  .object({
    version: z.string().describe("The version of guard."),
    node: z.string().describe("The version of Node.js."),
    started: z.string().describe("When the process started (RFC 3339)."),
    processes: z.int().describe("Number of processes that serve the port."),
    hash: z.string().describe("The hash of the configuration, as in guard_config_info and the audit log."),
    file: z.string().nullable().describe("The configuration file; null if a program has passed the configuration."),
    from: z.string().nullable().describe("What selected the file, such as CONFIG_FILE."),
    warnings: z
      .array(z.string())
      .describe("Risks and settings without effect, as guard-scan doctor and the log show them."),
    profiles: z.array(z.object({ name: z.string(), scanners: profile.shape.scanners })),
    models: z.array(
      z.object({
        model: z.string(),
        here: z.boolean().describe("Whether the model is on this machine."),
        size: z.int().optional().describe("Bytes of all its files."),
        license: z.string().optional(),
      }),
    ),
    credentials: z.array(
      z.object({
        name: z.string(),
        type: z.string(),
        profile: z.string(),
        may: z.array(z.string()).describe("Its rights: suppress, add_recognizers, add_exceptions, administer, choose."),
      }),
    ),
    exceptions: z
      .array(
        z.object({
          id: z.string(),
          scanners: z.array(z.string()),
          reason: z.string(),
          expires: z.string(),
          origin: z.string().describe("configuration, or run time."),
          is_expired: z.boolean(),
        }),
      )
      .describe("The exceptions of all profiles, without the texts that they let pass."),
    settings: z
      .array(z.object({ name: z.string(), value: z.string().describe("In JSON, without passwords.") }))
      .describe("The settings that differ from their defaults, without scanners and credentials."),
  })
  .describe("What runs, and from where.");

export const serverConfigExample = {
  version: "1.0.0",
  node: "v22.12.0",
  started: "2026-03-01T08:00:00.000Z",
  processes: 1,
  hash: "3b1d5d60ad2cb9f1",
  file: "/etc/guard/scanners.yml",
  from: "CONFIG_FILE",
  warnings: ["rate_limit: a single caller can overload the server. Advice: rate_limit: { enabled: true, limit: ... }"],
  profiles: [{ name: "default", scanners: { input: [injection], output: [] } }],
  models: [{ model: "embedded:injection", here: true, size: 4_200_000, license: "MIT" }],
  credentials: [{ name: "shop", type: "http_bearer", profile: "default", may: [] }],
  exceptions: [],
  settings: [{ name: "app.allow_thresholds", value: "true" }],
};
