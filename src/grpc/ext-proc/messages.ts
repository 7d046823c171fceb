// The messages of Envoy's external processing API that guard reads and writes. Names and numbers of fields are those of
// https://www.envoyproxy.io/docs/envoy/latest/api-v3/service/ext_proc/v3/external_processor.proto and the pages that it links. gRPC ignores
// the fields that are left out here.
import { field, list, map, message, type Namespace, oneof } from "../descriptors.ts";
import { STRUCT, type Struct } from "../struct.ts";

/** How Envoy sends a body: `BodySendMode` of its processing mode. */
export const BODY_MODES = ["NONE", "STREAMED", "BUFFERED", "BUFFERED_PARTIAL", "FULL_DUPLEX_STREAMED"] as const;
export type BodyMode = (typeof BODY_MODES)[number];

/** `HeaderSendMode`: Envoy skips headers or trailers. */
export const SKIP = 2;

export interface HeaderValue {
  key: string;
  value?: string;
  rawValue?: Uint8Array;
}

export interface HttpHeaders {
  headers?: { headers?: HeaderValue[] };
  endOfStream?: boolean;
}

export interface HttpBody {
  body?: Buffer;
  endOfStream?: boolean;
}

/** A message of Envoy. It has exactly one of the first six fields. */
export interface ProcessingRequest {
  requestHeaders?: HttpHeaders;
  responseHeaders?: HttpHeaders;
  requestBody?: HttpBody;
  responseBody?: HttpBody;
  requestTrailers?: object;
  responseTrailers?: object;
  attributes?: Record<string, Struct>;
  observabilityMode?: boolean;
  /** Indexes of {@link BODY_MODES}. Only the first message has it, and only since Envoy 1.34. */
  protocolConfig?: { requestBodyMode?: number; responseBodyMode?: number };
}

/** `OVERWRITE_IF_EXISTS_OR_ADD`. */
const OVERWRITE = 2;

export interface HeaderMutation {
  setHeaders: { header: HeaderValue; appendAction: number }[];
  removeHeaders: string[];
}

/** Returns the mutation that sets and removes headers. */
export function headerMutation(set: Readonly<Record<string, string>>, remove: readonly string[] = []): HeaderMutation {
  const setHeaders = Object.entries(set).map(([key, value]) => ({
    header: { key, rawValue: Buffer.from(value, "latin1") },
    appendAction: OVERWRITE,
  }));
  return { setHeaders, removeHeaders: [...remove] };
}

export type BodyMutation =
  | { body: Uint8Array }
  | { clearBody: true }
  | { streamedResponse: { body: Uint8Array; endOfStream: boolean } };

/** The answer to a message with headers or a body. */
export interface CommonReply {
  response: { headerMutation?: HeaderMutation; bodyMutation?: BodyMutation };
}

/** An answer of guard. It has exactly one of the first seven fields. */
export interface ProcessingResponse {
  requestHeaders?: CommonReply;
  responseHeaders?: CommonReply;
  requestBody?: CommonReply;
  responseBody?: CommonReply;
  requestTrailers?: object;
  responseTrailers?: object;
  immediateResponse?: { status: { code: number }; headers: HeaderMutation; body: Uint8Array; details: string };
  dynamicMetadata?: Struct;
  modeOverride?: ProcessingMode;
}

/** Modes of a call, where the default 0 means no change. */
export interface ProcessingMode {
  responseHeaderMode?: number;
  requestBodyMode?: number;
  responseBodyMode?: number;
}

const common = message({ response: field("CommonResponse", 1) });

/** The service `envoy.service.ext_proc.v3.ExternalProcessor`. */
export const EXTERNAL_PROCESSOR: Namespace = {
  ...STRUCT,
  ExternalProcessor: {
    methods: {
      Process: {
        requestType: "ProcessingRequest",
        requestStream: true,
        responseType: "ProcessingResponse",
        responseStream: true,
      },
    },
  },
  ProcessingRequest: {
    oneofs: oneof("request", [
      ...["requestHeaders", "responseHeaders", "requestBody", "responseBody", "requestTrailers", "responseTrailers"],
    ]),
    ...message({
      requestHeaders: field("HttpHeaders", 2),
      responseHeaders: field("HttpHeaders", 3),
      requestBody: field("HttpBody", 4),
      responseBody: field("HttpBody", 5),
      requestTrailers: field("HttpTrailers", 6),
      responseTrailers: field("HttpTrailers", 7),
      attributes: map("Struct", 9),
      observabilityMode: field("bool", 10),
      protocolConfig: field("ProtocolConfiguration", 11),
    }),
  },
  ProtocolConfiguration: message({ requestBodyMode: field("int32", 1), responseBodyMode: field("int32", 2) }),
  HttpHeaders: message({ headers: field("HeaderMap", 1), endOfStream: field("bool", 3) }),
  HttpBody: message({ body: field("bytes", 1), endOfStream: field("bool", 2) }),
  HttpTrailers: message({ trailers: field("HeaderMap", 1) }),
  HeaderMap: message({ headers: list("HeaderValue", 1) }),
  HeaderValue: message({ key: field("string", 1), value: field("string", 2), rawValue: field("bytes", 3) }),
  ProcessingResponse: {
    oneofs: oneof("response", [
      ...["requestHeaders", "responseHeaders", "requestBody", "responseBody", "requestTrailers", "responseTrailers"],
      "immediateResponse",
    ]),
    ...message({
      requestHeaders: field("HeadersResponse", 1),
      responseHeaders: field("HeadersResponse", 2),
      requestBody: field("BodyResponse", 3),
      responseBody: field("BodyResponse", 4),
      requestTrailers: field("TrailersResponse", 5),
      responseTrailers: field("TrailersResponse", 6),
      immediateResponse: field("ImmediateResponse", 7),
      dynamicMetadata: field("Struct", 8),
      modeOverride: field("ProcessingMode", 9),
    }),
  },
  HeadersResponse: common,
  BodyResponse: common,
  TrailersResponse: message({ headerMutation: field("HeaderMutation", 1) }),
  CommonResponse: message({
    status: field("int32", 1),
    headerMutation: field("HeaderMutation", 2),
    bodyMutation: field("BodyMutation", 3),
  }),
  HeaderMutation: message({ setHeaders: list("HeaderValueOption", 1), removeHeaders: list("string", 2) }),
  HeaderValueOption: message({ header: field("HeaderValue", 1), appendAction: field("int32", 3) }),
  BodyMutation: {
    oneofs: oneof("mutation", ["body", "clearBody", "streamedResponse"]),
    ...message({
      body: field("bytes", 1),
      clearBody: field("bool", 2),
      streamedResponse: field("StreamedBodyResponse", 3),
    }),
  },
  StreamedBodyResponse: message({ body: field("bytes", 1), endOfStream: field("bool", 2) }),
  ImmediateResponse: message({
    status: field("HttpStatus", 1),
    headers: field("HeaderMutation", 2),
    body: field("bytes", 3),
    details: field("string", 5),
  }),
  HttpStatus: message({ code: field("int32", 1) }),
  ProcessingMode: message({
    requestHeaderMode: field("int32", 1),
    responseHeaderMode: field("int32", 2),
    requestBodyMode: field("int32", 3),
    responseBodyMode: field("int32", 4),
    requestTrailerMode: field("int32", 5),
    responseTrailerMode: field("int32", 6),
  }),
};
