import { UsageError } from "../command.ts";
import { decode, isBlank, linesOf, open } from "../lines.ts";
import { readJson, readSubject, subjectOf } from "../subjects.ts";
import type { Subject } from "../suite.ts";
import { ORDINARY_OUTPUTS, ORDINARY_PROMPTS } from "./ordinary-texts.ts";

type Of<Kind extends Subject["kind"]> = Extract<Subject, { kind: Kind }>;

/** The texts of a measurement, by what they are. */
export interface Texts {
  prompt: readonly Of<"prompt">[];
  output: readonly Of<"output">[];
  conversation: readonly Of<"conversation">[];
}

/**
 * Reads the texts of a file, or returns ordinary ones where none is named.
 *
 * @throws UsageError with the number of the line at fault, and for a file without texts.
 */
export async function readTexts(file: string | undefined): Promise<Texts> {
  const subjects = file === undefined ? [...ORDINARY_PROMPTS, ...ORDINARY_OUTPUTS] : await subjectsOf(file);
  if (subjects.length === 0) throw new UsageError(`${file} has no texts`);
  const of = <Kind extends Subject["kind"]>(kind: Kind) =>
    subjects.filter((subject): subject is Of<Kind> => subject.kind === kind);
  return { prompt: of("prompt"), output: of("output"), conversation: of("conversation") };
}

async function subjectsOf(file: string): Promise<Subject[]> {
  const isJson = /\.(jsonl|ndjson|json)$/i.test(file);
  const subjects: Subject[] = [];
  for await (const line of linesOf(open(file))) {
    if (isBlank(line)) continue;
    try {
      const text = decode(line.bytes).replace(/\r$/, "");
      const subject = isJson ? readSubject(readJson(text)) : subjectOf(text);
      if (subject.kind === "documents") throw new TypeError("documents: expected prompts, outputs or conversations");
      subjects.push(subject);
    } catch (error) {
      throw new UsageError(`${file}, line ${line.number}: ${(error as Error).message}`);
    }
  }
  return subjects;
}
