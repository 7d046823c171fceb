import { runProgram } from "../src/cli/program.ts";
import { benchPage } from "./bench-page.ts";
import { evaluateModels } from "./eval.ts";
import { generate } from "./generate.ts";

await runProgram(
  {
    name: "npm run tool --",
    summary: "tools for developers of guard, which are not in the npm package",
    commands: [generate, evaluateModels, benchPage],
  },
  process.argv.slice(2),
);
