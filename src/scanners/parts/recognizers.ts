import type { PiiFinding } from "../../native.ts";
import type { Span } from "../../text/span.ts";
import { isNumberIn, isSpanOf } from "../../text/span.ts";

/** An entity that a recognizer or a NER model of the calling program found in a text. */
export interface RecognizedEntity extends Span {
  /** The type of the entity: `PERSON`, or a type that the program defines. */
  type: string;
  /** How sure the recognizer is, 0..1. The default is 1. */
  score?: number;
}

/**
 * A function of the calling program or of a plugin that finds personal data. When it throws or returns anything other than entities,
 * the scan fails.
 */
export type Recognizer = (
  text: string,
  context: { signal?: AbortSignal },
) => readonly RecognizedEntity[] | Promise<readonly RecognizedEntity[]>;

/** Matches a valid type. A type becomes a part of placeholders, which end with a bracket. */
export const TYPE = /^[^\s[\]<>]{1,100}$/u;

/**
 * Checks what code that is not guard's found. Anything other than entities must not count as "nothing found".
 *
 * @param recognizer the name of the code, for the error.
 * @throws TypeError that names the code and the field at fault, and quotes nothing of the text.
 */
export function checkedEntities(
  text: string,
  entities: readonly RecognizedEntity[],
  recognizer: string,
): Required<RecognizedEntity>[] {
  const refuse = (wrong: string) => {
    throw new TypeError(`${recognizer}: what it returned is no list of { start, end, type, score }: ${wrong}`);
  };
  if (!Array.isArray(entities)) refuse("it is no array");
  // Array.from visits holes as well, which map would leave out.
  return Array.from(entities, (entity, index) => {
    const { start, end, type, score = 1 } = entity ?? {};
    if (!isSpanOf(text, { start, end })) refuse(`start and end of ${index} are no part of the text`);
    if (typeof type !== "string" || !TYPE.test(type)) refuse(`type of ${index} is no name without spaces and brackets`);
    if (!isNumberIn(score, 0, 1)) refuse(`score of ${index} is no number from 0 to 1`);
    return { start, end, type, score };
  });
}

/** Converts what a recognizer returned into findings, after checking it. */
export function recognizedBy(recognizer: string, text: string, entities: readonly RecognizedEntity[]): PiiFinding[] {
  return checkedEntities(text, entities, recognizer).map(({ type, ...rest }) => ({
    ...rest,
    entity: type,
    recognizer,
  }));
}
