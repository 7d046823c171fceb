// The parts of `guard proxy` that do not load the addon.
export { remoteGuard } from "./remote-guard.ts";
export { type ProxyOptions, startProxy } from "./start-proxy.ts";
