import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";

/** Test files that exit their process, change its environment, or measure what it loads. Each one gets a process of its own. */
const ISOLATED = "**/*.isolated.test.ts";
/** Test files that need minutes of CPU time. They run only with `GUARD_SLOW`, each in a process of its own. */
const SLOW = "**/*.slow.test.ts";
const IGNORED = ["**/node_modules/**", "**/.venv/**"];

export default defineConfig({
  test: {
    pool: "forks",
    // Most tests wait for processes, servers and browsers, so there are more workers than cores.
    maxWorkers: Math.max(2, Math.ceil(availableParallelism() * 1.5)),
    testTimeout: 60_000,
    hookTimeout: 60_000,
    projects: [
      {
        extends: true,
        test: { name: "isolated", include: [ISOLATED, ...(process.env.GUARD_SLOW ? [SLOW] : [])], exclude: IGNORED },
      },
      {
        // These files share a few processes, so that guard and its models are loaded once per process.
        extends: true,
        test: {
          name: "shared",
          include: ["{test,integrations}/**/*.test.ts"],
          exclude: [...IGNORED, ISOLATED, SLOW],
          isolate: false,
        },
      },
    ],
  },
});
