// The public surface of `guard-scan/server`.

export { assertSafeToListen } from "../config/safe-address.ts";
export type { ScannerLists } from "../service/service.ts";
export { createServer, type ServerOptions } from "./create-server.ts";
export type { LogStream } from "./log.ts";
export type { RunningServer } from "./running-server.ts";
export type { ConfigSource } from "./start-log.ts";
export { type ListenOptions, type ReloadingServer, startServer } from "./start-server.ts";
