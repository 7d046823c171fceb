// What a benchmark ran on.
import { availableParallelism, cpus, loadavg } from "node:os";

/** The machine, and what else it does: a load of more than nothing makes every number worse. */
export function machineNow() {
  return {
    cpu: cpus()[0]?.model.trim(),
    cores: availableParallelism(),
    platform: `${process.platform} ${process.arch}`,
    node: process.version,
    loadBefore: loadavg()[0],
  };
}

/** One line that says so. */
export function describe({ cpu, cores, platform, node, loadBefore }) {
  return `${cpu}, ${cores} cores, ${platform}, node ${node}, load ${loadBefore.toFixed(1)}`;
}
