import { basename, join } from "node:path";
import { MANIFEST, manifestOf } from "../models/manifest.ts";
import { embeddedFolder, modelFolders } from "../models/model-files.ts";

/** The manifests of the embedded models, by their paths in the repository. */
export function manifests(): Map<string, string> {
  const place = basename(embeddedFolder);
  return new Map(
    modelFolders(embeddedFolder).map((name) => [
      `${place}/${name}/${MANIFEST}`,
      manifestOf(join(embeddedFolder, name)),
    ]),
  );
}
