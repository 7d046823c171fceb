// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the syntax under test
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it, onTestFinished } from "vitest";
import { ignoredKeys } from "../../src/config/ignored-keys.ts";
import { buildScanners, checkConfig, loadConfig, parseConfig, parseRates } from "../../src/config/index.ts";
import type { BuiltInScanner } from "../../src/scanners/definition.ts";
import { GuardValidationError } from "../../src/support/errors.ts";
import { issuesOf as validationIssues } from "../support/validation-issues.ts";

const MINIMAL = "input_scanners: [{type: InvisibleText}]\n";

/** The issues of a configuration, by path. */
function issuesOf(text: string, env: Record<string, string> = {}): Record<string, string> {
  const issues = validationIssues(() => parseConfig(text, { env, file: "test.yml" }));
  return Object.fromEntries(issues.map(({ path, message }) => [path, message]));
}

describe("parseConfig", () => {
  it("fills in the defaults", () => {
    const config = parseConfig(MINIMAL);
    expect(config.app).toMatchObject({
      name: "LLM Guard API",
      host: "127.0.0.1",
      port: 8000,
      logLevel: "info",
      scanPromptTimeout: 30,
      maxBodySize: 1_048_576,
      maxMessages: 1000,
      queueSize: 512,
      onScannerError: "fail",
      vaultExpiry: 86_400,
      vaultMaxSize: 524_288,
    });
    expect(config.auth).toBeUndefined();
    expect(config.conversation).toEqual({
      window: 3,
      scanToolMessages: true,
      risk: { enabled: false, decay: 0.7, threshold: 1.2, toolWeight: 0, minScore: 0.2, cacheSize: 10_000 },
    });
  });

  it("treats empty sections as absent", () => {
    expect(parseConfig(`${MINIMAL}cache:\napp:\nconversation:\n`).app.port).toBe(8000);
  });

  it.each([
    ["an unknown section", `${MINIMAL}colour: red`, "colour", "unknown key"],
    ["an unknown key", `${MINIMAL}app: {colour: red}`, "app.colour", "unknown key"],
    ["a wrong type", `${MINIMAL}app: {scan_fail_fast: maybe}`, "app.scan_fail_fast", "expected true or false"],
    [
      "a timeout of nothing",
      `${MINIMAL}app: {scan_prompt_timeout: 0}`,
      "app.scan_prompt_timeout",
      "must be above 0, got 0",
    ],
    [
      "an unknown scanner",
      "input_scanners: [{type: InvisibleText}, {type: Nope}]",
      "input_scanners.1.type",
      "known are: Anonymize, BanCode",
    ],
    [
      "an output scanner on the input",
      "input_scanners: [{type: Nope}]",
      "input_scanners.0.type",
      "unknown input scanner Nope",
    ],
    [
      "a bad parameter",
      "input_scanners: [{type: PromptInjection, params: {threshold: 2}}]",
      "input_scanners.0.params.threshold",
      "must be at most 1, got 2",
    ],
    [
      "an unknown parameter",
      "input_scanners: [{type: InvisibleText, params: {foo_bar: 1}}]",
      "input_scanners.0.params.foo_bar",
      "unknown key",
    ],
    [
      "a vault in a file",
      "output_scanners: [{type: Deanonymize, params: {vault: v.yml}}]",
      "output_scanners.0.params.vault",
      "only a program can give",
    ],
    [
      "a vault that is void at once",
      `${MINIMAL}app: {vault_expiry: 0}`,
      "app.vault_expiry",
      "must be at least 1, got 0",
    ],
    [
      "a parameter that is missing",
      "output_scanners: [{type: Regex}]",
      "output_scanners.0.params.patterns",
      "is required",
    ],
    ["an unknown auth type", `${MINIMAL}auth: {type: kerberos}`, "auth.type", "http_bearer"],
    ["an empty token", `${MINIMAL}auth: {type: http_bearer, token: ""}`, "auth.token", "empty"],
    ["no token at all", `${MINIMAL}auth: {type: http_bearer}`, "auth.token", "is required"],
    ["an empty auth section", `${MINIMAL}auth:`, "auth", "http_bearer"],
    ["an empty list of credentials", `${MINIMAL}auth: []`, "auth", "must not be empty"],
    [
      "a token with a line break",
      `${MINIMAL}auth: {type: http_bearer, token: "abc\\n"}`,
      "auth.token",
      "printable ASCII",
    ],
    ["a token in other letters", `${MINIMAL}auth: {type: http_bearer, token: пароль}`, "auth.token", "printable ASCII"],
    ["a key with a space before it", `${MINIMAL}auth: {type: api_key, keys: [" x"]}`, "auth.keys.0", "printable ASCII"],
    [
      "a secret of another credential",
      `${MINIMAL}auth: [{type: http_bearer, token: x}, {type: http_bearer, token: "sha256:2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881"}]`,
      "auth.1.token",
      "another credential has this secret",
    ],
    [
      "a header with a meaning of its own",
      `${MINIMAL}auth: {type: api_key, header: Content-Type, keys: [x]}`,
      "auth.header",
      "a meaning of its own",
    ],
    ["a bad hash", `${MINIMAL}auth: [{type: http_bearer, token: "sha256:12"}]`, "auth.0.token", "64 hexadecimal"],
    [
      "an unknown key of a credential",
      `${MINIMAL}auth: [{type: http_bearer, token: x, user: y}]`,
      "auth.0.user",
      "unknown key",
    ],
    ["a bad rate of several", `${MINIMAL}rate_limit: {limit: "100/minute;often"}`, "rate_limit.limit", "100/minute"],
    ["a rate that is missing", `${MINIMAL}rate_limit: {limit: "100/minute;"}`, "rate_limit.limit", "100/minute"],
    ["a bad rate", `${MINIMAL}rate_limit: {limit: often}`, "rate_limit.limit", "100/minute"],
    [
      "an option in two spellings",
      `${MINIMAL}app: {scan_prompt_timeout: 5, scanPromptTimeout: 6}`,
      "app.scanPromptTimeout",
      "given twice: as scan_prompt_timeout too",
    ],
    [
      "a list of scanners in two spellings",
      `inputScanners: [{type: InvisibleText}]\n${MINIMAL}`,
      "input_scanners",
      "given twice: as inputScanners too",
    ],
    [
      "a parameter in two spellings",
      "input_scanners: [{type: Regex, params: {patterns: [x], isBlocked: true, is_blocked: false}}]",
      "input_scanners.0.params.is_blocked",
      "given twice: as isBlocked too",
    ],
    [
      "two names",
      "input_scanners: [{type: InvisibleText, name: A, params: {name: B}}]",
      "input_scanners.0.params.name",
      "given twice",
    ],
    [
      "the name of a check of conversations beside the parameters",
      "input_scanners: [{type: InvisibleText, name: ConversationRisk}]",
      "input_scanners.0.params.name",
      "expected another name",
    ],
    [
      "the name of a check of conversations among the parameters",
      'output_scanners: [{type: Regex, params: {patterns: [x], name: "X[tool]"}}]',
      "output_scanners.0.params.name",
      "expected another name",
    ],
    [
      "a proxy that is no address",
      `${MINIMAL}app: {trust_proxy: [loopback, proxy]}`,
      "app.trust_proxy.1",
      "10.0.0.0/8",
    ],
    ["any proxy", `${MINIMAL}app: {trust_proxy: true}`, "app.trust_proxy", "list your proxies"],
    ["too many proxies", `${MINIMAL}app: {trust_proxy: 11}`, "app.trust_proxy", "from 1 to 10"],
    ["an address that is none", `${MINIMAL}app: {trust_proxy: [10.0.0.256]}`, "app.trust_proxy.0", "an address"],
    ["a range that is too long", `${MINIMAL}app: {trust_proxy: [10.0.0.0/33]}`, "app.trust_proxy.0", "a range"],
    ["a range of everything", `${MINIMAL}app: {trust_proxy: ["::/0"]}`, "app.trust_proxy.0", "a range"],
    ["a URL of something else", `${MINIMAL}rate_limit: {redis: "http://x"}`, "rate_limit.redis", "rediss://host:port"],
    ["a host without protocol", `${MINIMAL}cache: {redis: "localhost:6379"}`, "cache.redis", "redis://host:port"],
    ["Redis without a URL", `${MINIMAL}cache: {redis: {timeout: 1}}`, "cache.redis.url", "is required"],
    ["a bad URL among settings", `${MINIMAL}cache: {redis: {url: "unix://"}}`, "cache.redis.url", "unix:///path"],
    ["a bad timeout", `${MINIMAL}cache: {redis: {url: "redis://x", timeout: 0}}`, "cache.redis.timeout", "above 0"],
    ["an unknown key of Redis", `${MINIMAL}cache: {redis: {url: "redis://x", host: y}}`, "cache.redis.host", "unknown"],
    [
      "a URL and a cluster",
      `${MINIMAL}cache: {redis: {url: "redis://x", cluster: {nodes: [y]}}}`,
      "cache.redis.cluster",
      "give url or cluster, not both",
    ],
    [
      "TLS beside a URL",
      `${MINIMAL}cache: {redis: {url: "redis://x", tls: true}}`,
      "cache.redis.tls",
      "write rediss:// in url",
    ],
    [
      "sentinels without a name",
      `${MINIMAL}cache: {redis: {sentinel: {nodes: [x]}}}`,
      "cache.redis.sentinel.name",
      "required",
    ],
    [
      "no sentinels",
      `${MINIMAL}cache: {redis: {sentinel: {name: x, nodes: []}}}`,
      "cache.redis.sentinel.nodes",
      "empty",
    ],
    [
      "a sentinel that is a URL",
      `${MINIMAL}cache: {redis: {sentinel: {name: x, nodes: [x, "redis://y:1"]}}}`,
      "cache.redis.sentinel.nodes.1",
      "host:port",
    ],
    [
      "a port of a node that is none",
      `${MINIMAL}cache: {redis: {cluster: {nodes: "x:1,y:70000"}}}`,
      "cache.redis.cluster.nodes.1",
      "host:port",
    ],
    [
      "a database of a cluster",
      `${MINIMAL}cache: {redis: {cluster: {nodes: [x], database: 1}}}`,
      "cache.redis.cluster.database",
      "unknown",
    ],
    ["a bad ttl", `${MINIMAL}cache: {ttl: 0}`, "cache.ttl", "above 0"],
    ["an exporter of traces that is none", `${MINIMAL}tracing: {exporter: jaeger}`, "tracing.exporter", "otel_http"],
    ["an exporter of metrics that is none", `${MINIMAL}metrics: {exporter: xray}`, "metrics.exporter", "otel_http"],
    [
      "a collector without a scheme",
      `${MINIMAL}tracing: {endpoint: "collector:4318"}`,
      "tracing.endpoint",
      "http://collector:4318/v1/traces",
    ],
    ["a collector by gRPC", `${MINIMAL}metrics: {endpoint: "grpc://x"}`, "metrics.endpoint", "/v1/metrics"],
    ["plugins that are no list", `${MINIMAL}plugins: {a: ./a.js}`, "plugins", "expected a list"],
    [
      "a decay above 1",
      `${MINIMAL}conversation: {risk: {decay: 2}}`,
      "conversation.risk.decay",
      "must be at most 1, got 2",
    ],
    [
      "risk without its scanner",
      `${MINIMAL}conversation: {risk: {enabled: true}}`,
      "conversation.risk.enabled",
      "PromptInjection",
    ],
    ["no scanners", "app: {port: 1}", "input_scanners", "no scanners"],
    ["an empty file", "# nothing\n", "", "empty"],
    ["a list", "- 1", "", "expected an object, got a list"],
    ["a duplicate key", `${MINIMAL}app: {}\napp: {}`, "", "duplicat"],
    ["two documents", `${MINIMAL}---\n${MINIMAL}`, "", "one YAML document"],
    ["broken YAML", "app: [", "", "not valid YAML"],
    ["a tag", `${MINIMAL}app: !!js/function "x"`, "", "not valid YAML"],
  ])("rejects %s", (_what, text, path, message) => {
    const issues = issuesOf(text);
    expect(Object.keys(issues)).toContain(path);
    expect(issues[path]).toContain(message);
    expect(issues[path]).toContain("test.yml");
  });

  it("reports all errors at once, with lines", () => {
    const issues = issuesOf(
      "app:\n  port: x\n  colour: red\ninput_scanners:\n  - type: Nope\n  - type: Regex\n    params:\n      patterns: []\n",
    );
    expect(Object.keys(issues).sort()).toEqual([
      "app.colour",
      "app.port",
      "input_scanners.0.type",
      "input_scanners.1.params.patterns",
    ]);
    expect(issues["app.port"]).toContain("(test.yml:2)");
    expect(issues["input_scanners.1.params.patterns"]).toContain("(test.yml:8)");
  });

  it("quotes nothing of a file that is not YAML", () => {
    const texts = [
      'token: "CANARY\n  x: [CANARY',
      "token: *CANARY",
      "token: !CANARY",
      "token: !CANARY{}x x",
      "token: !a!CANARY x",
    ];
    for (const text of texts) {
      const message = JSON.stringify(issuesOf(`auth:\n  ${text}`));
      expect(message).toContain("line");
      expect(message).not.toContain("CANARY");
    }
  });

  it("accepts the name beside the parameters or among them", () => {
    const config = parseConfig(
      "input_scanners:\n  - {type: InvisibleText, name: A}\n  - {type: InvisibleText, params: {name: B}}\n  - {type: InvisibleText, params: }\n",
    );
    expect(buildScanners(config).input.map(({ name }) => name)).toEqual(["A", "B", "InvisibleText"]);
  });

  it("passes the policy for other languages to all scanners with a neural model", () => {
    const config = parseConfig(`
app: {on_untrained_language: pass}
input_scanners:
  - {type: Toxicity}
  - {type: PromptInjection, params: {on_untrained_language: fail}}
  - {type: InvisibleText}
`);
    const treatments = buildScanners(config).input.map((scanner) => (scanner as BuiltInScanner).options);
    expect(treatments.map(({ onUntrainedLanguage }) => onUntrainedLanguage)).toEqual(["pass", "fail", undefined]);
    expect(issuesOf("app: {on_untrained_language: guess}\ninput_scanners: []")).toHaveProperty([
      "app.on_untrained_language",
    ]);
  });

  it("accepts a mode for all scanners and for one, also by source and from the environment", () => {
    const file = `app: { mode: "\${MODE:enforce}" }
input_scanners:
  - { type: Secrets, mode: { tool_call: monitor } }
  - { type: Secrets, name: Other, params: { mode: "\${MODE:enforce}" } }
`;
    const { app, inputScanners } = parseConfig(file, { env: { MODE: "monitor" } });
    expect(app.mode).toBe("monitor");
    expect(inputScanners.map(({ params }) => params.mode)).toEqual([{ tool_call: "monitor" }, "monitor"]);
    expect(() => parseConfig("app: { mode: on }", { env: {} })).toThrow("app.mode");
  });

  it("rejects two names from a program too", () => {
    const entry = { type: "InvisibleText", name: "A", params: { name: "B" } };
    expect(() => buildScanners(checkConfig({ inputScanners: [entry] }))).toThrow(/^input_scanners\.0\.params\.name: /);
  });

  it("accepts addresses, ranges and their names for proxies", () => {
    const proxies = ["10.1.2.3", "::1", "10.0.0.0/8", "fc00::/7", "loopback", "linklocal", "uniquelocal"];
    expect(parseConfig(`${MINIMAL}app: {trust_proxy: ${JSON.stringify(proxies)}}`).app.trustProxy).toEqual(proxies);
    expect(parseConfig(`${MINIMAL}app: {trust_proxy: 2}`).app.trustProxy).toBe(2);
  });

  it("accepts llm-guard's names of log levels", () => {
    expect(parseConfig(`${MINIMAL}app: {log_level: WARNING}`).app.logLevel).toBe("warn");
    expect(parseConfig(`${MINIMAL}app: {log_level: DEBUG}`).app.logLevel).toBe("debug");
    expect(issuesOf(`${MINIMAL}app: {log_level: LOUD}`)["app.log_level"]).toBeDefined();
  });

  it("names the missing model folder of a file of llm-guard", () => {
    const config = parseConfig("input_scanners: [{type: Toxicity, params: {model_path: ./toxicity}}]");
    expect(() => buildScanners(config)).toThrow(
      /^input_scanners\.0\.params\.model_path: \.\/toxicity is neither embedded:<name> nor a folder/,
    );
  });

  it("names keys of llm-guard without effect, each key once", () => {
    const config = parseConfig(`
input_scanners:
  - { type: Toxicity, params: { low_cpu_mem_usage: "\${LOW:true}", use_onnx: true } }
  - { type: BanTopics, params: { topics: [x], lowCpuMemUsage: false, kwargs: ~, pipeline_kwargs: { max_length: 9 } } }
output_scanners:
  - { type: Gibberish, params: { low_cpu_mem_usage: true, model_max_length: 256 } }
`);
    expect(ignoredKeys(config)).toEqual([
      {
        key: "low_cpu_mem_usage",
        paths: [
          "input_scanners.0.params.low_cpu_mem_usage",
          "input_scanners.1.params.low_cpu_mem_usage",
          "output_scanners.0.params.low_cpu_mem_usage",
        ],
        reason: expect.stringContaining("memory"),
      },
      {
        key: "pipeline_kwargs",
        paths: ["input_scanners.1.params.pipeline_kwargs"],
        reason: expect.stringContaining("model_max_length"),
      },
    ]);
    expect(buildScanners(config).input).toHaveLength(2);
  });

  it("names the pattern that does not compile", () => {
    const config = parseConfig('input_scanners: [{type: Regex, params: {patterns: ["a", "("]}}]');
    expect(() => buildScanners(config)).toThrow(/input_scanners\.0\.params\.patterns\.1/);
  });
});

