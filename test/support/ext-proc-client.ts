import { createRequire } from "node:module";
import type { Duplex } from "node:stream";
import { onTestFinished } from "vitest";
import {
  BODY_MODES,
  type BodyMode,
  EXTERNAL_PROCESSOR,
  type ProcessingRequest,
  type ProcessingResponse,
} from "../../src/grpc/ext-proc/messages.ts";

/** The parts of the packages that a client uses: guard compiles where they are missing. */
interface Grpc {
  Metadata: new () => { set(name: string, value: string): void };
  credentials: {
    createInsecure(): object;
    createSsl(root: Buffer | null, key: Buffer | null, cert: Buffer | null): object;
  };
  makeGenericClientConstructor(definition: object, name: string): new (address: string, credentials: object) => Client;
}

interface Client {
  process(metadata: object): Call;
  close(): void;
}

interface Call extends Duplex {
  cancel(): void;
}

interface ServiceError extends Error {
  code: number;
}

const require = createRequire(import.meta.url);
export const grpc = require("@grpc/grpc-js") as Grpc;
const protoLoader = require("@grpc/proto-loader") as { fromJSON(root: object): Record<string, object> };

const root = {
  nested: {
    envoy: { nested: { service: { nested: { ext_proc: { nested: { v3: { nested: EXTERNAL_PROCESSOR } } } } } } },
  },
};
const definitions = protoLoader.fromJSON(root);
const EnvoyClient = grpc.makeGenericClientConstructor(
  definitions["envoy.service.ext_proc.v3.ExternalProcessor"] as object,
  "ExternalProcessor",
);

const bytes = (text: string) => Buffer.from(text);
const headerMap = (headers: Record<string, string>) => ({
  headers: Object.entries(headers).map(([key, value]) => ({ key, rawValue: bytes(value) })),
});

export interface ClientOptions {
  credentials?: object;
  metadata?: Record<string, string>;
}

/** A data plane, which opens one call for each HTTP request. */
export class ExtProcClient {
  readonly #client: Client;
  readonly #metadata = new grpc.Metadata();
  readonly #streams: ExtProcStream[] = [];

  constructor(port: number, { credentials = grpc.credentials.createInsecure(), metadata = {} }: ClientOptions = {}) {
    this.#client = new EnvoyClient(`localhost:${port}`, credentials);
    for (const [name, value] of Object.entries(metadata)) this.#metadata.set(name, value);
    onTestFinished(() => {
      // The server would wait for calls in progress.
      for (const stream of this.#streams) stream.call.cancel();
      this.#client.close();
    });
  }

  open(request: BodyMode | undefined = "BUFFERED", response: BodyMode | undefined = request): ExtProcStream {
    const call = this.#client.process(this.#metadata);
    const stream = new ExtProcStream(call, { request, response });
    this.#streams.push(stream);
    return stream;
  }
}

/** One call: the messages about a request and its response. */
export class ExtProcStream {
  readonly call: Call;
  readonly replies: ProcessingResponse[] = [];
  observes = false;
  error: ServiceError | undefined;
  #isFirst = true;
  readonly #modes: { request: BodyMode; response: BodyMode };
  readonly #ended: Promise<unknown>;

  constructor(call: Call, modes: { request: BodyMode; response: BodyMode }) {
    this.call = call;
    this.#modes = modes;
    call.on("data", (reply: ProcessingResponse) => {
      this.replies.push(reply);
      call.emit("reply");
    });
    call.on("error", (error: ServiceError) => {
      this.error = error;
    });
    const ended = new Promise((resolve) => call.once("end", resolve));
    this.#ended = new Promise((resolve) => {
      // With a good status, replies may still arrive.
      call.once("status", ({ code }) => resolve(code === 0 ? ended : undefined));
    });
  }

  send(message: ProcessingRequest): this {
    const protocolConfig = {
      requestBodyMode: BODY_MODES.indexOf(this.#modes.request),
      responseBodyMode: BODY_MODES.indexOf(this.#modes.response),
    };
    const observed = this.observes ? { observabilityMode: true } : {};
    this.call.write({ ...message, ...observed, ...(this.#isFirst ? { protocolConfig } : {}) });
    this.#isFirst = false;
    return this;
  }

  requestHeaders(
    path = "/v1/chat/completions",
    {
      endOfStream = false,
      method = "POST",
      ...headers
    }: { endOfStream?: boolean; method?: string } & Record<string, unknown> = {},
  ): this {
    const all = {
      ":method": method,
      ":path": path,
      ":authority": "models",
      "content-type": "application/json",
      ...headers,
    };
    return this.send({ requestHeaders: { headers: headerMap(all as Record<string, string>), endOfStream } });
  }

  requestBody(body: unknown, endOfStream = true): this {
    const text = typeof body === "string" ? body : JSON.stringify(body);
    return this.send({ requestBody: { body: bytes(text), endOfStream } });
  }

  responseHeaders(headers: Record<string, string> = {}, endOfStream = false): this {
    const all = { ":status": "200", "content-type": "application/json", ...headers };
    return this.send({ responseHeaders: { headers: headerMap(all), endOfStream } });
  }

  responseBody(body: unknown, endOfStream = true): this {
    const text = typeof body === "string" ? body : JSON.stringify(body);
    return this.send({ responseBody: { body: bytes(text), endOfStream } });
  }

  /** Waits for the next reply. */
  async next(): Promise<ProcessingResponse> {
    while (this.replies.length === 0) {
      await Promise.race([new Promise((resolve) => this.call.once("reply", resolve)), this.#fail()]);
    }
    return this.replies.shift() as ProcessingResponse;
  }

  async #fail(): Promise<never> {
    await this.#ended;
    // Replies may arrive with the status.
    await new Promise(setImmediate);
    if (this.replies.length > 0) return undefined as never;
    throw this.error ?? new Error("the server ended the call");
  }

  /** Waits for the end of the call, and returns the code of its status. */
  async ended(): Promise<number> {
    await this.#ended;
    return this.error?.code ?? 0;
  }

  end(): this {
    this.call.end();
    return this;
  }
}

/** Returns the body of a reply as text. */
export function bodyOf(reply: ProcessingResponse): string {
  const mutation = (reply.requestBody ?? reply.responseBody)?.response.bodyMutation;
  if (!mutation || "clearBody" in mutation) return "";
  return Buffer.from("body" in mutation ? mutation.body : mutation.streamedResponse.body).toString();
}

/** Returns the headers that a reply sets. */
export function headersOf(reply: ProcessingResponse): Record<string, string> {
  const { requestHeaders, responseHeaders, requestBody, responseBody, immediateResponse } = reply;
  const common = requestHeaders ?? responseHeaders ?? requestBody ?? responseBody;
  const mutation = immediateResponse?.headers ?? common?.response.headerMutation;
  const entries = mutation?.setHeaders ?? [];
  return Object.fromEntries(entries.map(({ header }) => [header.key, Buffer.from(header.rawValue ?? "").toString()]));
}

/** Returns the status and the body of a reply that refuses a call. */
export function refusalOf({ immediateResponse }: ProcessingResponse): { status: number; body: unknown } {
  return {
    status: immediateResponse?.status.code ?? 0,
    body: JSON.parse(Buffer.from(immediateResponse?.body ?? "").toString()),
  };
}
