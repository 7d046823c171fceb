import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { freePort } from "./http-server.ts";
import { waitUntilUp } from "./wait-until-up.ts";

/** The path of the program `litellm` of an environment with `litellm[proxy]`. */
const PROGRAM = process.env.GUARD_LITELLM;

/** The key of the proxy's administrator, which its clients use. */
const KEY = "sk-guard-local-test-master-key";

/** How long a vitest hook that starts a proxy may take, in milliseconds. */
export const LITELLM_START_TIMEOUT = 120_000;

export interface LiteLlmReply {
  status: number;
  text: string;
  // biome-ignore lint/suspicious/noExplicitAny: bodies of several APIs
  json: any;
}

/** A running proxy of LiteLLM. */
export interface LiteLlmProxy {
  /** Sends a JSON body to a path. */
  post(path: string, body: unknown): Promise<LiteLlmReply>;
  stop(): void;
}

/** Whether the program is there. If not, prints that `subject` was not tested. */
export function hasLiteLlm(subject: string): boolean {
  if (!PROGRAM) {
    console.warn(
      `SKIPPED: ${subject} was not tested against the real proxy. Set GUARD_LITELLM to the path of its program.`,
    );
  }
  return PROGRAM !== undefined;
}

/** Returns an entry of `model_list`. */
export const litellmModel = (name: string, model: string, apiBase: string) => ({
  model_name: name,
  litellm_params: { model, api_base: apiBase, api_key: "x" },
});

/** Starts a proxy, and waits until it responds. */
export async function startLiteLlmProxy(config: { model_list: object[]; guardrails: object[] }): Promise<LiteLlmProxy> {
  const folder = mkdtempSync(join(tmpdir(), "guard-litellm-"));
  const file = join(folder, "config.yaml");
  // YAML is a superset of JSON.
  writeFileSync(file, JSON.stringify({ ...config, general_settings: { master_key: KEY } }));
  const port = await freePort();
  const child = spawn(resolve(PROGRAM as string), ["--config", file, "--host", "127.0.0.1", "--port", String(port)], {
    cwd: folder,
    env: { ...process.env, LITELLM_LOCAL_MODEL_COST_MAP: "True" },
    detached: true,
    stdio: "ignore",
  });
  const stop = () => {
    try {
      process.kill(-(child.pid as number), "SIGKILL");
    } catch {
      // The process has exited already.
    }
    rmSync(folder, { recursive: true, force: true });
  };
  const url = `http://127.0.0.1:${port}`;
  try {
    await waitUntilUp(`${url}/health/liveliness`, child, { timeout: LITELLM_START_TIMEOUT - 10_000 });
  } catch (error) {
    stop();
    throw error;
  }
  const post = async (path: string, body: unknown): Promise<LiteLlmReply> => {
    const reply = await fetch(url + path, {
      method: "POST",
      headers: { authorization: `Bearer ${KEY}`, "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    const text = await reply.text();
    return { status: reply.status, text, json: jsonOf(text) };
  };
  return { post, stop };
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
