import { isRecord } from "../support/is-record.ts";
import { readAllStrings } from "./all-strings.ts";
import { contentContext, readContent } from "./content.ts";
import type { PartContext } from "./part-reader.ts";
import { FIELDS, type KeyPath, type RequestReader } from "./request-reader.ts";
import { hasManyWords, isFieldText, isPhrase } from "./text-checks.ts";
import { NOT_FOR_MODELS, readSchema, readTools } from "./tool-definitions.ts";

type FieldReader = (value: unknown, keys: KeyPath, reader: RequestReader) => void;

/** Reads a schema or grammar. A single word, such as `b64_json`, names a format. */
const readAnswerSchema: FieldReader = (value, keys, reader) => {
  if (typeof value !== "string" || isFieldText(value)) readSchema(value, keys, reader);
};

/** Returns a reader of an object with one field for the model. Its other fields are read as unknown ones. */
function innerField(name: string, read: FieldReader): FieldReader {
  return (value, keys, reader) => {
    if (!isRecord(value)) return readUnknown(value, keys, reader);
    const { [name]: inner, ...others } = value;
    if (inner !== undefined && inner !== null) read(inner, [...keys, name], reader);
    readUnknown(others, keys, reader);
  };
}

/** Reads an object with a schema at `format` and other settings. */
const readAnswerFormat = innerField("format", readAnswerSchema);

const readInstructions: FieldReader = (value, keys, reader) =>
  readContent(value, contentContext(reader, reader.open(keys, { source: "system" }), keys));

/** Reads the text that an answer is expected to repeat in part. */
const readPrediction = innerField("content", (value, keys, reader) => readContent(value, besideContext(keys, reader)));

const readVariables = innerField("variables", (value, keys, reader) =>
  readAllStrings(value, besideContext(keys, reader)),
);

/** Reads a template that the provider stores: its variables are in the request, and its text is not. */
const readPromptTemplate: FieldReader = (value, keys, reader) => {
  if (isRecord(value)) reader.stateElsewhere.add("prompt");
  readVariables(value, keys, reader);
};

/** Reads the settings of Gemini, with the schema of the answer. */
const readGenerationConfig: FieldReader = (value, keys, reader) => {
  if (!isRecord(value)) return readUnknown(value, keys, reader);
  const others: Record<string, unknown> = {};
  for (const [key, item] of Object.entries(value)) {
    if (/^_?response_?(?:json_?)?schema$/i.test(key)) readAnswerSchema(item, [...keys, key], reader);
    else if (/^stop_?sequences$/i.test(key)) readAllStrings(item, besideContext([...keys, key], reader), isStopText);
    else others[key] = item;
  }
  readUnknown(others, keys, reader);
};

/** Short stop sequences are marks of a chat template, such as `\nUser:`, which end an answer. */
function isStopText(value: string): boolean {
  return hasManyWords(value.replace(/<[^<>]{0,40}>/g, " "));
}

/** The fields that the model reads in the APIs of OpenAI, Anthropic and Gemini, and of servers with these APIs. */
const FIELD_READERS: ReadonlyMap<string, FieldReader> = new Map<string, FieldReader>([
  ["functions", (value, keys, reader) => readTools(value, keys, reader)],
  ["instructions", readInstructions],
  ["systemInstruction", readInstructions],
  ["system_instruction", readInstructions],
  ["generationConfig", readGenerationConfig],
  ["generation_config", readGenerationConfig],
  ["prediction", readPrediction],
  ["prompt", readPromptTemplate],
  ["text", readAnswerFormat],
  ["output_config", readAnswerFormat],
  ...(
    "response_format output_format grammar ebnf regex json_schema structured_outputs " +
    "guided_json guided_regex guided_choice guided_grammar"
  )
    .split(" ")
    .map((name) => [name, readAnswerSchema] as const),
]);

/**
 * Fields that let the model read texts that are not in the request: earlier answers and conversations, files and pages, tools of MCP servers,
 * and skills.
 */
const STATE_FIELDS: ReadonlySet<string> = new Set(
  (
    "previous_response_id conversation container mcp_servers web_search_options search_parameters data_sources " +
    "cachedContent cached_content previous_interaction_id"
  ).split(" "),
);

