import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";

/**
 * Tests that leave their process as they found it. They share a few processes, in which guard and its models are loaded once. The files
 * that are not here end their process, change its environment, or count what it loads: each of them gets a process of its own.
 */
const SHARING = [
  "integrations/**/*.test.ts",
  "test/{config,conformance,conversation,guard,mcp,messages,plugins,reference,scanners,stream,text,validation,wire}/**/*.test.ts",
  "test/cli/{calibrate,file-report,labelled,metrics,progress}.test.ts",
  "test/house/{changes,integrations,models,packages,workflows}.test.ts",
  "test/models/{answer-cache,entailment,meaning,spans,text-model,training-data}.test.ts",
  "test/server/{cache,dialects,plugins,routes,shadow}/**/*.test.ts",
  "test/server/{audit,profiles,safe-address,start-log}.test.ts",
  "test/{admission,agent-loop,conversation,conversation-sources,deploy,documents,evasion,imports,masking,observer,outcome,scan,scanner-names,service,vault}.test.ts",
];
/** Tests that take minutes of the processor, and run in a job of their own with `GUARD_SLOW`. */
const SLOW = ["test/package.test.ts", "test/adding-a-scanner.test.ts", "test/house/walkthrough.test.ts"];
const OTHERS = ["**/node_modules/**", "**/.venv/**", ...(process.env.GUARD_SLOW ? [] : SLOW)];

export default defineConfig({
  test: {
    pool: "forks",
    // Much of the time is spent waiting, for processes, servers and browsers.
    maxWorkers: Math.max(2, Math.ceil(availableParallelism() * 1.5)),
    testTimeout: 60_000,
    hookTimeout: 60_000,
    projects: [
      {
        extends: true,
        test: { name: "own process", include: ["test/**/*.test.ts"], exclude: [...OTHERS, ...SHARING] },
      },
      { extends: true, test: { name: "shared", include: SHARING, exclude: OTHERS, isolate: false } },
    ],
  },
});
