// What `guard proxy` is made of. Nothing here loads the addon; local-guard.ts does.
export { remoteGuard } from "./remote-guard.ts";
export { type ProxyOptions, startProxy } from "./start-proxy.ts";
