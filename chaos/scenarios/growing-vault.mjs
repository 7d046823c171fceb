import { watchHealth } from "./overload.mjs";

export const summary = "conversations of 500 messages that each add 80 addresses to the vault";
export const durationMs = { full: 30_000, quick: 6000 };

const MESSAGES = 500;
const ADDRESSES = 80;
const MAX_LATENCY_MS = 5000;

export async function play(scenario) {
  const anonymize = { type: "Anonymize", params: { recognizer_conf: [] } };
  const app = { log_level: "warn", max_body_size: 16_777_216, vault_max_size: 8_388_608 };
  const server = await scenario.serve({ app, input_scanners: [anonymize] });
  const health = watchHealth(server);
  const latencies = [];
  const statuses = new Set();
  let largest = 0;
  for (const end = performance.now() + scenario.durationMs; performance.now() < end; ) {
    const start = performance.now();
    const { status, body } = await server.post("/analyze/conversation", { messages: messages(latencies.length) });
    latencies.push(performance.now() - start);
    statuses.add(status);
    largest = Math.max(largest, body.vault?.length ?? 0);
  }
  const slowest = Math.max(...latencies);
  const healthMs = await health.stop();
  scenario.note(`conversations  ${latencies.length}, ${slowest.toFixed(0)} ms at most, vault of ${largest} characters`);
  scenario.check("all are answered", [...statuses].join() === "200", [...statuses].join(", "));
  scenario.check(
    `each takes at most ${MAX_LATENCY_MS / 1000} s`,
    slowest <= MAX_LATENCY_MS,
    `${slowest.toFixed(0)} ms`,
  );
  scenario.check("other requests wait for at most a second", healthMs <= 1000, `${healthMs.toFixed(0)} ms`);

  server.configure({ app: { ...app, vault_max_size: 65_536 }, input_scanners: [anonymize] });
  await server.kill();
  await server.start();
  const start = performance.now();
  const { status, body } = await server.post("/analyze/conversation", { messages: messages(0) });
  const refusedMs = performance.now() - start;
  const isNamed = status === 413 && body.detail.includes("app.vault_max_size");
  scenario.check("a vault that would be too long is refused with its setting", isNamed, `${status} ${body.detail}`);
  scenario.check("it is refused before all messages are scanned", refusedMs < slowest, `${refusedMs.toFixed(0)} ms`);
}

function messages(conversation) {
  return Array.from({ length: MESSAGES }, (_, message) => {
    const addresses = Array.from({ length: ADDRESSES }, (_, index) => `u${conversation}.${message}.${index}@corp.io`);
    return { role: "user", content: addresses.join(" ") };
  });
}
