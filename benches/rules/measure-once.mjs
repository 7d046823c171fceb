import { monitorEventLoopDelay } from "node:perf_hooks";

/** One scan: its milliseconds, the largest gap of the event loop meanwhile (also in ms), and its outcome. */
export async function measureOnce(scanner, text) {
  const delay = monitorEventLoopDelay({ resolution: 1 });
  await new Promise((resolve) => setTimeout(resolve, 5));
  delay.enable();
  const start = performance.now();
  const outcome = await scanner.scan(text).then(
    ({ isValid }) => (isValid ? "passes" : "fails"),
    (error) => error.code,
  );
  const ms = performance.now() - start;
  await new Promise((resolve) => setTimeout(resolve, 5));
  delay.disable();
  return { ms, gap: delay.max / 1e6, outcome };
}
