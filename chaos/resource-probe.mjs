// Preloaded into a server: replies to every IPC message with the open resources of the process.
import { openResources } from "./open-resources.mjs";

process.on("message", () => process.send(openResources()));
// The channel must not keep the server alive.
process.channel.unref();