describe("parameters that are null", () => {
  it("count as absent, as llm-guard writes its defaults", () => {
    const config = parseConfig(`input_scanners:
  - type: Anonymize
    params: { recognizer_conf: null, entity_types: null, hidden_names: null, regex_patterns: null }
`);
    expect(config.inputScanners[0]?.params).toEqual({});
  });

  it("are errors for numbers and booleans", () => {
    const file = "input_scanners: [{ type: Toxicity, params: { threshold: null } }]";
    expect(validationIssues(() => parseConfig(file))).toMatchObject([{ path: "input_scanners.0.params.threshold" }]);
  });
});

describe("the environment", () => {
  const LLM_GUARD = `
app:
  name: \${APP_NAME:LLM Guard API}
  log_level: \${LOG_LEVEL:INFO}
  log_json: \${LOG_JSON:true}
  scan_fail_fast: \${SCAN_FAIL_FAST:false}
  scan_prompt_timeout: \${SCAN_PROMPT_TIMEOUT:30}
  scan_output_timeout: \${SCAN_OUTPUT_TIMEOUT:30}
  lazy_load: \${LAZY_LOAD:true}
rate_limit:
  enabled: \${RATE_LIMIT_ENABLED:false}
  limit: \${RATE_LIMIT_LIMIT:100/minute}
auth:
  type: http_bearer
  token: \${AUTH_TOKEN:}
cache:
  ttl: \${CACHE_TTL:3600}
  max_size: \${CACHE_MAX_SIZE:}
tracing:
  exporter: \${TRACING_EXPORTER:console}
  endpoint: \${TRACING_OTEL_ENDPOINT:}
metrics:
  exporter: \${METRICS_TYPE:prometheus}
  endpoint: \${METRICS_ENDPOINT:}
input_scanners:
  - type: InvisibleText
    params: { }
  - type: Regex
    params:
      patterns: ["Bearer [A-Za-z0-9-._~+/]+"]
      is_blocked: true
      match_type: search
      redact: \${REDACT:true}
  - type: TokenLimit
    params:
      limit: \${LIMIT:4096}
      encoding_name: "cl100k_base"
`;

  it("fills in a file of llm-guard, with its types", () => {
    const config = parseConfig(LLM_GUARD, { env: { AUTH_TOKEN: "secret", SCAN_FAIL_FAST: "True", LIMIT: "7" } });
    expect(config.app).toMatchObject({ scanFailFast: true, lazyLoad: true, scanPromptTimeout: 30, logLevel: "info" });
    expect(config.auth).toEqual([{ type: "http_bearer", token: "secret", maySuppress: true, mayAddRecognizers: true }]);
    expect(config.cache).toMatchObject({ ttl: 3600 });
    expect(config.inputScanners[1]?.params).toMatchObject({ redact: true });
    expect(config.inputScanners[2]?.params).toMatchObject({ limit: 7 });
  });

  it("builds every scanner that a file of llm-guard lists, with its keys", () => {
    const config = parseConfig(
      `
auth:
  type: http_bearer
  token: \${AUTH_TOKEN:}
metrics:
  exporter: \${METRICS_TYPE:console}
rate_limit:
  limit: 5000/month
input_scanners:
  - { type: Anonymize, params: { use_faker: false, threshold: 0.75 } }
  - { type: BanCode, params: { threshold: 0.9, model_max_length: 256 } }
  - { type: BanCompetitors, params: { competitors: [Acme], threshold: 0.7 } }
  - type: BanSubstrings
    params: { substrings: [aurora], match_type: word, case_sensitive: false, redact: false, contains_all: false }
  - { type: BanTopics, params: { topics: [weapons], threshold: 0.7, model_max_length: 256 } }
  - { type: Code, params: { languages: [Python], is_blocked: true } }
  - { type: Gibberish, params: { threshold: 0.9, model_max_length: 256 } }
  - { type: InvisibleText, params: { } }
  - { type: Language, params: { valid_languages: [en], model_max_length: 256 } }
  - { type: PromptInjection, params: { threshold: 0.9, match_type: truncate_head_tail, model_max_length: 256 } }
  - { type: Regex, params: { patterns: ["EMP-[0-9]{6}"], is_blocked: true, match_type: search, redact: true } }
  - { type: Secrets, params: { redact_mode: all } }
  - { type: Sentiment, params: { threshold: 0.0 } }
  - { type: TokenLimit, params: { limit: 2048, encoding_name: cl100k_base } }
  - { type: Toxicity, params: { threshold: 0.8, model_max_length: 256 } }
output_scanners:
  - { type: BanCode, params: { threshold: 0.9, model_max_length: 256 } }
  - { type: BanCompetitors, params: { competitors: [Acme], threshold: 0.7 } }
  - type: BanSubstrings
    params: { substrings: [aurora], match_type: word, case_sensitive: false, redact: false, contains_all: false }
  - { type: BanTopics, params: { topics: [weapons], threshold: 0.7 } }
  - { type: Bias, params: { threshold: 0.9, model_max_length: 256 } }
  - { type: Code, params: { languages: [Python], is_blocked: true } }
  - { type: Deanonymize, params: { matching_strategy: exact } }
  - { type: FactualConsistency, params: { minimum_score: 0.5 } }
  - { type: Gibberish, params: { threshold: 0.9 } }
  - { type: JSON, params: { required_elements: 0, repair: true } }
  - { type: Language, params: { valid_languages: [en], model_max_length: 256 } }
  - { type: LanguageSame, params: { model_max_length: 256 } }
  - { type: MaliciousURLs, params: { threshold: 0.7 } }
  - { type: NoRefusal, params: { threshold: 0.9 } }
  - { type: NoRefusalLight, params: { } }
  - { type: ReadingTime, params: { max_time: 5, truncate: false } }
  - { type: Regex, params: { patterns: ["EMP-[0-9]{6}"], is_blocked: true, match_type: search, redact: true } }
  - { type: Relevance, params: { threshold: 0.2 } }
  - { type: Sensitive, params: { redact: false, threshold: 0.75 } }
  - { type: Sentiment, params: { threshold: 0.0 } }
  - { type: Toxicity, params: { threshold: 0.8, model_max_length: 256 } }
  - { type: URLReachability, params: { } }
`,
      { env: { AUTH_TOKEN: "secret" } },
    );
    const { input, output } = buildScanners(config);
    expect([input.length, output.length]).toEqual([15, 22]);
  });

  it("rejects the empty token that llm-guard's file has by default", () => {
    expect(issuesOf(LLM_GUARD)).toEqual({
      "auth.token": expect.stringMatching(/empty text; the value comes from AUTH_TOKEN \(test\.yml:/),
    });
  });

  it("names a missing variable once", () => {
    expect(issuesOf(`${MINIMAL}app: {port: "\${PORT}"}`)).toEqual({
      "app.port": expect.stringContaining("PORT is not set"),
    });
  });

  it("converts values for both spellings of keys", () => {
    const config = parseConfig(
      'app: {scanPromptTimeout: "${T:30}"}\n' +
        'inputScanners: [{type: Regex, params: {patterns: [x], isBlocked: "${B:no}"}}]',
    );
    expect(config.app.scanPromptTimeout).toBe(30);
    expect(config.inputScanners[0]?.params.isBlocked).toBe(false);
  });

  it("converts values for NER models, in all their forms", () => {
    const forms = [
      'recognizer_conf: {DEFAULT_MODEL: "${M:embedded:ner}", THRESHOLD: "${T:0.5}", ID_ENTITY_NAME: "${I:1}"}',
      'recognizerConf: [embedded:ner, {default_model: "${M:embedded:ner}", threshold: "${T:0.5}", idEntityName: "${I:1}"}]',
    ];
    const [one, several] = forms.map((form) => {
      const config = parseConfig(`output_scanners: [{type: Sensitive, params: {${form}}}]`);
      expect(buildScanners(config).output).toHaveLength(1);
      return config.outputScanners[0]?.params.recognizerConf;
    });
    expect(one).toEqual({ DEFAULT_MODEL: "embedded:ner", THRESHOLD: 0.5, ID_ENTITY_NAME: "1" });
    expect(several).toEqual(["embedded:ner", { default_model: "embedded:ner", threshold: 0.5, idEntityName: "1" }]);
    const text = (T: string) =>
      issuesOf(
        'output_scanners: [{type: Sensitive, params: {recognizer_conf: ["${M:embedded:ner}", {DEFAULT_MODEL: x, THRESHOLD: "${T}"}]}}]',
        { T },
      );
    expect(text("high")["output_scanners.0.params.recognizer_conf.1.threshold"]).toContain("expected a number");
  });

  it("rejects an option of a NER model that is given twice", () => {
    const conf = "{DEFAULT_MODEL: a, THRESHOLD: 0.1, threshold: 0.2}";
    expect(issuesOf(`output_scanners: [{type: Sensitive, params: {recognizer_conf: ${conf}}}]`)).toEqual({
      "output_scanners.0.params.recognizer_conf.0.threshold": expect.stringContaining(
        "is given twice: as THRESHOLD and threshold",
      ),
    });
  });

  it("rejects a value of the wrong type", () => {
    expect(issuesOf(`${MINIMAL}app: {port: "\${PORT:1}"}`, { PORT: "eighty" })["app.port"]).toContain(
      "expected a number",
    );
    expect(issuesOf(`${MINIMAL}app: {log_json: "\${JSON:true}"}`, { JSON: "" })["app.log_json"]).toContain(
      "expected true or false",
    );
  });

  it("keeps $${ as ${, and rejects a malformed reference", () => {
    expect(parseConfig(`${MINIMAL}app: {name: "a $\${B} c"}`).app.name).toBe("a ${B} c");
    expect(issuesOf(`${MINIMAL}app: {name: "a \${1}"}`)["app.name"]).toContain("$${");
  });

  it("replaces several references in one text, and colons in a default", () => {
    const text = `${MINIMAL}app: {name: "\${A:x}-\${B:http://y:1/z}"}`;
    expect(parseConfig(text, { env: { A: "1" } }).app.name).toBe("1-http://y:1/z");
  });

  it.each(["${A:${B}}", "${A:-x}", "${A:?must be set}", "${A:=x}"])(
    "rejects %s, which has a meaning elsewhere",
    (text) => {
      for (const env of [{}, { A: "set" }]) {
        expect(() => parseConfig(`${MINIMAL}app: {name: "${text}"}`, { env })).toThrow(/^app.name.*default of A/);
      }
      expect(parseConfig(`${MINIMAL}app: {name: "\${A:-1}"}`).app.name).toBe("-1");
    },
  );

  it("does not expand the value of a variable again", () => {
    expect(parseConfig(`${MINIMAL}app: {name: "\${A}"}`, { env: { A: "${B}" } }).app.name).toBe("${B}");
  });

  it("inserts a value as text only", () => {
    const nasty = fc.oneof(
      fc.string({ minLength: 1, unit: "binary" }),
      fc.constantFrom(
        "true",
        "null",
        "~",
        "12345",
        "1e9",
        "a: b",
        "x # y",
        "- a",
        "{a: 1}",
        "[1]",
        "a\nrate_limit: {}",
        "*x",
        "!!int 1",
        "'",
        '"',
      ),
    );
    fc.assert(
      fc.property(nasty, fc.constantFrom("password: ${T}", 'password: "${T}"', "password: '${T}'"), (value, line) => {
        fc.pre(!value.startsWith("sha256:"));
        const text = `${MINIMAL}auth:\n  type: http_basic\n  username: anna\n  ${line}\n`;
        const config = parseConfig(text, { env: { T: value } });
        expect(config.auth).toEqual([
          expect.objectContaining({ type: "http_basic", username: "anna", password: value }),
        ]);
        expect(config.rateLimit.enabled).toBe(false);
      }),
    );
  });

  it("passes texts in parameters to scanners as texts", () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1 }), (value) => {
        const text = "input_scanners: [{type: BanSubstrings, params: {substrings: ['${WORD}']}}]";
        expect(parseConfig(text, { env: { WORD: value } }).inputScanners[0]?.params).toEqual({ substrings: [value] });
      }),
    );
  });
});

