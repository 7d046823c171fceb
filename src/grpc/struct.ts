// `google.protobuf.Struct`: JSON as a message. Source of the field numbers: https://protobuf.dev/reference/protobuf/google.protobuf/#struct
import { isRecord } from "../support/is-record.ts";
import { field, list, map, message, type Namespace, oneof } from "./descriptors.ts";

/** A value of JSON. It has exactly one field. */
export interface StructValue {
  nullValue?: number;
  numberValue?: number;
  stringValue?: string;
  boolValue?: boolean;
  structValue?: Struct;
  listValue?: { values?: StructValue[] };
}

/** An object of JSON. */
export interface Struct {
  fields?: Record<string, StructValue>;
}

export const STRUCT: Namespace = {
  Struct: message({ fields: map("Value", 1) }),
  Value: {
    oneofs: oneof("kind", ["nullValue", "numberValue", "stringValue", "boolValue", "structValue", "listValue"]),
    ...message({
      nullValue: field("int32", 1),
      numberValue: field("double", 2),
      stringValue: field("string", 3),
      boolValue: field("bool", 4),
      structValue: field("Struct", 5),
      listValue: field("ListValue", 6),
    }),
  },
  ListValue: message({ values: list("Value", 1) }),
};

/** Converts an object to a struct. Fields without a value in JSON are left out. */
export function toStruct(object: Readonly<Record<string, unknown>>): Struct {
  const entries = Object.entries(object).filter(([, value]) => value !== undefined);
  return { fields: Object.fromEntries(entries.map(([name, value]) => [name, toValue(value)])) };
}

function toValue(value: unknown): StructValue {
  if (typeof value === "string") return { stringValue: value };
  if (typeof value === "number") return { numberValue: value };
  if (typeof value === "boolean") return { boolValue: value };
  if (Array.isArray(value)) return { listValue: { values: value.map(toValue) } };
  return isRecord(value) ? { structValue: toStruct(value) } : { nullValue: 0 };
}
