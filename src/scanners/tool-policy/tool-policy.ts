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
import { notASetting } from "../../support/options.ts";
import { lengthIn } from "../../text/offsets.ts";
import { urlsOf } from "../../text/urls.ts";
import { defineScanner } from "../definition.ts";
import { JsonSchema, patternDeadline } from "../parts/json-schema.ts";
import { PersonalDataDetector, personalDataOptions } from "../parts/personal-data.ts";
import { addressesIn, Corpus, commandsIn } from "../parts/tool-taint.ts";
import { type Argument, anyOf, argumentsAt, argumentsIn } from "./tool-arguments.ts";

/** How many schemas of definitions are kept compiled. */
const KEPT_SCHEMAS = 500;
/** The most characters of a name that a finding shows: an undefined tool may have any name. */
const SHOWN_NAME = 64;

const listed = z.array(z.union([z.string(), z.number(), z.boolean()]));

const argumentRule = z.strictObject({
  pattern: z
    .string()
    .min(1)
    .optional()
    .describe(
      "A regular expression that all of the value has to match, in the syntax of Rust's regex crate and Python's re.",
    ),
  allowed: listed.optional().describe("The values that it may have; * stands for any characters."),
  denied: listed.default([]).describe("Values that it must not have; * stands for any characters."),
  maxLength: z.number().int().min(0).optional().describe("The most characters that it may have."),
});

const toolRule = z.strictObject({
  arguments: z
    .record(z.string().min(1), argumentRule)
    .default({})
    .describe(
      "Rules for arguments by their keys: to, or attachments.path. A rule holds for all values at and below its key.",
    ),
  schema: z
    .union([z.record(z.string(), z.unknown()), z.boolean()])
    .optional()
    .describe("A JSON Schema (2020-12) that the arguments have to match."),
  hosts: z
    .array(z.string().min(1))
    .optional()
    .describe(
      "The only hosts that URLs in the arguments may have, with all hosts below them; the word user stands for those of the " +
        "domains that the user or the system prompt names.",
    ),
  forbid: z
    .array(z.string().min(1))
    .default([])
    .describe("What must not leave with the arguments: secrets, personal_data, or types of it such as CREDIT_CARD."),
  taint: z
    .array(z.enum(["addresses", "commands"]))
    .default([])
    .describe(
      "What must not come from tool results unless the user wrote it too. addresses: hosts of URLs and e-mail addresses. commands: " +
        "lines, and parts between ; | and &.",
    ),
});

