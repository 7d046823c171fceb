import { cpus, freemem, totalmem } from "node:os";
import { thisMachine } from "../service/admission/machine.ts";

/** Less free memory than this may not hold the models of guard's own configuration. */
const LITTLE_MEMORY = 1e9;

/** What looking at something found: nothing to worry about, or also what is risky and what to do. */
export type Found = string | { text: string; warning: string };

/** The system: kernel, processor and C library, for which an addon is built. */
export function system(): string {
  const { glibcVersionRuntime } = reportHeader();
  const libc = glibcVersionRuntime ? `, glibc ${glibcVersionRuntime}` : process.platform === "linux" ? ", musl" : "";
  return `${process.platform} ${process.arch}${libc}`;
}

function reportHeader(): { glibcVersionRuntime?: string } {
  const report = process.report as typeof process.report & { excludeNetwork?: boolean };
  // Without this the report looks up the names of all open connections.
  report.excludeNetwork = true;
  return (report.getReport() as unknown as { header: { glibcVersionRuntime?: string } }).header;
}

/** The processors that this process may use, and those of the machine. */
export function processors(): Found {
  const { processors } = thisMachine;
  const [first] = cpus();
  const text = `${processors} of ${cpus().length}${first ? `, ${first.model.trim()}` : ""}`;
  if (processors >= 2) return text;
  return { text, warning: "With one processor requests wait for models: give the container two or more." };
}

/** The memory of this process, what is free, and the most that its container may have. */
export function memory(): Found {
  const free = freeMemory();
  const limit = process.constrainedMemory();
  const isLimited = limit > 0 && limit < totalmem();
  const text = `${megabytes(free)} free, ${isLimited ? `limited to ${megabytes(limit)}` : "no limit"}, this process has ${megabytes(process.memoryUsage.rss())}`;
  if (free >= LITTLE_MEMORY) return text;
  return { text, warning: "All models together may need 1 GB: free some, or raise the limit of the container." };
}

/** What a container leaves counts, not what the machine has. */
function freeMemory(): number {
  const available = (process as { availableMemory?: () => number }).availableMemory?.();
  return available !== undefined && available > 0 ? available : freemem();
}

/** A number of bytes for people. */
export function megabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(0)} MB`;
}
