import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { GuardValidationError } from "../support/errors.ts";
import { isRecord } from "../support/is-record.ts";
import type { Engine } from "./engine.ts";
import { folderSize, listModels } from "./list-models.ts";

/** What is known about a model before it is loaded. */
export interface ModelDescription {
  model: string;
  /** Whether the model is on this machine. Otherwise `load` downloads it. */
  here: boolean;
  /** Whether it is the path of a folder or file on this machine that is no model. */
  isIncomplete?: boolean;
  /** The size of all files of its folder in bytes. */
  size?: number;
  license?: string;
  /** The languages that it was trained and measured in, as ISO 639-1 codes: of the whole model, or by head. */
  languages?: string[] | Record<string, string[]>;
}

/** Describes a model from its files on this machine. Nothing is loaded or downloaded. */
export function describeModel(model: string, engine: Engine): ModelDescription {
  const folder = folderOf(model, engine);
  const path = folder === undefined ? undefined : join(folder, "config.json");
  if (folder === undefined || path === undefined || !existsSync(path)) {
    return { model, here: false, ...(existsSync(model) ? { isIncomplete: true } : {}) };
  }
  const config: unknown = JSON.parse(readFileSync(path, "utf8"));
  const { guard, license } = isRecord(config) ? config : {};
  const own = isRecord(guard) ? guard : {};
  const stated = own.license ?? license ?? listModels().find((entry) => entry.folder === folder)?.license;
  return {
    model,
    here: true,
    size: folderSize(folder),
    ...(typeof stated === "string" ? { license: stated } : {}),
    ...readLanguages(own),
  };
}

function readLanguages({ languages, heads }: Record<string, unknown>): Pick<ModelDescription, "languages"> {
  const codes = (value: unknown) => (Array.isArray(value) ? value.map(String) : undefined);
  const ofAll = codes(languages);
  if (ofAll) return { languages: ofAll };
  const ofHeads = (Array.isArray(heads) ? heads : []).flatMap((head: unknown) => {
    const known = isRecord(head) ? codes(head.languages) : undefined;
    return isRecord(head) && known ? [[String(head.name), known] as const] : [];
  });
  return ofHeads.length > 0 ? { languages: Object.fromEntries(ofHeads) } : {};
}

function folderOf(model: string, engine: Engine): string | undefined {
  try {
    return engine.folder(model);
  } catch (error) {
    if (error instanceof GuardValidationError) return undefined;
    throw error;
  }
}
