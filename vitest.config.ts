import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    // A process for each file: some end theirs, change its environment or count what it loads.
    pool: "forks",
    // Much of the time is spent waiting, for processes, servers and browsers.
    maxWorkers: Math.max(2, Math.ceil(availableParallelism() * 1.5)),
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
});
