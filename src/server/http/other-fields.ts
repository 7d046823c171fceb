import type { FastifyBaseLogger } from "fastify";
import type { z } from "zod";
import { Problem, pointerOf } from "../../http-server/problem.ts";
import { shortenKey } from "../../messages/json-strings.ts";
import { isRequestField } from "../../messages/request-fields.ts";
import { didYouMean } from "../../support/did-you-mean.ts";
import { isRecord } from "../../support/is-record.ts";

/** What happens to fields that guard does not know: they are named in the coverage, read by the scanners, or refused. */
export type UnknownFieldsMode = "report" | "read" | "refuse";

/** The fields of a body beside those of its route. */
export interface OtherFields {
  /** Fields that the scanners read, as those of a request to a model. */
  fields?: Record<string, unknown>;
  /** The names of fields that nothing reads: `title`, `documents[].title`. */
  unknownFields?: string[];
}

/** The known fields of a body. */
export interface KnownFields {
  names: ReadonlySet<string>;
  /** The known fields of objects in a list, by the name of the list. */
  items?: Readonly<Record<string, ReadonlySet<string>>>;
  /**
   * Whether the body may have fields of a request to a model, such as `response_format`: they are read, or known without being read because
   * the route judges something else.
   */
  requestFields?: "read" | "known";
}

/** Returns the names of the fields of a schema. */
export function namesOf({ shape }: z.ZodObject): ReadonlySet<string> {
  return new Set(Object.keys(shape));
}

/** The maximum number of names in the log, and in the coverage of a response. */
const MAX_NAMES = 50;

/** Finds the fields of bodies that guard does not know. */
export class UnknownFields {
  readonly #mode: UnknownFieldsMode;
  readonly #log: Pick<FastifyBaseLogger, "warn">;
  readonly #logged = new Set<string>();

  constructor(mode: UnknownFieldsMode, log: Pick<FastifyBaseLogger, "warn">) {
    this.#mode = mode;
    this.#log = log;
  }

  /**
   * Sorts the fields of a body beside those of its route.
   *
   * @throws Problem 422 for an unknown field, if they are refused.
   */
  take(body: object, known: KnownFields): OtherFields {
    const fields: Record<string, unknown> = {};
    const unknown: Record<string, unknown> = {};
    const names: string[] = [];
    for (const [name, value] of Object.entries(body)) {
      if (known.names.has(name)) continue;
      if (known.requestFields !== undefined && isRequestField(name)) {
        if (known.requestFields === "read") fields[name] = value;
        continue;
      }
      unknown[name] = value;
      names.push(name);
    }
    for (const [list, fieldsOfItem] of Object.entries(known.items ?? {})) {
      const others = itemFields((body as Record<string, unknown>)[list], fieldsOfItem);
      if (others.names.length === 0) continue;
      unknown[list] = others.items;
      names.push(...others.names.map((name) => `${list}[].${name}`));
    }
    if (names.length === 0) return Object.keys(fields).length > 0 ? { fields } : {};
    if (this.#mode === "refuse") throw refusal(names, known.names);
    if (this.#mode === "read") return { fields: Object.assign(fields, unknown) };
    const shown = names.slice(0, MAX_NAMES).map(shortenKey);
    this.#warn(shown);
    return Object.assign(Object.keys(fields).length > 0 ? { fields } : {}, { unknownFields: shown });
  }

  #warn(names: readonly string[]): void {
    const news = names.filter((name) => !this.#logged.has(name)).slice(0, MAX_NAMES - this.#logged.size);
    if (news.length === 0) return;
    for (const name of news) this.#logged.add(name);
    this.#log.warn(
      { fields: news },
      "requests have fields that guard does not know and does not read; see app.unknown_fields (each is logged once)",
    );
  }
}

/** Returns the unknown fields of objects in a list. */
function itemFields(list: unknown, known: ReadonlySet<string>): { names: string[]; items: unknown[] } {
  const names = new Set<string>();
  const items = (Array.isArray(list) ? list : []).map((item) => {
    if (!isRecord(item)) return null;
    const others = Object.entries(item).filter(([name]) => !known.has(name));
    for (const [name] of others) names.add(name);
    return Object.fromEntries(others);
  });
  return { names: [...names], items };
}

function refusal(names: readonly string[], known: ReadonlySet<string>): Problem {
  const errors = names.slice(0, MAX_NAMES).map((name) => {
    const [list, inner] = name.split("[].", 2) as [string, string?];
    return inner === undefined
      ? {
          pointer: pointerOf([shortenKey(name)]),
          detail: `is not a field of this request${didYouMean(name, [...known])}`,
        }
      : { pointer: pointerOf([list]), detail: `has objects with an unknown field ${shortenKey(inner)}` };
  });
  return new Problem(422, "The body has unknown fields.", { errors });
}