export const ToolPolicy = defineScanner({
  type: "ToolPolicy",
  summary:
    "Fails tool calls that a policy does not allow: by the tool, its arguments, where they come from and what they carry out.",
  description:
    "Without options it fails calls of tools that the conversation does not define. The keys of `tools` are names, in which `*` stands " +
    "for any characters; all rules that fit a tool hold. A call whose arguments are no JSON object fails where a rule needs one.\n\n" +
    "An agent copies addresses and ids from one result into the next call all the time, so `taint` holds only for the tools that " +
    "name it: those that send, pay, delete or run something.",
  sides: { input: {} },
  options: () => ({
    allowedTools: notASetting(
      z.array(z.string().min(1)).optional().describe("The only tools that may be called; * stands for any characters."),
    ),
    deniedTools: notASetting(
      z.array(z.string().min(1)).default([]).describe("Tools that must not be called; * stands for any characters."),
    ),
    tools: notASetting(z.record(z.string().min(1), toolRule).default({}).describe("Rules by the names of tools.")),
    schemas: notASetting(
      z
        .enum(["off", "given"])
        .default("off")
        .describe("given: arguments have to match the schema in the tool's definition in the conversation."),
    ),
    trustedTools: notASetting(
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
      { source: "tool_call", text: "ann@example.com", conversation: calling("send_email", { to: "ann@example.com" }) },
    ],
    fails: [
      { source: "tool_call", text: "eve@example.org", conversation: calling("send_email", { to: "eve@example.org" }) },
      { source: "tool_call", text: "/tmp/a", conversation: calling("delete_file", { path: "/tmp/a" }) },
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
    const given = new GivenSchemas();
    return {
      // A call without arguments is a call.
      checksEmpty: true,
      async check(text, context) {
        if (context.source !== "tool_call") return passed(text);
        const current = context.conversation?.current;
        const call = current?.toolCall;
        if (!context.conversation || !current || !call) {
          const label =
            "The call that these arguments belong to is not known: scan them as part of their conversation.";
          return failed(text, [{ start: 0, end: text.length, type: "arguments_form", score: 1, label }]);
        }
        const name = call.name.slice(0, SHOWN_NAME);
        const place = placesIn(text, current);
        const findings: Finding[] = [];
        const find: Find = (type, label, argument) => findings.push({ ...place(argument), type, score: 1, label });

        const definition = definitionOf(call.name, context.conversation);
        if (definition === "undefined") find("tool", `The conversation defines no tool ${name}.`);
        if (isDenied(call.name)) find("tool", `The policy denies the tool ${name}.`);
        if (!isAllowed(call.name)) find("tool", `The tool ${name} is not among those that the policy allows.`);

        const fitting = rules.filter(({ fits }) => fits(call.name));
        const isGiven = schemas === "given" && typeof definition === "object" && definition.schema !== undefined;
        const value = call.arguments === "" || call.arguments == null ? {} : call.arguments;
        const scanned: Scanned = { name, text, value, all: argumentsIn(value), context, isTrusted, find };
        if (!isRecord(value) && (isGiven || fitting.some(({ needsObject }) => needsObject))) {
          find("arguments_form", `The arguments of ${name} are no JSON object, so its rules cannot be applied.`);
        } else {
          if (isGiven) given.check((definition as { schema: unknown }).schema, scanned);
          for (const rule of fitting) await rule.check(scanned);
        }
        return findings.length === 0 ? passed(text) : failed(text, findings);
      },
    };
  },
});

type Find = (type: string, label: string, argument?: Argument) => void;

/** A call that is checked. */
interface Scanned {
  name: string;
  text: string;
  value: unknown;
  all: readonly Argument[];
  context: ScanContext;
  isTrusted: (tool: string) => boolean;
  find: Find;
}

interface CompiledRule {
  fits(tool: string): boolean;
  /** Whether it can judge a JSON object only. */
  needsObject: boolean;
  check(scanned: Scanned): Promise<void>;
}

function failed(text: string, findings: Finding[]) {
  return { isValid: false, score: FAILED, findings, coverage: wholeText(text) };
}

/**
 * Returns the definition of a tool, `unknown` when nobody can say whether it is defined, and `undefined` when the conversation defines
 * other tools but not this one. Entries without a name of their own stand for tools of a server, which only the server lists.
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

/** Returns where an argument stands in the text: its string, or all of the text when it is no string of its own. */
function placesIn(text: string, { pieces }: MessageText) {
  return (argument?: Argument) => {
    const same = argument && pieces.find(({ start, end }) => text.slice(start, end) === argument.text);
    return same
      ? { start: same.start, end: same.end, text: text.slice(same.start, same.end) }
      : { start: 0, end: text.length };
  };
}

/** Schemas of definitions, compiled once for all calls. */
class GivenSchemas {
  readonly #compiled = new LRUCache<string, JsonSchema>({ max: KEPT_SCHEMAS });

  check(schema: unknown, { name, value, find }: Scanned): void {
    const written = canonicalJson(schema);
    let compiled = this.#compiled.get(written);
    if (!compiled) {
      // Definitions name any draft, of which Ajv knows the newest here. Older ones differ in keywords that tools do not use.
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

function checkSchema(schema: JsonSchema, name: string, value: unknown, find: Find): void {
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
  const carried = forbidden(rule.forbid, engine);
  const hosts = rule.hosts === undefined ? undefined : hostCheck(rule.hosts);
  return {
    fits: anyOf([name]),
    needsObject: schema !== undefined || checks.length > 0,
    async check(scanned) {
      if (schema) checkSchema(schema, scanned.name, scanned.value, scanned.find);
      for (const check of checks) await check(scanned);
      await hosts?.(scanned);
      for (const check of carried) await check(scanned);
      if (rule.taint.length > 0) await checkTaint(rule.taint, scanned);
    },
  };
}

function argumentCheck(key: string, { pattern, allowed, denied, maxLength }: z.output<typeof argumentRule>) {
  const matchType = "fullmatch" as const;
  const scan =
    pattern === undefined
      ? undefined
      : buildNative(
          () => new addon.PatternSet([pattern], { matchType, deobfuscate: false, replace: false }),
          () => "pattern",
        ).scanner();
  const isAllowed = allowed && anyOf(allowed);
  const isDenied = anyOf(denied);
  return async ({ name, value, context, find }: Scanned) => {
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

function forbidden(kinds: readonly string[], engine: Engine) {
  const types = kinds.filter((kind) => kind !== "secrets" && kind !== "personal_data");
  const checks: ((scanned: Scanned) => Promise<void>)[] = [];
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
    // Names of people are no rule's business: they stand in nearly every call that sends something.
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
  return async ({ name, all, context, find }: Scanned) => {
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

async function checkTaint(kinds: readonly ("addresses" | "commands")[], scanned: Scanned): Promise<void> {
  const { name, all, context, isTrusted, find } = scanned;
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

/** A conversation in which the model calls a tool, for the examples. */
function calling(name: string, args: object) {
  const call = { id: "1", type: "function", function: { name, arguments: JSON.stringify(args) } };
  return {
    messages: [
      { role: "user", content: "Go on." },
      { role: "assistant", tool_calls: [call] },
    ],
  };
}
