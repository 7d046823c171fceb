import {
  CORE_SCHEMA,
  constructFromEvents,
  EVENT_ID,
  type Event,
  getScalarValue,
  mergeTag,
  parseEvents,
  YAMLException,
} from "js-yaml";
import { GuardValidationError } from "../support/errors.ts";

/** A parsed YAML file. */
export interface YamlSource {
  value: unknown;
  /** Returns the line, from 1, of the value at a path, or of its closest parent. */
  lineOf(path: string): number | undefined;
}

/**
 * Parses one YAML 1.2 document. Duplicate keys, unknown tags and a second document are errors.
 *
 * @throws GuardValidationError with the line. The message does not quote the file, which may contain secrets.
 */
export function parseYaml(text: string): YamlSource {
  let events: Event[];
  let documents: unknown[];
  try {
    events = parseEvents(text, { maxDepth: 64 });
    documents = constructFromEvents(events, { source: text, schema: CORE_SCHEMA.withTags(mergeTag), maxAliases: 100 });
  } catch (error) {
    if (!(error instanceof YAMLException)) throw error;
    const line = error.mark ? ` (line ${error.mark.line + 1})` : "";
    const reason = error.reason
      .replace(/".*"/s, '"…"')
      .replace(/!<.*>/s, "!…")
      .replace(/(?<=characters: ).*/s, "…");
    throw new GuardValidationError([{ path: "", message: `not valid YAML: ${reason}${line}` }]);
  }
  if (documents.length > 1) {
    throw new GuardValidationError([{ path: "", message: "expected one YAML document, got several" }]);
  }
  const offsets = offsetsByPath(text, events);
  return {
    value: documents[0],
    lineOf(path) {
      for (let at = path; at; at = at.slice(0, Math.max(0, at.lastIndexOf(".")))) {
        const offset = offsets.get(at);
        if (offset !== undefined) return text.slice(0, offset).split("\n").length;
      }
      return undefined;
    },
  };
}

/** Returns the offsets of values in the text of a document, by path. */
function offsetsByPath(text: string, events: readonly Event[]): Map<string, number> {
  const offsets = new Map<string, number>();
  let next = 0;

  const walk = (path: string): void => {
    const event = events[next++];
    if (event?.type === EVENT_ID.SEQUENCE) {
      offsets.set(path, event.start);
      for (let index = 0; !ends(); index++) walk(path ? `${path}.${index}` : String(index));
      next++;
    } else if (event?.type === EVENT_ID.MAPPING) {
      offsets.set(path, event.start);
      while (!ends()) {
        const key = events[next];
        if (key?.type !== EVENT_ID.SCALAR) {
          // A path cannot contain a key that is a list or an object.
          walk("\0");
          walk("\0");
          continue;
        }
        next++;
        const name = getScalarValue(text, key);
        const child = path ? `${path}.${name}` : name;
        walk(child);
        offsets.set(child, key.valueStart);
      }
      next++;
    } else if (event?.type === EVENT_ID.SCALAR) {
      offsets.set(path, event.valueStart);
    }
  };
  const ends = () => next >= events.length || events[next]?.type === EVENT_ID.POP;

  while (next < events.length) {
    if (events[next]?.type === EVENT_ID.DOCUMENT || events[next]?.type === EVENT_ID.POP) next++;
    else walk("");
  }
  return offsets;
}
