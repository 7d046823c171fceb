import { parseFieldNames } from "./unknown-fields.ts";

const sound = "input_audio audio transcript";
const image = "image_url.url image_url.detail detail";
const result = "content structuredContent is_error isError";
const use = "name input";

/**
 * The fields of parts that their readers read, or that contain nothing for the model. `readUnknownFields` reads all others.
 */
const KNOWN_PART_FIELDS: ReadonlyMap<string, ReadonlySet<string>> = new Map(
  Object.entries({
    text: "text annotations citations",
    input_text: "text annotations citations",
    // `logprobs` repeats the tokens of `text`.
    output_text: "text annotations citations logprobs",
    summary_text: "text",
    reasoning_text: "text",
    refusal: "refusal",
    image_url: image,
    input_image: `${image} image_url`,
    computer_screenshot: `${image} image_url`,
    image_file: "image_file.detail",
    input_audio: `${sound} input_audio.data input_audio.format`,
    output_audio: `${sound} data`,
    file: "file.file_data file.filename",
    input_file: "file_data file_url filename detail",
    // Only the provider can decrypt these.
    thinking: "thinking signature",
    redacted_thinking: "data",
    tool_use: use,
    server_tool_use: use,
    mcp_tool_use: use,
    document: "title context source.type source.data source.content source.url source.media_type",
    search_result: "title source content",
    image: "source.type source.data source.url source.media_type data mimeType",
    container_upload: "",
    audio: "data mimeType",
    resource: "resource.text resource.blob resource.mimeType",
    resource_link: "name title description mimeType",
  }).map(([type, names]) => [type, parseFieldNames(`type cache_control ${names}`)]),
);

const FIELDS_OF_RESULT = parseFieldNames(`type cache_control ${result}`);

/** The fields of a part of a type that has a reader; undefined where the reader reads all fields. */
export function knownPartFields(type: string): ReadonlySet<string> | undefined {
  if (type === "reasoning") return;
  return KNOWN_PART_FIELDS.get(type) ?? FIELDS_OF_RESULT;
}

/** The same for a message with a role. The last ones are what APIs add to what they return. */
export const KNOWN_MESSAGE_FIELDS: ReadonlySet<string> = parseFieldNames(
  "role content name tool_calls function_call refusal reasoning reasoning_content reasoning_details annotations citations " +
    "audio.data audio.expires_at audio.transcript usage",
);

const KNOWN_ITEM_FIELDS: ReadonlyMap<string, ReadonlySet<string>> = new Map(
  Object.entries({
    function_call: "name arguments",
    custom_tool_call: "name input",
    mcp_call: "name arguments output error",
    mcp_approval_request: "name arguments",
    mcp_approval_response: "reason",
    mcp_list_tools: "tools error",
    tool_search_call: "arguments",
    tool_search_output: "tools",
    additional_tools: "tools",
    web_search_call: "action results",
    file_search_call: "queries results",
    computer_call: "action actions pending_safety_checks",
    code_interpreter_call: "code outputs",
    local_shell_call: "action",
    shell_call: "action",
    apply_patch_call: "operation",
    // The image itself counts as skipped.
    image_generation_call: "revised_prompt result",
    program: "code",
    function_call_output: "output",
    custom_tool_call_output: "output",
    local_shell_call_output: "output",
    apply_patch_call_output: "output",
    computer_call_output: "output acknowledged_safety_checks",
    shell_call_output: "output",
    program_output: "result",
    reasoning: "summary content",
  }).map(([type, names]) => [type, parseFieldNames(`type ${names}`)]),
);

const NO_FIELDS: ReadonlySet<string> = new Set(["type"]);

/** Returns the known fields of an item of the Responses API. */
export function knownItemFields(type: string): ReadonlySet<string> {
  return KNOWN_ITEM_FIELDS.get(type) ?? NO_FIELDS;
}
