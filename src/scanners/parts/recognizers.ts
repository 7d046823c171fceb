import type { PiiFinding } from "../../native.ts";
import type { Span } from "../../text/span.ts";
import { isNumberIn, isSpanOf } from "../../text/span.ts";

/** An entity that a {@link Recognizer} or a custom NER model found in a text. */
export interface RecognizedEntity extends Span {
  /** The type: `PERSON`, or a type of the program. */
  type: string;
  /** The confidence, 0..1. The default is 1. */
  score?: number;
}

/**
 * A function of the calling program or of a plugin that finds personal data. If it throws or returns anything but entities, the scan fails.
 */
export type Recognizer = (
  text: string,
  context: { signal?: AbortSignal },
) => readonly RecognizedEntity[] | Promise<readonly RecognizedEntity[]>;

/** Matches a valid type. Placeholders contain the type and end with a bracket. */
export const ENTITY_TYPE = /^[^\s[\]<>]{1,100}$/u;

/**
 * Validates the entities of code that is not guard's. Anything but entities must not count as "nothing found".
 *
 * @param recognizer the name of that code, for the error.
 * @throws TypeError that names that code and the field at fault, and quotes nothing of the text.
 */
export function checkedEntities(
  text: string,
  entities: readonly RecognizedEntity[],
  recognizer: string,
): Required<RecognizedEntity>[] {
  const refuse = (wrong: string) => {
    throw new TypeError(`${recognizer}: its result is not a list of { start, end, type, score }: ${wrong}`);
  };
  if (!Array.isArray(entities)) refuse("it is not an array");
  // Array.from visits holes as well, which map would leave out.
  return Array.from(entities, (entity, index) => {
    const { start, end, type, score = 1 } = entity ?? {};
    if (!isSpanOf(text, { start, end })) refuse(`start and end of ${index} are not a part of the text`);
    if (typeof type !== "string" || !ENTITY_TYPE.test(type))
      refuse(`type of ${index} is not a name without spaces and brackets`);
    if (!isNumberIn(score, 0, 1)) refuse(`score of ${index} is not a number from 0 to 1`);
    return { start, end, type, score };
  });
}

/** Validates the entities of a recognizer, and converts them to findings. */
export function findingsOfRecognizer(
  recognizer: string,
  text: string,
  entities: readonly RecognizedEntity[],
): PiiFinding[] {
  return checkedEntities(text, entities, recognizer).map(({ type, ...rest }) => ({
    ...rest,
    entity: type,
    recognizer,
  }));
}
