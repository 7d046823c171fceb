// The cases of the rule benchmark: scanners with their options, expensive texts, and patterns that stall backtracking engines.

const PATTERNS = [
  "Bearer [A-Za-z0-9\\-._~+/]{16,}=*",
  "\\bAKIA[0-9A-Z]{16}\\b",
  "[\\w.+-]+@[\\w-]+\\.[\\w.]+",
  "\\b(?:\\d[ -]?){13,16}\\b",
  "(?i)\\bpassword\\s*[:=]\\s*\\S+",
  "\\b\\d{3}-\\d{2}-\\d{4}\\b",
  "-----BEGIN [A-Z ]*PRIVATE KEY-----",
  "https?://\\d+\\.\\d+\\.\\d+\\.\\d+\\S*",
];
const SUBSTRINGS = [
  ...[
    "arbitrary code execution",
    "a backdoor",
    "code injection",
    "cross-site scripting",
    "email spoofing",
    "a keylogger",
  ],
  ...["privilege escalation", "a rootkit", "screen scraping", "cryptojacking", "a botnet", "adware", "ransomware"],
  ...[
    "etc/shadow",
    "the keylogger",
    "project aurora",
    "internal only",
    "do not distribute",
    "developer mode",
    "jailbreak",
  ],
];

export const REGEX = { patterns: PATTERNS, match_type: "all" };
const BANNED = { substrings: SUBSTRINGS };
const LIMIT = { limit: 4096, encoding_name: "cl100k_base" };

/**
 * The comparisons: a scanner of guard with its options, and the peers with theirs. `minRatio` is the promised ratio of guard's speed to the
 * peer's.
 */
export const COMPARED = [
  {
    type: "Secrets",
    params: {},
    peers: [
      ["detect-secrets", {}],
      ["llm-guard Secrets", {}],
    ],
    minRatio: 100,
  },
  // llm-guard stops at the first pattern that matches. Both do the same work only on clean texts, which no pattern matches.
  { type: "Regex", params: REGEX, isClean: true, peers: [["llm-guard Regex", REGEX]], minRatio: 20 },
  { type: "Regex", params: REGEX, peers: [["llm-guard Regex", REGEX]] },
  {
    type: "BanSubstrings",
    params: { ...BANNED, redact_all: true },
    peers: [["llm-guard BanSubstrings", { ...BANNED, redact: true }]],
    minRatio: 20,
  },
  { type: "InvisibleText", params: {}, peers: [["llm-guard InvisibleText", {}]] },
  {
    type: "TokenLimit",
    params: LIMIT,
    peers: [
      ["llm-guard TokenLimit", LIMIT],
      ["tiktoken", LIMIT],
    ],
  },
  { type: "Secrets", params: { deobfuscate: true }, peers: [] },
  { type: "Regex", params: { ...REGEX, deobfuscate: true }, peers: [] },
  { type: "BanSubstrings", params: { ...BANNED, redact_all: true, deobfuscate: true }, peers: [] },
];

const PEM = "-----BEGIN RSA PRIVATE KEY-----\n";
/** The most expensive known texts of each scanner: a string that is repeated up to the measured length. */
export const ADVERSARIAL = [
  {
    type: "Secrets",
    params: {},
    texts: {
      AKIA: "AKIA",
      "open keys": PEM,
      "dotted eyJ": "eyJhbGciOi.",
      "one long word": "aZ3",
      "key=": 'api_key="',
      "user:pass@": "://a:b@",
    },
  },
  {
    type: "Secrets",
    params: { deobfuscate: true },
    texts: { "one long word": "aZ3", "spaced letters": "a ", "percent signs": "%25", hex: "6161" },
  },
  { type: "Regex", params: REGEX, texts: { "one long word": "a", "at signs": "a@", digits: "1 ", dotted: "a@a." } },
  {
    type: "Regex",
    params: { ...REGEX, deobfuscate: true },
    texts: { "spaced letters": "a ", "percent signs": "%25", "base64 of base64": "WVdGaA==" },
  },
  {
    type: "BanSubstrings",
    params: { substrings: [`${"a".repeat(50)}b`, "aab", "ab"], redact_all: true },
    texts: { "nearly a match": "a", matches: "ab" },
  },
  {
    type: "InvisibleText",
    params: {},
    texts: { invisible: "\u200b", "every other": "\u200ba", selectors: "\u2764\ufe0f\ufe00" },
  },
  {
    type: "TokenLimit",
    params: LIMIT,
    texts: { "one long word": "a", spaces: " ", "line feeds": "\n", emoji: "\u{1f469}\u200d" },
  },
  {
    side: "output",
    type: "JSON",
    params: {},
    texts: { "open braces": "{", "open objects": '{"a":', "open strings": '{"a": "', "broken objects": "{a: 1,} " },
  },
  {
    side: "output",
    type: "NoRefusalLight",
    params: {},
    texts: { "nearly a phrase": "I really ", apologies: "I'm sorry, ", negations: "ich kann nicht " },
  },
  { type: "Sentiment", params: {}, texts: { words: "not very good, but ", marks: "!?", "one long word": "a" } },
  {
    side: "output",
    type: "ReadingTime",
    params: { max_time: 1, truncate: true },
    texts: { words: "a ", Chinese: "\u4f60", marks: "\u0301" },
  },
];

/**
 * Patterns that a careless or hostile user may write, each with a text on which a backtracking engine is slow: the repeated string and the
 * end of the text.
 */
export const EVIL_PATTERNS = [
  ["(a+)+$", "a", "!"],
  ["(a|aa)+$", "a", "!"],
  ["(a|a?)+$", "a", "!"],
  ["(.*a){20}", "a", "!"],
  ["(x+x+)+y", "x", ""],
  ["^(\\w+\\s?)*$", "word ", "!"],
  [".*.*.*=.*", "a", ""],
  ["(?i)(\\p{L}{1,50}){1,50}\\d", "\u0436", ""],
  ["(?:a?){500}a{500}b", "a", ""],
  ["(a+)+\\1b", "a", "!"],
  ["(?=(a+)+b)a", "a", "!"],
  ["(?=.*x)(?=.*y)(?=.*z)", "a", ""],
  ["((?=.*x)|a)*z", "a", ""],
  ["(?:(?!b)a*)*c", "a", ""],
  ["(?<!x)(a+)+b", "a", ""],
  ["\\b(\\w+)(?:\\s+\\1)+\\s+b", "aa ", ""],
  ["(.+)\\1(.+)\\2(.+)\\3x", "ab", ""],
  ["^(?:a(?=.*b)|a(?=.*c))*$", "a", ""],
];

/** The scanners whose memory is measured: side, type and options. */
export const MEMORY_CASES = [
  ["input", "Secrets", {}],
  ["input", "Regex", REGEX],
  ["input", "BanSubstrings", { ...BANNED, redact_all: true }],
  ["input", "InvisibleText", {}],
  ["input", "TokenLimit", LIMIT],
  ["input", "Sentiment", {}],
  ["output", "JSON", {}],
  ["output", "NoRefusalLight", {}],
  ["output", "ReadingTime", { max_time: 1, truncate: true }],
];
