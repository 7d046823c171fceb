import { setTimeout as sleep } from "node:timers/promises";
import { longText, settings } from "../texts.mjs";

export const summary = "one caller sends long texts to a server that knows no costs yet, another one short texts";
export const durationMs = { full: 20_000, quick: 8000 };

const LONG_TEXTS = 4;
const SHORT_TEXTS = 24;
const CREDENTIALS = ["first", "second"].map((name) => ({ type: "http_bearer", name, token: `${name}-caller-token` }));

export async function play(scenario) {
  const { input_scanners: scanners, ...others } = settings();
  // The model of Anonymize reads a megabyte for many seconds.
  const server = await scenario.serve({
    ...others,
    input_scanners: [...scanners, { type: "Anonymize" }],
    auth: CREDENTIALS,
  });
  const [first, second] = CREDENTIALS.map(({ token }) => ({ authorization: `Bearer ${token}` }));
  const send = (characters, headers) => server.post("/analyze/prompt", { prompt: longText(characters).text }, headers);
  const long = Array.from({ length: LONG_TEXTS }, () => send(1_000_000, first).catch((error) => error));
  await sleep(500);
  const latencies = [];
  const statuses = [];
  for (let count = 0; count < SHORT_TEXTS; count++) {
    const start = performance.now();
    const { status } = await send(300, second);
    statuses.push(status);
    latencies.push(performance.now() - start);
    await sleep(scenario.durationMs / SHORT_TEXTS - (performance.now() - start));
  }
  const answered = statuses.filter((status) => status === 200).length;
  latencies.sort((one, other) => one - other);
  scenario.note(`long texts     ${(await Promise.all(long)).map(({ status }) => status).join(", ")}`);
  scenario.note(
    `short texts    p50 ${latencies[SHORT_TEXTS / 2].toFixed(0)} ms, max ${latencies.at(-1).toFixed(0)} ms`,
  );
  scenario.check("all short texts are answered", answered === SHORT_TEXTS, `${answered} of ${SHORT_TEXTS}`);
}
