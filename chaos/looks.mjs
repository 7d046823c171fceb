// Loaded into a server before guard: tells whoever started the server what is open in its process.
import { open } from "./open.mjs";

process.on("message", () => process.send(open()));
// The server ends as it would without anybody to tell.
process.channel.unref();
