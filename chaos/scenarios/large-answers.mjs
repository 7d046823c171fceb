import { once } from "node:events";
import { createServer } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { longText, settings } from "../texts.mjs";

export const summary =
  "an upstream answers many calls of the proxy with large answers and streams that must be held back";
export const durationMs = { full: 30_000, quick: 5000 };

const MEGABYTE = 2 ** 20;
const CLIENTS = 24;
const ANSWER_BYTES = 30 * MEGABYTE;
const BUDGET_BYTES = 64 * MEGABYTE;
/** How much memory a byte of an answer takes at most while it is checked: its bytes twice, the JSON, the text in it, and copies for the scanners. */
const COPIES = 7;

const EVENTS = { "content-type": "text/event-stream" };

/** Writes a tool call in pieces that never ends, or an event that never ends. */
async function stream(reply, isCall) {
  const closed = new AbortController();
  reply.once("close", () => closed.abort());
  const { signal } = closed;
  const args = "1".repeat(MEGABYTE / 2);
  const delta = { tool_calls: [{ index: 0, id: "call_1", function: { name: "f", arguments: args } }] };
  const piece = isCall ? `data: ${JSON.stringify({ choices: [{ index: 0, delta }] })}\n\n` : args;
  if (!isCall) reply.write("data: ");
  for (let sent = 0; sent < ANSWER_BYTES; sent += piece.length) {
    if (!reply.write(piece)) await once(reply, "drain", { signal });
  }
  // The stream stays open until the proxy has refused another one.
  await sleep(500);
  reply.end();
}

/** Starts a model provider. The model's name says what it answers. */
async function startUpstream(scenario) {
  const chat = (content) => JSON.stringify({ choices: [{ index: 0, message: { role: "assistant", content } }] });
  const large = chat(longText(ANSWER_BYTES).text);
  const upstream = createServer(async (request, reply) => {
    let text = "";
    for await (const chunk of request) text += chunk;
    const { model } = JSON.parse(text);
    if (model === "small") return reply.setHeader("content-type", "application/json").end(chat("Hello."));
    if (model === "large") return reply.setHeader("content-type", "application/json").end(large);
    reply.writeHead(200, EVENTS);
    await stream(reply, model === "call").catch(() => reply.destroy());
  });
  upstream.listen(0, "127.0.0.1");
  await once(upstream, "listening");
  scenario.onEnd(() => {
    upstream.closeAllConnections();
    upstream.close();
  });
  return `http://127.0.0.1:${upstream.address().port}`;
}

/** Sends a call. @returns the status, or `held back` for a stream that ended with an error of the limit. */
async function call(proxy, model) {
  const reply = await fetch(`${proxy.url}/v1/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({
      model,
      stream: model === "call" || model === "event",
      messages: [{ role: "user", content: "Hi" }],
    }),
  });
  const text = await reply.text();
  return text.includes("(--max-answers)") ? "refused" : reply.status;
}

export async function play(scenario) {
  const upstream = await startUpstream(scenario);
  const command = ["proxy", "--upstream", upstream, "--max-answers", String(BUDGET_BYTES)];
  const proxy = await scenario.serve(settings({ model: false }), { command });
  for (let count = 0; count < 50; count++) await call(proxy, "small");
  await sleep(8000);
  const before = proxy.rss();

  const outcomes = new Map();
  const end = performance.now() + scenario.durationMs;
  const client = async (model) => {
    while (performance.now() < end) {
      const outcome = `${model} ${await call(proxy, model).catch(() => "connection lost")}`;
      outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
      await sleep(100);
    }
  };
  await Promise.all(Array.from({ length: CLIENTS }, (_, index) => client(["large", "call", "event"][index % 3])));
  const { peak } = proxy.memory;
  scenario.note(`answers        ${[...outcomes].map(([outcome, count]) => `${count} \u00d7 ${outcome}`).join(", ")}`);
  const limit = before + (COPIES * BUDGET_BYTES) / MEGABYTE;
  const observed = `${before.toFixed(0)} MB before, ${peak.toFixed(0)} MB at most`;
  scenario.check(`memory grows by at most ${COPIES} times the budget`, peak < limit, observed);
  for (const model of ["large", "call", "event"]) {
    scenario.check(`some answers are refused: ${model}`, (outcomes.get(`${model} refused`) ?? 0) > 0);
  }
  scenario.check("a small call is answered afterwards", (await call(proxy, "small")) === 200);
  await sleep(20_000);
  const after = proxy.rss();
  const growth = 100 * (after / before - 1);
  const rest = `${after.toFixed(0)} MB, ${growth.toFixed(0)} %`;
  scenario.check("memory is at most 15 % higher after a rest", growth <= 15, rest);
}
