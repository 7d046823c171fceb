import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { embeddedFolder, modelFolders } from "../../src/models/model-files.ts";
import { modelManifests } from "../../tools/generate/generated-files.ts";
import { read } from "./markdown.ts";

describe("the embedded models", () => {
  it("have the manifests that npm run generate writes", () => {
    for (const [path, wanted] of modelManifests()) expect(read(path), path).toBe(wanted);
  });

  it("have a self-test each", () => {
    const untested = modelFolders(embeddedFolder).filter(
      (name) => !existsSync(join(embeddedFolder, name, "self-test.json")),
    );
    expect(untested).toEqual([]);
  });
});
