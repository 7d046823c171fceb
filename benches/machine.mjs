// The machine that a benchmark runs on.
import { availableParallelism, cpus, loadavg, totalmem } from "node:os";

/** The machine and its load before the run. Other processes on the machine make every figure worse. */
export function machineInfo() {
  return {
    cpu: cpus()[0]?.model.trim(),
    cores: availableParallelism(),
    memoryGb: Math.round(totalmem() / 2 ** 30),
    platform: `${process.platform} ${process.arch}`,
    node: process.version,
    loadBefore: loadavg()[0],
  };
}

/** The machine as one line of text. */
export function formatMachine({ cpu, cores, memoryGb, platform, node, loadBefore }) {
  return `${cpu}, ${cores} cores, ${memoryGb} GB, ${platform}, node ${node}, load ${loadBefore.toFixed(1)}`;
}
