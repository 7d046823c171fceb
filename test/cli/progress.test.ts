import { afterEach, describe, expect, it, vi } from "vitest";
import { Progress } from "../../src/cli/progress.ts";

/** The text that a function writes to standard error, with each stream on a terminal or not. */
function written(terminal: { stderr: boolean; stdout: boolean }, run: () => void): string {
  vi.useFakeTimers({ toFake: ["performance"] });
  vi.stubGlobal("process", {
    ...process,
    stderr: { isTTY: terminal.stderr, write: vi.fn() },
    stdout: { isTTY: terminal.stdout },
  });
  run();
  return vi
    .mocked(process.stderr.write)
    .mock.calls.map(([text]) => text)
    .join("");
}

afterEach(() => {
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

function steps(progress: Progress): void {
  for (let step = 0; step < 3; step++) {
    vi.advanceTimersByTime(500);
    progress.step();
  }
  progress.clear();
}

describe("Progress", () => {
  it("shows the progress, the rate and the remaining time", () => {
    const text = written({ stderr: true, stdout: true }, () => steps(new Progress(300, false)));
    expect(text).toContain("[------------------------] 3/300 (1%), 2.0/s, 2 min 29 s left");
    expect(text.endsWith("\r\x1b[K")).toBe(true);
  });

  it("counts without a known total", () => {
    expect(written({ stderr: true, stdout: false }, () => steps(new Progress()))).toContain("3 lines, 2.0/s");
  });

  it("prints nothing without a terminal, or if the output goes to it", () => {
    expect(written({ stderr: false, stdout: false }, () => steps(new Progress(3, false)))).toBe("");
    expect(written({ stderr: true, stdout: true }, () => steps(new Progress(3)))).toBe("");
  });
});
