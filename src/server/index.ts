// The public surface of `guard-scan/server`.

export { assertSafeToListen } from "../config/safe-address.ts";
export type { RunningServer } from "../http-server/listen-until-closed.ts";
export type { LogStream } from "../http-server/log.ts";
export type { ConfigSource } from "../http-server/start-log.ts";
export type { ScannerLists } from "../scan/scanner.ts";
export { createServer, type ServerOptions } from "./create-server.ts";
export { type ListenOptions, type ReloadingServer, startServer } from "./process/start-server.ts";
