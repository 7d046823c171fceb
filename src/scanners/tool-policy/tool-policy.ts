import { LRUCache } from "lru-cache";
import { z } from "zod";
import type { Engine } from "../../models/engine.ts";
import { addon, buildNative, native } from "../../native.ts";
import type { MessageText } from "../../scan/conversation-text.ts";
import { type ConversationContext, type Finding, passed, type ScanContext, wholeText } from "../../scan/scanner.ts";
import { FAILED } from "../../scan/score.ts";
import { canonicalJson } from "../../support/canonical-json.ts";
import { GuardError, withPathPrefix } from "../../support/errors.ts";
import { isRecord } from "../../support/is-record.ts";
import { withoutInfluence } from "../../support/options.ts";
import { lengthIn } from "../../text/offsets.ts";
import { urlsOf } from "../../text/urls.ts";
import { defineScanner } from "../define-scanner.ts";
import { JsonSchema, patternDeadline } from "../parts/json-schema.ts";
import { PersonalDataDetector, personalDataOptions } from "../parts/personal-data.ts";
import { addressesIn, Corpus, commandsIn } from "../parts/tool-taint.ts";
import { type Argument, anyOf, argumentsAt, argumentsIn } from "./tool-arguments.ts";

/** How many compiled schemas are cached. */
const MAX_SCHEMAS = 500;
/** The most characters of a name that a finding shows, because an undefined tool may have any name. */
const MAX_NAME_LENGTH = 64;

const values = z.array(z.union([z.string(), z.number(), z.boolean()]));

const argumentRule = z.strictObject({
  pattern: z
    .string()
    .min(1)
    .optional()
    .describe(
      "A regular expression that the whole value must match, in the syntax of Rust's regex crate and Python's re.",
    ),
  allowed: values.optional().describe("The allowed values. * stands for any characters."),
  denied: values.default([]).describe("The denied values. * stands for any characters."),
  maxLength: z.number().int().min(0).optional().describe("The most characters of a value."),
});

const toolRule = z.strictObject({
  arguments: z
    .record(z.string().min(1), argumentRule)
    .default({})
    .describe(
      "Rules for arguments by their keys, such as to or attachments.path. A rule applies to all values at and below its key.",
    ),
  schema: z
    .union([z.record(z.string(), z.unknown()), z.boolean()])
    .optional()
    .describe("A JSON Schema (2020-12) that the arguments must match."),
  hosts: z
    .array(z.string().min(1))
    .optional()
    .describe(
      "The only hosts of URLs in the arguments, with all their subdomains. The word user stands for the hosts of the domains that the " +
        "user or the system prompt names.",
    ),
  forbid: z
    .array(z.string().min(1))
    .default([])
    .describe("Data that the arguments must not contain: secrets, personal_data, or its types such as CREDIT_CARD."),
  taint: z
    .array(z.enum(["addresses", "commands"]))
    .default([])
    .describe(
      "Data that must not come from tool results unless the user wrote it too. addresses: hosts of URLs and e-mail addresses. commands: " +
        "lines, and parts between ; | and &.",
    ),
});

