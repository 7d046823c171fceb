// Starts the Python peers of the benchmarks. Every peer runs in its own process, because detect-secrets keeps the plugins of its first
// call.
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

/**
 * Prepares the peers of a script in peers/. Each starts at its first question.
 *
 * @param python the Python that runs the script; default: `GUARD_LLM_GUARD_PYTHON`.
 * @returns undefined without a Python; otherwise `measure`, whose argument the script documents, and `close`.
 */
export function startPeers(script, python = process.env.GUARD_LLM_GUARD_PYTHON) {
  if (!python) return undefined;
  const path = fileURLToPath(new URL(`peers/${script}`, import.meta.url));
  const running = new Map();
  return {
    measure(question) {
      if (!running.has(question.peer)) running.set(question.peer, start(python, path));
      return running.get(question.peer).measure(question);
    },
    close() {
      for (const peer of running.values()) peer.close();
    },
  };
}

function start(python, script) {
  const child = spawn(python, [script], { stdio: ["pipe", "pipe", "inherit"] });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const failed = new Promise((_, reject) => {
    child.once("error", reject);
    child.once("exit", (code) => reject(new Error(`the peer exited with code ${code}`)));
  });
  failed.catch(() => {});
  return {
    async measure(question) {
      child.stdin.write(`${JSON.stringify(question)}\n`);
      const { value, done } = await Promise.race([lines.next(), failed]);
      if (done) await failed;
      const answer = JSON.parse(value);
      if (answer.error) throw new Error(`${question.peer}: ${answer.error}`);
      return answer;
    },
    close() {
      child.stdin.end();
    },
  };
}

/** Prints how to measure the peers of an npm script too, with what `pip install` needs. */
export function printPeerHelp(script, requirements = "llm-guard==0.3.16") {
  console.log("SKIPPED: the peers. Only guard is measured. To compare it, use Python 3.10 to 3.12:");
  console.log(`  python -m venv env && env/bin/pip install ${requirements}`);
  console.log(`  GUARD_LLM_GUARD_PYTHON=env/bin/python npm run ${script}\n`);
}

/** The tokenizer and the sizes of the model in a folder, from which a peer makes a model of equal size. */
export function modelShape(folder) {
  const config = JSON.parse(readFileSync(join(folder, "config.json"), "utf8"));
  const sizes = ["hidden_size", "num_hidden_layers", "num_attention_heads", "intermediate_size"];
  const missing = sizes.filter((name) => config[name] === undefined);
  if (missing.length > 0) throw new Error(`${folder}/config.json lacks ${missing.join(", ")}`);
  return {
    tokenizer: join(folder, config.guard?.external_data ?? ".", "tokenizer.json"),
    config: Object.fromEntries(sizes.map((name) => [name, config[name]])),
  };
}
