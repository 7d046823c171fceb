import { isRecord } from "../support/is-record.ts";

/** Lists the models that a scanner was told to use, as its options name them. A scanner that is not guard's own has none. */
export function modelNames(scanner: object): string[] {
  const { options } = scanner as { options?: unknown };
  if (!isRecord(options)) return [];
  const { model, classifier, recognizerConf } = options;
  const recognizers = Array.isArray(recognizerConf) ? recognizerConf : [];
  const names = [
    // A function of the calling program may take the place of the model.
    ...(classifier === undefined ? [model] : []),
    ...recognizers.map((conf) => (isRecord(conf) ? conf.defaultModel : undefined)),
  ];
  return [...new Set(names.filter((name) => typeof name === "string"))];
}
