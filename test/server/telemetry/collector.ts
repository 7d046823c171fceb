import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";

/** A span as the collector received it. Times are in nanoseconds. */
export interface ReceivedSpan {
  name: string;
  traceId: string;
  spanId: string;
  parentSpanId: string;
  traceState: string;
  /** 1 internal, 2 server. */
  kind: number;
  start: bigint;
  end: bigint;
  /** 0 unset, 1 ok, 2 error. */
  status: number;
  attributes: Attributes;
}

/** A value of a metric as the collector received it. */
export interface ReceivedPoint {
  attributes: Attributes;
  value?: number;
  count?: number;
  sum?: number;
  counts?: number[];
  bounds?: number[];
}

export interface ReceivedMetric {
  name: string;
  unit: string;
  kind: "gauge" | "sum" | "histogram";
  isMonotonic: boolean;
  points: ReceivedPoint[];
}

export type Attributes = Record<string, unknown>;

/** The fields of a message in the wire format of Protocol Buffers, by number. */
type Message = Map<number, (bigint | Buffer)[]>;

/**
 * Reads the wire format (protobuf.dev/programming-guides/encoding). It is independent of the code under test: the field
 * numbers below are those of opentelemetry-proto.
 */
function read(bytes: Buffer): Message {
  const fields: Message = new Map();
  let at = 0;
  const varint = (): bigint => {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = BigInt(bytes.readUInt8(at++));
      value |= (byte & 127n) << shift;
      if (byte < 128n) return value;
    }
  };
  const take = (length: number) => {
    if (at + length > bytes.length) throw new Error("the message is cut off");
    at += length;
    return bytes.subarray(at - length, at);
  };
  while (at < bytes.length) {
    const tag = varint();
    const field = Number(tag >> 3n);
    const type = Number(tag & 7n);
    if (![0, 1, 2, 5].includes(type)) throw new Error(`wire type ${type}`);
    const value = type === 0 ? varint() : take(type === 1 ? 8 : type === 5 ? 4 : Number(varint()));
    fields.set(field, [...(fields.get(field) ?? []), value]);
  }
  return fields;
}

const all = (message: Message, field: number) => (message.get(field) ?? []) as Buffer[];
const messages = (message: Message, field: number) => all(message, field).map(read);
const bytes = (message: Message, field: number) => all(message, field).at(-1) ?? Buffer.alloc(0);
const text = (message: Message, field: number) => bytes(message, field).toString("utf8");
const number = (message: Message, field: number) => Number(message.get(field)?.at(-1) ?? 0);

function attributesOf(message: Message, field: number): Attributes {
  return Object.fromEntries(messages(message, field).map((pair) => [text(pair, 1), anyValue(read(bytes(pair, 2)))]));
}

function anyValue(value: Message): unknown {
  const [field] = [...value.keys()];
  if (field === 1) return text(value, 1);
  if (field === 2) return number(value, 2) === 1;
  if (field === 3) return number(value, 3);
  if (field === 4) return bytes(value, 4).readDoubleLE();
  if (field === 5) return messages(read(bytes(value, 5)), 1).map(anyValue);
  throw new Error(`an attribute of the kind ${field}`);
}

function spansOf(body: Buffer): { resource: Attributes; spans: ReceivedSpan[] }[] {
  return messages(read(body), 1).map((group) => ({
    resource: attributesOf(read(bytes(group, 1)), 1),
    spans: messages(group, 2)
      .flatMap((scope) => messages(scope, 2))
      .map((span) => ({
        traceId: bytes(span, 1).toString("hex"),
        spanId: bytes(span, 2).toString("hex"),
        traceState: text(span, 3),
        parentSpanId: bytes(span, 4).toString("hex"),
        name: text(span, 5),
        kind: number(span, 6),
        start: bytes(span, 7).readBigUInt64LE(),
        end: bytes(span, 8).readBigUInt64LE(),
        attributes: attributesOf(span, 9),
        status: number(read(bytes(span, 15)), 3),
      })),
  }));
}

function metricsOf(body: Buffer): { resource: Attributes; metrics: ReceivedMetric[] }[] {
  return messages(read(body), 1).map((group) => ({
    resource: attributesOf(read(bytes(group, 1)), 1),
    metrics: messages(group, 2)
      .flatMap((scope) => messages(scope, 2))
      .map((metric) => {
        const kind = metric.has(5) ? "gauge" : metric.has(7) ? "sum" : "histogram";
        const data = read(bytes(metric, { gauge: 5, sum: 7, histogram: 9 }[kind]));
        const points = messages(data, 1).map((point) => (kind === "histogram" ? bucketsOf(point) : pointOf(point)));
        return { name: text(metric, 1), unit: text(metric, 3), kind, isMonotonic: number(data, 3) === 1, points };
      }),
  }));
}

function pointOf(point: Message): ReceivedPoint {
  return { attributes: attributesOf(point, 7), value: bytes(point, 4).readDoubleLE() };
}

function bucketsOf(point: Message): ReceivedPoint {
  const packed = (field: number) => {
    const values = bytes(point, field);
    return Array.from({ length: values.length / 8 }, (_, index) => values.subarray(index * 8, index * 8 + 8));
  };
  return {
    attributes: attributesOf(point, 9),
    count: Number(bytes(point, 4).readBigUInt64LE()),
    sum: bytes(point, 5).readDoubleLE(),
    counts: packed(6).map((value) => Number(value.readBigUInt64LE())),
    bounds: packed(7).map((value) => value.readDoubleLE()),
  };
}

/** How the collector responds: with a status, or never. */
export type Answering = { status: number } | "never";

/** Starts a collector for the test. It accepts OTLP over HTTP in Protocol Buffers, and keeps everything that it receives. */
export async function collector(answering: Answering = { status: 200 }) {
  const bodies: Buffer[] = [];
  const requests: { path: string; headers: IncomingHttpHeaders }[] = [];
  const traces: ReturnType<typeof spansOf> = [];
  const metrics: ReturnType<typeof metricsOf> = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const body = Buffer.concat(chunks);
    const path = request.url ?? "";
    bodies.push(body);
    requests.push({ path, headers: request.headers });
    if (path.endsWith("/v1/traces")) traces.push(...spansOf(body));
    if (path.endsWith("/v1/metrics")) metrics.push(...metricsOf(body));
    if (answering !== "never") response.writeHead(answering.status, { "content-type": "application/x-protobuf" }).end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    /** All received bytes. */
    bytes: () => Buffer.concat(bodies),
    resources: () => [...traces, ...metrics].map(({ resource }) => resource),
    spans: () => traces.flatMap(({ spans }) => spans),
    metrics: () => metrics.flatMap((group) => group.metrics),
  };
}
