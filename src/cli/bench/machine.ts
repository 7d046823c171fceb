import { cpus } from "node:os";
import { thisMachine } from "../../service/admission/machine.ts";
import { system } from "../system.ts";

/** The machine that figures were measured on. */
export interface MachineFacts {
  system: string;
  /** The processors that this process may use. */
  processors: number;
  /** What the first processor is called, where the system says it. */
  model?: string;
  node: string;
}

/** Looks at this machine. */
export function machineFacts(): MachineFacts {
  const model = cpus()[0]?.model.trim();
  return {
    system: system(),
    processors: thisMachine.processors,
    ...(model ? { model } : {}),
    node: process.version,
  };
}
