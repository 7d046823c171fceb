import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";

const root = new URL("../", import.meta.url);
const data = new URL("training/data/", root);
// The same names as `HELD_OUT_FILES` in training/datasets.py.
const HELD = new Set(["exam", "second_exam", "orders", "instructions", "heldout"]);
const isHeld = (name: string) => HELD.has(name) || name.startsWith("dev_");
// The folders that train the multi-task model. `ordinary` measures its false positives.
const JUDGED = ["toxicity", "emotion", "refusal", "nli", "topics"];

type Row = Record<string, unknown>;

function read(path: string): Row[] {
  const lines = readFileSync(new URL(path, root), "utf8").split("\n");
  return lines.filter((line) => line.trim() !== "").map((line) => JSON.parse(line) as Row);
}

function batches(folder: string, held: boolean): string[] {
  const names = readdirSync(new URL(`${folder}/`, data)).filter((name) => name.endsWith(".jsonl"));
  return names.filter((name) => isHeld(name.slice(0, -6)) === held).map((name) => `training/data/${folder}/${name}`);
}

/** Two rows count as the same if all of their texts are. Only letters and digits are compared, in lower case. */
function key(row: Row): string {
  const texts = ["text", "prompt", "a", "b"].flatMap((field) => (typeof row[field] === "string" ? [row[field]] : []));
  const joined = texts.join("\n").normalize("NFKC").toLowerCase();
  return joined.replace(/[^\p{L}\p{N}]/gu, "") || joined;
}

function common(measured: Row[], learnt: string[]): string[] {
  const known = new Map(learnt.flatMap((path) => read(path).map((row) => [key(row), path] as const)));
  return measured.flatMap((row) => (known.has(key(row)) ? [`${key(row)} (${known.get(key(row))})`] : []));
}

describe("test data is not in the training data", () => {
  const folders = readdirSync(data).filter((folder) => batches(folder, true).length > 0);

  it.each(folders.filter((folder) => batches(folder, false).length > 0))("in held batches of %s", (folder) => {
    expect(common(batches(folder, true).flatMap(read), batches(folder, false))).toEqual([]);
  });

  it("as disguised attacks and cases of PromptInjection", () => {
    const learnt = batches("injection", false);
    for (const path of ["benches/evasion/sample.jsonl", "training/injection/cases.jsonl"]) {
      expect(common(read(path), learnt)).toEqual([]);
    }
  });

  it("as ordinary prompts and answers", () => {
    const exchanges = batches("ordinary", false).flatMap(read);
    const texts = exchanges.flatMap(({ prompt, answer }) => [{ text: prompt }, { text: answer }]);
    expect(texts.length).toBeGreaterThan(1000);
    expect(
      common(
        texts,
        JUDGED.flatMap((folder) => batches(folder, false)),
      ),
    ).toEqual([]);
  });
});
