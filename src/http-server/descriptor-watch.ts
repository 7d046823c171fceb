import { readdirSync, readFileSync } from "node:fs";
import type { FastifyBaseLogger } from "fastify";

const INTERVAL_MS = 5000;
/** Shares of the limit. Above `FEW`, descriptors are about to run out. Below `ENOUGH`, they suffice again. */
const FEW = 0.9;
const ENOUGH = 0.8;

/**
 * Logs a line when a server's file descriptors are about to run out (Linux). The system then closes new connections without an error, so
 * this line is the only explanation for the refused clients.
 *
 * @returns a function that stops the checks.
 */
export function watchDescriptors(log: Pick<FastifyBaseLogger, "error" | "info">): () => void {
  const limit = descriptorLimit();
  if (limit === undefined) return () => {};
  let isLow = false;
  const look = () => {
    const open = openDescriptors();
    if (open === undefined) return;
    if (!isLow && open >= FEW * limit) {
      isLow = true;
      log.error({ open, limit }, "file descriptors are running out: new connections will be closed; raise ulimit -n");
    } else if (isLow && open <= ENOUGH * limit) {
      isLow = false;
      log.info({ open, limit }, "there are enough file descriptors again");
    }
  };
  const timer = setInterval(look, INTERVAL_MS).unref();
  return () => clearInterval(timer);
}

/** Returns the soft limit of open files (`/proc/self/limits`, proc(5)). */
function descriptorLimit(): number | undefined {
  try {
    const [, limit] = /^Max open files\s+(\d+)/m.exec(readFileSync("/proc/self/limits", "utf8")) ?? [];
    return limit === undefined ? undefined : Number(limit);
  } catch {
    return undefined;
  }
}

function openDescriptors(): number | undefined {
  try {
    return readdirSync("/proc/self/fd").length;
  } catch (error) {
    // Reading the list needs a descriptor.
    return (error as NodeJS.ErrnoException).code === "EMFILE" ? Number.POSITIVE_INFINITY : undefined;
  }
}
