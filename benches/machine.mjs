// What a benchmark ran on.
import { availableParallelism, cpus, loadavg } from "node:os";

/** The machine and its load before the run. Other work on the machine makes every figure worse. */
export function machineNow() {
  return {
    cpu: cpus()[0]?.model.trim(),
    cores: availableParallelism(),
    platform: `${process.platform} ${process.arch}`,
    node: process.version,
    loadBefore: loadavg()[0],
  };
}

/** The same as one line of text. */
export function describe({ cpu, cores, platform, node, loadBefore }) {
  return `${cpu}, ${cores} cores, ${platform}, node ${node}, load ${loadBefore.toFixed(1)}`;
}
