import { UsageError } from "../command.ts";
import { isCsv } from "../csv.ts";
import { fileName } from "../lines.ts";
import { readSubject } from "../subjects.ts";
import type { Subject } from "../suite.ts";
import { SUBJECT_VALUES, textLines, valuesOf } from "../values.ts";
import { ORDINARY_OUTPUTS, ORDINARY_PROMPTS } from "./ordinary-texts.ts";

type SubjectOf<Kind extends Subject["kind"]> = Extract<Subject, { kind: Kind }>;

/** The texts of a measurement, by kind. */
export interface Texts {
  prompt: readonly SubjectOf<"prompt">[];
  output: readonly SubjectOf<"output">[];
  conversation: readonly SubjectOf<"conversation">[];
}

/**
 * Reads the texts of a file, or returns guard's own without a file.
 *
 * @throws UsageError with the number of an invalid line, and for a file without texts.
 */
export async function readTexts(file: string | undefined): Promise<Texts> {
  const subjects = file === undefined ? [...ORDINARY_PROMPTS, ...ORDINARY_OUTPUTS] : await subjectsOf(file);
  const ofKind = <Kind extends Subject["kind"]>(kind: Kind) =>
    subjects.filter((subject): subject is SubjectOf<Kind> => subject.kind === kind);
  return { prompt: ofKind("prompt"), output: ofKind("output"), conversation: ofKind("conversation") };
}

async function subjectsOf(file: string): Promise<Subject[]> {
  const hasValues = isCsv(file) || /\.(jsonl|ndjson|json)(\.gz)?$/i.test(file);
  const subjects: Subject[] = [];
  for await (const { number, read } of hasValues ? valuesOf(file, SUBJECT_VALUES) : textLines(file)) {
    try {
      const subject = readSubject(read());
      if (subject.kind === "documents") throw new TypeError("documents: expected prompts, outputs or conversations");
      subjects.push(subject);
    } catch (error) {
      throw new UsageError(`${fileName(file)}, line ${number}: ${(error as Error).message}`);
    }
  }
  return subjects;
}

/** The number of the latest text. All measurements of a process share it. */
let number = 0;

/**
 * Returns the subject at an index, and starts again with the first one after the last. Each prompt and each output gets a new number before
 * its text. The engine keeps the results of recent texts, so a repeated text would take less time than a new one.
 */
export function numberedSubject<Item extends Subject>(subjects: readonly Item[], index: number): Item {
  const subject = subjects[index % subjects.length] as Item;
  if (subject.kind !== "prompt" && subject.kind !== "output") return subject;
  number += 1;
  return { ...subject, text: `${number}. ${subject.text}` };
}
