import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts", "integrations/**/*.test.ts"],
    exclude: ["**/node_modules/**", "**/.venv/**"],
    // Each test file gets a process, because some files end it, change its environment or count what it loads.
    pool: "forks",
    // Much of the time is spent waiting, for processes, servers and browsers.
    maxWorkers: Math.max(2, Math.ceil(availableParallelism() * 1.5)),
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
});
