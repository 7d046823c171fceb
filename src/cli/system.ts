import { cpus, freemem, totalmem } from "node:os";
import { thisMachine } from "../support/machine.ts";

/** The free memory that the models of guard's own configuration may need, in bytes. */
const NEEDED_MEMORY = 1e9;

/** What an examination found, with a warning if something is risky. */
export type Finding = string | { text: string; warning: string };

/** The platform of the addon: operating system, processor and C library. */
export function system(): string {
  const { glibcVersionRuntime } = reportHeader();
  const libc = glibcVersionRuntime ? `, glibc ${glibcVersionRuntime}` : process.platform === "linux" ? ", musl" : "";
  return `${process.platform} ${process.arch}${libc}`;
}

function reportHeader(): { glibcVersionRuntime?: string } {
  const report = process.report as typeof process.report & { excludeNetwork?: boolean };
  // Otherwise the report resolves the host names of all open connections.
  report.excludeNetwork = true;
  return (report.getReport() as unknown as { header: { glibcVersionRuntime?: string } }).header;
}

/** The number of processors that this process may use, and of the machine. */
export function processors(): Finding {
  const { processors } = thisMachine;
  const [first] = cpus();
  const text = `${processors} of ${cpus().length}${first ? `, ${first.model.trim()}` : ""}`;
  if (processors >= 2) return text;
  return { text, warning: "With one processor, requests wait for models. Give the container two or more." };
}

/** The free memory, the limit of the container, and the memory of this process. */
export function memory(): Finding {
  const free = freeMemory();
  const limit = process.constrainedMemory();
  const isLimited = limit > 0 && limit < totalmem();
  const text = `${megabytes(free)} free, ${isLimited ? `limited to ${megabytes(limit)}` : "no limit"}, this process has ${megabytes(process.memoryUsage.rss())}`;
  if (free >= NEEDED_MEMORY) return text;
  return { text, warning: "All models together may need 1 GB. Free some memory, or raise the limit of the container." };
}

/** The free memory of the container, if there is one, otherwise of the machine. */
function freeMemory(): number {
  const available = (process as { availableMemory?: () => number }).availableMemory?.();
  return available !== undefined && available > 0 ? available : freemem();
}

/** Formats a number of bytes: `12 MB`. */
export function megabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(0)} MB`;
}
