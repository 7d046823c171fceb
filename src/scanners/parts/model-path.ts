import { z } from "zod";
import { GuardValidationError, type ValidationIssue } from "../../support/errors.ts";
import { llmGuardOption, metaOf, toSnakeCase, withoutInfluence } from "../../support/options.ts";

/** The options that name the files of a model in llm-guard's API. Each of them stands for the option that names the model here. */
const PATH = "modelPath";
const FILES = ["modelOnnxFileName", "onnxFilename"] as const;

/**
 * Creates the options that name the files of a model in llm-guard's API (`_configure_model` of version 0.3.16).
 *
 * @param option the option that names the model here.
 */
export function modelPathOptions(option: string) {
  const written = toSnakeCase(option);
  const name = (description: string) =>
    withoutInfluence(llmGuardOption(z.string().nullish(), description)).meta({ standsFor: option });
  const file = `: the ONNX file in the folder or repository that model_path or ${written} names, such as onnx/model.onnx.`;
  return {
    modelPath: name(`: a folder or a model of the hub. Here this option is called ${written}.`),
    modelOnnxFileName: name(file),
    onnxFilename: name(file),
  };
}

/** The options of a scanner after {@link withModelPath}. */
interface ResolvedOptions {
  given: Record<string, unknown>;
  /** Returns an error about the model that names the option of the user. */
  renameError(error: unknown): unknown;
}

/**
 * Moves the model from llm-guard's options to guard's option. A file follows a colon: `./toxicity:onnx/model.onnx`.
 *
 * @throws GuardValidationError if two options name the model or its file.
 */
export function withModelPath(schema: z.ZodObject, given: Readonly<Record<string, unknown>>): ResolvedOptions {
  const shape = schema.shape as Record<string, z.ZodType>;
  const option = shape[PATH] && metaOf(shape[PATH], "standsFor");
  const named = [PATH, ...FILES].filter((name) => typeof given[name] === "string" && given[name] !== "");
  const rest = { ...given };
  if (option === undefined || named.length === 0) return { given: rest, renameError: (error) => error };
  const [file, other] = named.filter((name) => name !== PATH);
  const twice = (path: string, by: string) =>
    new GuardValidationError([{ path, message: `is given twice: also as ${by}` }]);
  if (other !== undefined) throw twice(other, file as string);
  const path = named.includes(PATH) ? given[PATH] : undefined;
  if (path !== undefined && given[option] !== undefined) throw twice(PATH, option);
  const model = path ?? given[option];
  // Without a folder or a repository, there is only the embedded model, which has a single file.
  if (typeof model !== "string") return { given: rest, renameError: (error) => error };
  rest[option] = file === undefined ? model : `${model}:${given[file]}`;
  const written = path === undefined ? (file as string) : PATH;
  const renamed = (issue: ValidationIssue) =>
    issue.path === option || issue.path.startsWith(`${option}.`) ? { ...issue, path: written } : issue;
  return {
    given: rest,
    renameError: (error) =>
      error instanceof GuardValidationError
        ? new GuardValidationError(error.issues.map(renamed), { cause: error })
        : error,
  };
}