describe("loadConfig", () => {
  it("reads a file, and reports an unreadable one", async () => {
    const folder = await mkdtemp(join(tmpdir(), "guard-config-"));
    onTestFinished(() => rm(folder, { recursive: true }));
    const path = join(folder, "scanners.yml");
    await expect(loadConfig(path)).rejects.toThrow(/cannot read .*ENOENT/);
    await writeFile(path, MINIMAL);
    expect((await loadConfig(path)).inputScanners).toHaveLength(1);
  });

  it("accepts the scanners.yml of this repository", async () => {
    const config = await loadConfig("scanners.yml", {});
    expect(config.auth).toBeUndefined();
    expect(config.conversation.risk.enabled).toBe(true);
    expect(buildScanners(config).input.map(({ name }) => name)).toContain("PromptInjection");
  });
});

describe("parseRates", () => {
  it.each([
    ["100/minute", [100, 60_000]],
    ["1 per second", [1, 1000]],
    ["10/5 minutes", [10, 300_000]],
    ["5/hour", [5, 3_600_000]],
    ["5/month", [5, 2_592_000_000]],
    ["100/minute;10/second", [100, 60_000], [10, 1000]],
    ["1/second, 2 per minute | 3/hour", [1, 1000], [2, 60_000], [3, 3_600_000]],
    ["60/minute;1/second;60 per 1 minute", [60, 60_000], [1, 1000]],
  ])("reads %s", (text, ...rates) => {
    expect(parseRates(text)).toEqual(rates.map(([max, milliseconds]) => ({ max, milliseconds })));
  });

  it.each(["", "100", "0/minute", "-1/minute", "1/fortnight", "1/minute;", "1/minute;x", ";"])("rejects %j", (text) => {
    expect(parseRates(text)).toBeUndefined();
  });
});

