/** What a plugin can be, and how messages call it. */
export const PLUGIN_KINDS = ["scanner", "recognizer", "classifier", "scoring function", "NER model"] as const;
export type PluginKind = (typeof PLUGIN_KINDS)[number];

/** The JSON Schema of the name or the import path of a plugin in a file. */
export const PLUGIN_REFERENCE = { type: "string", minLength: 1 } as const;
