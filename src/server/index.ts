// The public surface of `guard-scan/server`.
export type { ScannerLists } from "../service.ts";
export { createServer, type ServerOptions } from "./create-server.ts";
export type { LogStream } from "./log.ts";
export { assertSafeToListen } from "./safe-address.ts";
export type { ConfigSource } from "./start-log.ts";
export { type ListenOptions, type RunningServer, startServer } from "./start-server.ts";
