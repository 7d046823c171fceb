import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { GuardValidationError } from "../support/errors.ts";
import { isRecord } from "../support/is-record.ts";
import type { Engine } from "./engine.ts";
import { folderSize, listModels } from "./list-models.ts";

/** What is known of a model before it is loaded. */
export interface ModelFacts {
  model: string;
  /** False for a model of the hub that still has to be downloaded. */
  here: boolean;
  /** Bytes of all files of its folder. */
  size?: number;
  license?: string;
  /** The languages, by ISO 639-1 codes, that it was trained and measured in: of all of it, or of each head that names its own. */
  languages?: string[] | Record<string, string[]>;
}

/** Tells what is known of a model from its files on this machine. Nothing is loaded or downloaded. */
export function modelFacts(model: string, engine: Engine): ModelFacts {
  const folder = folderOf(model, engine);
  const path = folder === undefined ? undefined : join(folder, "config.json");
  if (folder === undefined || path === undefined || !existsSync(path)) return { model, here: false };
  const config: unknown = JSON.parse(readFileSync(path, "utf8"));
  const { guard, license } = isRecord(config) ? config : {};
  const own = isRecord(guard) ? guard : {};
  const stated = own.license ?? license ?? listModels().find((entry) => entry.folder === folder)?.license;
  return {
    model,
    here: true,
    size: folderSize(folder),
    ...(typeof stated === "string" ? { license: stated } : {}),
    ...languagesOf(own),
  };
}

function languagesOf({ languages, heads }: Record<string, unknown>): Pick<ModelFacts, "languages"> {
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
