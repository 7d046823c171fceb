import { isRecord } from "../support/is-record.ts";

/** Returns the models that the options of a scanner name. Scanners of plugins and programs have none. */
export function modelNames(scanner: object): string[] {
  const { options } = scanner as { options?: unknown };
  if (!isRecord(options)) return [];
  const { model, classifier, recognizerConf } = options;
  const recognizers = Array.isArray(recognizerConf) ? recognizerConf : [];
  const names = [
    // A classifier of the calling program replaces the model.
    ...(classifier === undefined ? [model] : []),
    ...recognizers.map((conf) => (isRecord(conf) ? conf.defaultModel : undefined)),
  ];
  return [...new Set(names.filter((name) => typeof name === "string"))];
}