/** Keys of state fields whose values are credentials. */
const CREDENTIALS: ReadonlySet<string> = new Set([
  ...NOT_FOR_MODELS,
  ..."authentication key api_key access_token connection_string".split(" "),
]);

/** Fields with the tokens of a text, which only the model can read. */
export const TOKEN_FIELDS: ReadonlySet<string> = new Set(
  "input_ids prompt_token_ids token_ids prompt_embeds input_embeds inputs_embeds".split(" "),
);

/** Selects the strings to read in fields that a model does not read: strings that look like text. */
const NAME_FIELDS: ReadonlyMap<string, (value: string) => boolean> = new Map<string, (value: string) => boolean>([
  // Names of models, tools and features have many words, but no white space.
  ...(
    "model models provider service_tier include betas tool_choice prompt_cache_key " +
    "safetySettings safety_settings toolConfig tool_config"
  )
    .split(" ")
    .map((name) => [name, (value: string) => /\s/.test(value)] as const),
  // These fields identify people and sessions.
  ..."user metadata safety_identifier labels"
    .split(" ")
    .map((name) => [name, (value: string) => isPhrase(value) || value.includes("@")] as const),
  ..."stop stop_sequences".split(" ").map((name) => [name, isStopText] as const),
]);

/** Whether a text in a field of a form may contain an instruction. */
export function isFormText(name: string, value: string): boolean {
  return (NAME_FIELDS.get(name) ?? isFieldText)(value);
}

/** Fields with numbers, switches and words, which have no text. */
const PARAMETERS: ReadonlySet<string> = new Set(
  (
    "temperature top_p top_k min_p n seed stream stream_options max_tokens max_completion_tokens max_output_tokens max_tool_calls " +
    "frequency_penalty presence_penalty repetition_penalty logit_bias logprobs top_logprobs echo best_of suffix " +
    "parallel_tool_calls function_call reasoning reasoning_effort thinking verbosity modalities audio store background " +
    "truncation prompt_cache_retention cache_control context_management inference_geo speed moderation"
  ).split(" "),
);

/** Whether OpenAI, Anthropic or Google define a field of requests to models, or a server with their APIs does. */
export function isRequestField(name: string): boolean {
  return [FIELD_READERS, STATE_FIELDS, NAME_FIELDS, TOKEN_FIELDS, PARAMETERS].some((names) => names.has(name));
}

/**
 * Reads the fields of a request beside its messages, tools and system prompt: those that OpenAI, Anthropic and Google define as text for the model,
 * and any other field if it may contain an instruction.
 */
export function readRequestFields(fields: Readonly<Record<string, unknown>>, reader: RequestReader): void {
  for (const [name, value] of Object.entries(fields)) {
    if (value === undefined || value === null) continue;
    const keys = [FIELDS, name];
    const read = FIELD_READERS.get(name);
    const isRead = NAME_FIELDS.get(name);
    if (read) read(value, keys, reader);
    else if (STATE_FIELDS.has(name)) readState(name, value, reader);
    else if (isRead) readAllStrings(value, besideContext(keys, reader), isRead);
    else if (TOKEN_FIELDS.has(name)) besideContext(keys, reader).draft.skipped += 1;
    else readUnknown(value, keys, reader);
  }
}

function readState(name: string, value: unknown, reader: RequestReader): void {
  const keys = [FIELDS, name];
  reader.stateElsewhere.add(name);
  const isRead = (text: string, path: KeyPath) => isPhrase(text) && !path.some((key) => CREDENTIALS.has(String(key)));
  reader.openBeside(keys, "user", undefined).addAll(value, keys, isRead);
}

function readUnknown(value: unknown, keys: KeyPath, reader: RequestReader): void {
  const context = besideContext(keys, reader);
  context.draft.addKey(String(keys.at(-1)), keys);
  readAllStrings(value, context, isFieldText);
}

function besideContext(keys: KeyPath, reader: RequestReader): PartContext {
  return contentContext(reader, reader.openBeside(keys, "user", undefined), keys);
}
