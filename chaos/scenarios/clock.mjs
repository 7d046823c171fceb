import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { settings } from "../texts.mjs";

export const summary = "the clock jumps forwards and backwards by an hour and by a year, under load";
export const durationMs = { full: 30_000, quick: 9000 };

const HOUR_MS = 3_600_000;

export async function play(scenario) {
  const file = join(scenario.folder, "clock");
  const shift = async (milliseconds) => {
    writeFileSync(file, String(milliseconds));
    await sleep(150);
  };
  const options = {
    nodeArguments: ["--import", new URL("../shifted-clock.mjs", import.meta.url).href],
    environment: { GUARD_CHAOS_CLOCK: file },
  };
  await shift(0);
  const server = await scenario.serve(
    settings({ app: { vault_expiry: 600 }, cache: { enabled: true, ttl: 600 } }),
    options,
  );
  const load = scenario.load(server, { clients: 4 });
  for (const [name, jump] of [
    ["an hour ahead", HOUR_MS],
    ["back", 0],
    ["an hour back", -HOUR_MS],
    ["a year ahead", 8760 * HOUR_MS],
    ["back again", 0],
  ]) {
    load.takeTally();
    await shift(jump);
    await sleep(scenario.durationMs / 5);
    const tally = load.takeTally();
    scenario.check(
      `${name}: every scan is answered`,
      tally.sent > 0 && tally.status(200) === tally.sent,
      JSON.stringify([...tally.statuses, ...tally.errors]),
    );
  }
  await load.stop();
  await checkVaults(scenario, shift, options);
  await checkRateLimits(scenario, shift, options);
}

async function checkVaults(scenario, shift, options) {
  const scanners = {
    input_scanners: [{ type: "Anonymize", params: { entity_types: ["EMAIL_ADDRESS"] } }],
    output_scanners: [{ type: "Deanonymize" }],
  };
  const server = await scenario.serve({ app: { log_level: "warn", vault_expiry: 600 }, ...scanners }, options);
  const { body } = await server.post("/analyze/prompt", { prompt: "Write to ann@example.org, please." });
  const restore = async () =>
    (await server.post("/analyze/output", { prompt: "?", output: body.sanitized_prompt, vault: body.vault })).status;
  scenario.check("a vault opens before it expires", (await restore()) === 200);
  await shift(HOUR_MS);
  scenario.check("a vault does not open after it expired", (await restore()) === 422);
  await shift(-HOUR_MS);
  const early = await restore();
  scenario.check(
    "after the clock went back, a vault opens or has expired, without another error",
    early === 200 || early === 422,
    early,
  );
  await shift(0);
  await server.kill();
}

async function checkRateLimits(scenario, shift, options) {
  const server = await scenario.serve(
    settings({ model: false, rate_limit: { enabled: true, limit: "5/2 seconds" } }),
    options,
  );
  const statuses = async (count) => {
    const list = [];
    for (let sent = 0; sent < count; sent++)
      list.push((await server.post("/analyze/prompt", { prompt: "Hello." })).status);
    return list;
  };
  for (const [name, jump] of [
    ["ahead", HOUR_MS],
    ["back", 0],
    ["further back", -HOUR_MS],
  ]) {
    await statuses(6);
    await shift(jump);
    await sleep(2100);
    const after = await statuses(8);
    scenario.check(
      `rate limit, ${name}: nobody is locked out, and the limit holds`,
      after[0] === 200 && after.includes(429),
      after.join(" "),
    );
  }
  await shift(0);
}
