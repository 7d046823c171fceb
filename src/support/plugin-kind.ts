/** The kinds of plugins, as messages name them. */
export const PLUGIN_KINDS = ["scanner", "recognizer", "classifier", "scoring function", "NER model"] as const;
export type PluginKind = (typeof PLUGIN_KINDS)[number];

/** The JSON Schema of a plugin's name or import path in a file. */
export const PLUGIN_REFERENCE = { type: "string", minLength: 1 } as const;
