import { setTimeout as sleep } from "node:timers/promises";
import { labelledText, settings } from "../texts.mjs";

export const summary = "a client behind a proxy claims another address in each request, some of 12 KB";
export const durationMs = { full: 60_000, quick: 5000 };

const TOKEN = "a-token-of-the-test";
/** The default of `rate_limit.failures` in a minute. */
const FAILURES = 60;
/** The address that the proxy appends. */
const SEEN = "203.0.113.9";

export async function play(scenario) {
  const auth = { type: "http_bearer", token: TOKEN };
  const server = await scenario.serve(settings({ model: false, app: { trust_proxy: 1 }, auth }));
  const guess = (claimed) =>
    server.post("/analyze/prompt", { prompt: "x" }, { authorization: "Bearer guess", "x-forwarded-for": claimed });
  for (let count = 0; count < 20; count++) await guess(`198.51.100.1, ${SEEN}`);
  await sleep(8000);
  const before = server.rss();
  const statuses = new Map();
  let sent = 0;
  for (const end = performance.now() + scenario.durationMs; performance.now() < end; ) {
    const claimed = sent % 2 === 0 ? `198.51.100.${sent % 256}` : "x".repeat(12_000) + sent;
    const { status } = await guess(`${claimed}, ${SEEN}`);
    statuses.set(status, (statuses.get(status) ?? 0) + 1);
    sent++;
  }
  const valid = { authorization: `Bearer ${TOKEN}`, "x-forwarded-for": "192.0.2.77" };
  const other = await server.post("/analyze/prompt", { prompt: labelledText(false).text }, valid);
  await sleep(10_000);
  const after = server.rss();
  const minutes = Math.ceil(scenario.durationMs / 60_000) + 1;
  scenario.note(`guesses        ${[...statuses].map(([status, count]) => `${count} × ${status}`).join(", ")}`);
  const tried = statuses.get(401) ?? 0;
  scenario.check("guesses count by the address that the proxy saw", tried <= FAILURES * minutes && sent > 2 * tried);
  scenario.check("a client with another address is answered", other.status === 200, other.status);
  const growth = `${before.toFixed(0)} MB before, ${after.toFixed(0)} MB after`;
  scenario.check("memory is at most 15 % higher afterwards", after <= 1.15 * before, growth);
}
