import { monitorEventLoopDelay } from "node:perf_hooks";

const SETTLE_MS = 5;

/** Scans once, and returns the duration `ms`, the largest gap of the event loop during the scan in milliseconds, and the outcome. */
export async function measureOnce(scanner, text) {
  const delay = monitorEventLoopDelay({ resolution: 1 });
  await new Promise((resolve) => setTimeout(resolve, SETTLE_MS));
  delay.enable();
  const start = performance.now();
  const outcome = await scanner.scan(text).then(
    ({ isValid }) => (isValid ? "passes" : "fails"),
    (error) => error.code,
  );
  const ms = performance.now() - start;
  await new Promise((resolve) => setTimeout(resolve, SETTLE_MS));
  delay.disable();
  return { ms, gap: delay.max / 1e6, outcome };
}