describe("the settings of Redis", () => {
  const redisOf = (yaml: string, env = {}) => parseConfig(`${MINIMAL}cache: {redis: ${yaml}}`, { env }).cache?.redis;

  it("are a URL, or an object with one", () => {
    const defaults = { timeout: 0.1, prefix: "guard:" };
    expect(redisOf('"rediss://user:pass@redis.example:6380/2"')).toEqual({
      url: "rediss://user:pass@redis.example:6380/2",
      ...defaults,
    });
    expect(redisOf("{url: unix:///run/redis.sock, timeout: 0.5}")).toEqual({
      ...defaults,
      url: "unix:///run/redis.sock",
      timeout: 0.5,
    });
    const env = { URL: "redis://redis", PASSWORD: "12345", TIMEOUT: "2" };
    expect(redisOf('{url: "${URL}", password: "${PASSWORD}", timeout: "${TIMEOUT}"}', env)).toEqual({
      ...defaults,
      url: "redis://redis",
      password: "12345",
      timeout: 2,
    });
  });

  it("name sentinels or the nodes of a cluster, in a list or in a variable", () => {
    const defaults = { timeout: 0.1, prefix: "guard:" };
    expect(redisOf("{sentinel: {name: main, nodes: [one, 'two:7', '[::1]:8']}, password: secret, tls: true}")).toEqual({
      ...defaults,
      sentinel: {
        ...{ name: "main", tls: false, database: 0 },
        nodes: [
          { host: "one", port: 26_379 },
          { host: "two", port: 7 },
          { host: "::1", port: 8 },
        ],
      },
      password: "secret",
      tls: true,
    });
    expect(redisOf('{cluster: {nodes: "${NODES}"}}', { NODES: "one:7000, 10.0.0.2" })).toEqual({
      ...defaults,
      cluster: {
        nodes: [
          { host: "one", port: 7000 },
          { host: "10.0.0.2", port: 6379 },
        ],
      },
    });
  });

  it("may be empty", () => {
    expect(redisOf('"${REDIS_URL:}"')).toBeUndefined();
    expect(redisOf("")).toBeUndefined();
  });

  it("are not quoted by errors", () => {
    const nodes = '{cluster: {nodes: ["redis://:CANARY@x"]}}';
    for (const redis of [
      '"redys://:CANARY@x"',
      '{url: "redys://:CANARY@x"}',
      '{url: "redis://x", pasword: CANARY}',
      nodes,
    ]) {
      expect(() => redisOf(redis)).toThrow(GuardValidationError);
      expect(() => redisOf(redis)).not.toThrow(/CANARY/);
    }
  });
});
