// The program of a process that scans lines for `guard-scan scan --jsonl --processes`.

import { GuardError, GuardValidationError } from "../../support/errors.ts";
import { createLineScanner, type LineScanner } from "./line-scanner.ts";
import type { FromWorker, ToWorker } from "./messages.ts";

let scanner: LineScanner | undefined;

function reply(message: FromWorker): void {
  if (process.connected) process.send?.(message, undefined, undefined, () => {});
}

async function start(message: ToWorker & { kind: "start" }): Promise<void> {
  try {
    scanner = await createLineScanner(message.settings);
    reply({ kind: "ready" });
  } catch (error) {
    reply({
      ...{ kind: "refused", message: messageOf(error) },
      ...(error instanceof GuardValidationError ? { issues: error.issues } : {}),
      ...(error instanceof GuardError ? { code: error.code } : {}),
    });
  }
}

async function scan({ id, value }: ToWorker & { kind: "scan" }): Promise<void> {
  try {
    reply({ kind: "report", id, report: await (scanner as LineScanner).scan(value) });
  } catch (error) {
    reply({ kind: "error", id, message: messageOf(error) });
  }
}

const messageOf = (error: unknown) => (error instanceof Error ? error.message : String(error));

process.on("message", (message: ToWorker) => void (message.kind === "start" ? start(message) : scan(message)));
// The command has ended, or has closed the channel.
process.on("disconnect", () => process.exit());
// A terminal sends SIGINT to all processes. The command ends first, and then this one.
process.on("SIGINT", () => {});
// Messages that arrive before the program is loaded would be lost.
reply({ kind: "loaded" });
