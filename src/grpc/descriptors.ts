// Descriptors of Protocol Buffers as JSON, in the format of `fromJSON` of @grpc/proto-loader.

interface Field {
  type: string;
  id: number;
  rule?: "repeated";
  keyType?: "string";
}

interface Message {
  fields: Record<string, Field>;
  oneofs?: Record<string, { oneof: string[] }>;
}

interface Service {
  methods: Record<
    string,
    { requestType: string; requestStream?: boolean; responseType: string; responseStream?: boolean }
  >;
}

/** The messages and services of a package. */
export type Namespace = Record<string, Message | Service>;

export function message(fields: Message["fields"]): Message {
  return { fields };
}

export function field(type: string, id: number): Field {
  return { type, id };
}

export function list(type: string, id: number): Field {
  return { rule: "repeated", type, id };
}

/** A map with texts as keys. */
export function map(type: string, id: number): Field {
  return { keyType: "string", type, id };
}

/** A group of fields of which a message has one. */
export function oneof(name: string, fields: string[]): Record<string, { oneof: string[] }> {
  return { [name]: { oneof: fields } };
}