export const ToolPolicy = defineScanner({
  type: "ToolPolicy",
  summary:
    "Fails tool calls that a policy does not allow: by the tool, its arguments, their origin and the data in them.",
  description:
    "Without options, it fails calls of tools that the conversation does not define. The keys of `tools` are names of tools, in which `*` " +
    "stands for any characters. All rules that match a tool apply. A call whose arguments are not a JSON object fails if a rule needs an " +
    "object.\n\n" +
    "Agents copy addresses and ids from results into calls all the time, so `taint` applies only to tools whose rules set it: tools that " +
    "send, pay, delete or run something.",
  sides: { input: {} },
  options: () => ({
    allowedTools: withoutInfluence(
      z.array(z.string().min(1)).optional().describe("The only tools that may be called. * stands for any characters."),
    ),
    deniedTools: withoutInfluence(
      z.array(z.string().min(1)).default([]).describe("Tools that must not be called. * stands for any characters."),
    ),
    tools: withoutInfluence(z.record(z.string().min(1), toolRule).default({}).describe("Rules by the names of tools.")),
    schemas: withoutInfluence(
      z
        .enum(["off", "given"])
        .default("off")
        .describe("given: arguments must match the schema of the tool's definition in the conversation."),
    ),
    trustedTools: withoutInfluence(
      z
        .array(z.string().min(1))
        .default([])
        .describe("Tools whose results count as written by the user, such as an address book."),
    ),
  }),
  conversation: { sources: ["tool_call"], dependsOnOthers: true },
  findings: [
    { type: "tool", label: "Why the tool must not be called." },
    { type: "argument", label: "The argument, and the rule that it breaks." },
    { type: "arguments_schema", label: "Where the arguments break the schema, and how." },
    { type: "arguments_form", label: "Why the arguments cannot be judged." },
    { type: "host", label: "The argument whose URL has a host that is not allowed." },
    { type: "secret", label: "The argument that carries a secret, and the rule that found it." },
    { type: "personal_data", label: "The argument that carries personal data, and its type." },
    { type: "taint", label: "The argument that repeats an address or a command of a tool result." },
  ],
  examples: {
    options: {
      deniedTools: ["delete_*"],
      tools: { send_email: { arguments: { to: { pattern: ".*@example\\.com" } } } },
    },
    passes: [
      {
        source: "tool_call",
        text: "ann@example.com",
        conversation: exampleCall("send_email", { to: "ann@example.com" }),
      },
    ],
    fails: [
      {
        source: "tool_call",
        text: "eve@example.org",
        conversation: exampleCall("send_email", { to: "eve@example.org" }),
      },
      { source: "tool_call", text: "/tmp/a", conversation: exampleCall("delete_file", { path: "/tmp/a" }) },
    ],
  },
  create({ options, engine }) {
    const { allowedTools, deniedTools, schemas, trustedTools } = options;
    const isAllowed = allowedTools === undefined ? () => true : anyOf(allowedTools);
    const isDenied = anyOf(deniedTools);
    const isTrusted = anyOf(trustedTools);
    const rules = Object.entries(options.tools).map(([name, rule]) =>
      withPathPrefix(`tools.${name}`, () => compiledRule(name, rule, engine)),
    );
    const given = new DefinitionSchemas();
    return {
      // A call without arguments is checked too.
      checksEmpty: true,
      async check(text, context) {
        if (context.source !== "tool_call") return passed(text);
        const current = context.conversation?.current;
        const call = current?.toolCall;
        if (!context.conversation || !current || !call) {
          const label =
            "The call that these arguments belong to is not known: scan them as part of their conversation.";
          return failedVerdict(text, [{ start: 0, end: text.length, type: "arguments_form", score: 1, label }]);
        }
        const name = call.name.slice(0, MAX_NAME_LENGTH);
        const spanOf = spanFinder(text, current);
        const findings: Finding[] = [];
        const find: ReportViolation = (type, label, argument) =>
          findings.push({ ...spanOf(argument), type, score: 1, label });

        const definition = definitionOf(call.name, context.conversation);
        if (definition === "undefined") find("tool", `The conversation defines no tool ${name}.`);
        if (isDenied(call.name)) find("tool", `The policy denies the tool ${name}.`);
        if (!isAllowed(call.name)) find("tool", `The tool ${name} is not among those that the policy allows.`);

        const matching = rules.filter(({ matches }) => matches(call.name));
        const isGiven = schemas === "given" && typeof definition === "object" && definition.schema !== undefined;
        const value = call.arguments === "" || call.arguments == null ? {} : call.arguments;
        const scannedCall: ScannedCall = { name, text, value, all: argumentsIn(value), context, isTrusted, find };
        if (!isRecord(value) && (isGiven || matching.some(({ needsObject }) => needsObject))) {
          find("arguments_form", `The arguments of ${name} are no JSON object, so its rules cannot be applied.`);
        } else {
          if (isGiven) given.check((definition as { schema: unknown }).schema, scannedCall);
          for (const rule of matching) await rule.check(scannedCall);
        }
        return findings.length === 0 ? passed(text) : failedVerdict(text, findings);
      },
    };
  },
});

type ReportViolation = (type: string, label: string, argument?: Argument) => void;

/** A tool call that is checked. */
interface ScannedCall {
  name: string;
  text: string;
  value: unknown;
  all: readonly Argument[];
  context: ScanContext;
  isTrusted: (tool: string) => boolean;
  find: ReportViolation;
}

interface CompiledRule {
  matches(tool: string): boolean;
  /** Whether the rule requires a JSON object. */
  needsObject: boolean;
  check(call: ScannedCall): Promise<void>;
}

function failedVerdict(text: string, findings: Finding[]) {
  return { isValid: false, score: FAILED, findings, coverage: wholeText(text) };
}

