// Starts the Python side of the benchmarks. Every peer has a process of its own, since detect-secrets keeps the plugins with which it
// was first called.
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

/**
 * Starts the peers of a script in peers/ with a Python, by default the one that GUARD_LLM_GUARD_PYTHON names.
 *
 * @returns undefined where there is none; else `measure`, which takes the object that the script describes, and `close`.
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
    child.once("exit", (code) => reject(new Error(`the peer ended with code ${code}`)));
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

/** The tokenizer and the sizes of a model in a folder, so that a peer's model can have the same. */
export function shapeOf(folder) {
  const config = JSON.parse(readFileSync(join(folder, "config.json"), "utf8"));
  const sizes = ["hidden_size", "num_hidden_layers", "num_attention_heads", "intermediate_size"];
  const missing = sizes.filter((name) => config[name] === undefined);
  if (missing.length > 0) throw new Error(`${folder}/config.json does not say ${missing.join(", ")}`);
  return {
    tokenizer: join(folder, "tokenizer.json"),
    config: Object.fromEntries(sizes.map((name) => [name, config[name]])),
  };
}
