#!/usr/bin/env node
import { audit } from "./audit.ts";
import { bench } from "./bench.ts";
import { calibrate } from "./calibrate.ts";
import { diff } from "./diff.ts";
import { doctor } from "./doctor.ts";
import { evaluate } from "./eval.ts";
import { extMcp } from "./ext-mcp.ts";
import { extProc } from "./ext-proc.ts";
import { hashText } from "./hash-text.ts";
import { init } from "./init.ts";
import { mcp } from "./mcp.ts";
import { models } from "./models.ts";
import { runProgram } from "./program.ts";
import { proxy } from "./proxy.ts";
import { scan } from "./scan.ts";
import { scanners } from "./scanners.ts";
import { serve } from "./serve.ts";

// Commands import the scanners and the addon only when they run, so that the help appears at once.
const commands = [
  serve,
  scan,
  proxy,
  extProc,
  extMcp,
  mcp,
  init,
  doctor,
  scanners,
  evaluate,
  calibrate,
  diff,
  bench,
  models,
  audit,
  hashText,
];

await runProgram(
  { name: "guard-scan", summary: "checks what goes into and comes out of large language models", commands },
  process.argv.slice(2),
);