/**
 * Returns the definition of a tool, `undefined` if the conversation defines other tools only, and `unknown` if that cannot be decided:
 * entries without a name stand for tools of a server, which only the server lists.
 */
function definitionOf(name: string, { texts }: ConversationContext): { schema?: unknown } | "unknown" | "undefined" {
  const definitions = texts.flatMap(({ toolDefinition }) => toolDefinition ?? []);
  const found = definitions.find((definition) => definition.name === name);
  if (found) return found;
  const isOpen = ({ definition }: (typeof definitions)[number]) =>
    typeof (definition.name ?? (isRecord(definition.function) ? definition.function.name : undefined)) !== "string" &&
    !isRecord(definition.custom);
  return name === "" || definitions.length === 0 || definitions.some(isOpen) ? "unknown" : "undefined";
}

/** Creates a function that returns the span of an argument: its string, or the whole text if the argument is no string of its own. */
function spanFinder(text: string, { pieces }: MessageText) {
  return (argument?: Argument) => {
    const same = argument && pieces.find(({ start, end }) => text.slice(start, end) === argument.text);
    return same
      ? { start: same.start, end: same.end, text: text.slice(same.start, same.end) }
      : { start: 0, end: text.length };
  };
}

/** Checks arguments by the schemas of definitions, which are compiled once for all calls. */
class DefinitionSchemas {
  readonly #compiled = new LRUCache<string, JsonSchema>({ max: MAX_SCHEMAS });

  check(schema: unknown, { name, value, find }: ScannedCall): void {
    const written = canonicalJson(schema);
    let compiled = this.#compiled.get(written);
    if (!compiled) {
      // Definitions may name any draft, but Ajv supports the newest one. Older drafts differ in keywords that tools do not use.
      const { $schema: _, ...body } = isRecord(schema) ? schema : { $schema: undefined };
      try {
        compiled = new JsonSchema(isRecord(schema) ? body : schema);
      } catch (error) {
        if (!(error instanceof GuardError)) throw error;
        find("arguments_schema", `The schema in the definition of ${name} cannot be used: ${error.message}`);
        return;
      }
      this.#compiled.set(written, compiled);
    }
    checkSchema(compiled, name, value, find);
  }
}

function checkSchema(schema: JsonSchema, name: string, value: unknown, find: ReportViolation): void {
  const json = JSON.stringify(value);
  const problem = schema.check(json, patternDeadline(json.length));
  if (problem)
    find(
      "arguments_schema",
      `${name}: the arguments break the schema at ${problem.pointer || "(root)"}: it ${problem.message}.`,
    );
}

/** @throws GuardValidationError with a path below the rule. */
function compiledRule(name: string, rule: z.output<typeof toolRule>, engine: Engine): CompiledRule {
  const schema = rule.schema === undefined ? undefined : new JsonSchema(rule.schema);
  const checks = Object.entries(rule.arguments).map(([key, given]) =>
    withPathPrefix(`arguments.${key}`, () => argumentCheck(key, given)),
  );
  const dataChecks = forbiddenDataChecks(rule.forbid, engine);
  const hosts = rule.hosts === undefined ? undefined : hostCheck(rule.hosts);
  return {
    matches: anyOf([name]),
    needsObject: schema !== undefined || checks.length > 0,
    async check(call) {
      if (schema) checkSchema(schema, call.name, call.value, call.find);
      for (const check of checks) await check(call);
      await hosts?.(call);
      for (const check of dataChecks) await check(call);
      if (rule.taint.length > 0) await checkTaint(rule.taint, call);
    },
  };
}

function argumentCheck(key: string, { pattern, allowed, denied, maxLength }: z.output<typeof argumentRule>) {
  const matchType = "fullmatch" as const;
  const scan =
    pattern === undefined
      ? undefined
      : buildNative(
          () => new addon.PatternSet([pattern], { matchType, deobfuscate: false }),
          () => "pattern",
        ).scanner();
  const isAllowed = allowed && anyOf(allowed);
  const isDenied = anyOf(denied);
  return async ({ name, value, context, find }: ScannedCall) => {
    for (const argument of argumentsAt(value, key)) {
      const { path, text } = argument;
      const say = (what: string) => find("argument", `${name}: the argument ${path} ${what}.`, argument);
      if (scan && (await native(() => scan(text), context)) === null) say("does not match the pattern of the policy");
      if (isAllowed && !isAllowed(text)) say("is none of the values that the policy allows");
      if (isDenied(text)) say("has a value that the policy denies");
      if (maxLength !== undefined && lengthIn("codePoint", text) > maxLength)
        say(`is longer than ${maxLength} characters`);
    }
  };
}

