import type { EventEmitter } from "node:events";
import type { Duplex, Writable } from "node:stream";
import { lazyPackage } from "../support/lazy-package.ts";

// The parts of @grpc/grpc-js and @grpc/proto-loader that guard uses. With types of its own, guard compiles where the packages are missing.

/** What a client sends before its messages. */
interface Metadata {
  getMap(): Record<string, string | Buffer>;
}

/** A call whose client sends messages and gets messages. */
export interface DuplexCall extends Duplex {
  readonly metadata: Metadata;
}

/** A call with one message. */
export interface UnaryCall<Message> extends EventEmitter {
  readonly metadata: Metadata;
  readonly request: Message;
}

/** Returns the metadata of a call in the form of HTTP headers. */
export function metadataHeaders(metadata: Metadata): Record<string, string> {
  const entries = Object.entries(metadata.getMap());
  return Object.fromEntries(entries.map(([name, value]) => [name, String(value)]));
}

/** A call whose client gets messages. */
export type WritableCall = Writable;

/** Answers a call with one message. */
export type Reply<Message> = (error: null, message: Message) => void;

/** Functions by the names of the methods of a service. */
export type Handlers = Readonly<Record<string, (...args: never[]) => void>>;

interface KeyPair {
  cert_chain: Buffer;
  private_key: Buffer;
}

/** How clients prove who they are. */
export type ServerCredentials = object;

export interface Server {
  addService(definition: object, handlers: Handlers): void;
  bindAsync(
    address: string,
    credentials: ServerCredentials,
    onBound: (error: Error | null, port: number) => void,
  ): void;
  tryShutdown(onClosed: () => void): void;
  forceShutdown(): void;
}

interface GrpcPackage {
  Server: new (options: Record<string, number>) => Server;
  ServerCredentials: {
    createInsecure(): ServerCredentials;
    createSsl(rootCertificates: Buffer | null, pairs: KeyPair[], demandsCertificate: boolean): ServerCredentials;
  };
}

interface ProtoLoaderPackage {
  /** Returns the services of descriptors, by their full names. */
  fromJSON(root: object, options: { longs: typeof Number }): Record<string, object>;
}

export const grpcPackage = lazyPackage<GrpcPackage>("@grpc/grpc-js");

export const protoLoader = lazyPackage<ProtoLoaderPackage>("@grpc/proto-loader");

/** The code of the status UNAUTHENTICATED. Source: https://grpc.io/docs/guides/status-codes/ */
export const UNAUTHENTICATED = 16;