function forbiddenDataChecks(kinds: readonly string[], engine: Engine) {
  const types = kinds.filter((kind) => kind !== "secrets" && kind !== "personal_data");
  const checks: ((call: ScannedCall) => Promise<void>)[] = [];
  if (kinds.includes("secrets")) {
    const rules = new addon.SecretRules({ rules: [], disabledRules: [], allow: [] });
    checks.push(async ({ name, text, all, context, find }) => {
      const { secrets } = await native(() => rules.scan(text, "all", true), context);
      for (const { start, end, rule } of secrets) {
        const argument = all.find((item) => item.text.includes(text.slice(start, end)));
        find("secret", `${name}: the argument ${argument?.path ?? ""} carries a secret (${rule}).`, argument);
      }
    });
  }
  if (kinds.length > 0 && (types.length > 0 || kinds.includes("personal_data"))) {
    // Names of people are not looked for, because nearly every call that sends something contains one.
    const entityTypes = kinds.includes("personal_data") ? [] : types;
    const settings = z.object(personalDataOptions).parse({ entityTypes, recognizerConf: [] });
    const detector = withPathPrefix("forbid", () => new PersonalDataDetector(settings, engine));
    checks.push(async ({ name, text, all, context, find }) => {
      const { findings } = await detector.find(text, context.vault, context);
      for (const { start, end, entity } of findings) {
        const argument = all.find((item) => item.text.includes(text.slice(start, end)));
        find("personal_data", `${name}: the argument ${argument?.path ?? ""} carries ${entity}.`, argument);
      }
    });
  }
  return checks;
}

function hostCheck(given: readonly string[]) {
  const byUser = given.includes("user");
  const listed = given.filter((host) => host !== "user").map((host) => host.toLowerCase());
  const domainsOf = (hosts: readonly string[]) => new Set(native(() => addon.registrableDomains([...hosts])));
  return async ({ name, all, context, find }: ScannedCall) => {
    const trusted = (context.conversation?.texts ?? []).filter(
      ({ source }) => source === "user" || source === "system",
    );
    const named = byUser ? (await Promise.all(trusted.map(({ text }) => hostsIn(text, context)))).flat() : [];
    const domains = domainsOf(named);
    for (const argument of all) {
      for (const host of await hostsIn(argument.text, context)) {
        const isListed = listed.some((allowed) => host === allowed || host.endsWith(`.${allowed}`));
        const [domain] = domainsOf([host]);
        if (isListed || (domain !== undefined && domain !== "" && domains.has(domain))) continue;
        find("host", `${name}: the argument ${argument.path} has a URL of a host that is not allowed.`, argument);
        break;
      }
    }
  };
}

async function hostsIn(text: string, context: ScanContext): Promise<string[]> {
  const urls = await urlsOf(text, context);
  return urls.map(({ url }) => (URL.canParse(url) ? new URL(url).hostname : ""));
}

async function checkTaint(kinds: readonly ("addresses" | "commands")[], call: ScannedCall): Promise<void> {
  const { name, all, context, isTrusted, find } = call;
  const texts = context.conversation?.texts ?? [];
  const isOfTrustedTool = ({ source, toolName }: MessageText) =>
    source === "tool" && toolName !== undefined && isTrusted(toolName);
  const trusted = new Corpus(
    texts.filter((item) => item.source === "user" || item.source === "system" || isOfTrustedTool(item)),
  );
  const untrusted = new Corpus(texts.filter((item) => item.source === "tool" && !isOfTrustedTool(item)));
  for (const argument of all) {
    const repeats = (values: readonly string[]) => values.some((value) => untrusted.has(value) && !trusted.has(value));
    const say = (what: string) =>
      find(
        "taint",
        `${name}: the argument ${argument.path} repeats ${what} of a tool result that the user did not write.`,
        argument,
      );
    if (kinds.includes("addresses") && repeats(await addressesIn(argument.text, context))) say("an address");
    else if (kinds.includes("commands") && repeats(commandsIn(argument.text))) say("a command");
  }
}

/** Returns a conversation in which the model calls a tool, for the examples. */
function exampleCall(name: string, args: object) {
  const call = { id: "1", type: "function", function: { name, arguments: JSON.stringify(args) } };
  return {
    messages: [
      { role: "user", content: "Go on." },
      { role: "assistant", tool_calls: [call] },
    ],
  };
}
