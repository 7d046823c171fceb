import { GuardError } from "../../src/errors.ts";
import type { AnswerStream, CallOptions, Guard, GuardedCall, GuardReport, StreamStep } from "../../src/guard/guard.ts";

const report = (outcome: "passed" | "blocked"): GuardReport => ({
  outcome,
  isValid: outcome === "passed",
  resultsScore: { Word: outcome === "passed" ? -1 : 1 },
  findings: {},
  coverage: {
    chars: 0,
    skipped: 0,
    failed: [],
    suppressed: [],
    unscannedSources: {},
  } as unknown as GuardReport["coverage"],
});

/** A guard that shows every piece of an answer at once, and blocks at the word zebra. */
export class LettingThrough implements Guard {
  /** The signals of the calls, with the first one first. */
  readonly signals: AbortSignal[] = [];

  call({ signal = new AbortController().signal }: CallOptions = {}): GuardedCall {
    this.signals.push(signal);
    return {
      request: async (chat) => ({ report: report("passed"), request: chat }),
      texts: async (texts) => {
        if (texts.includes("away")) throw new GuardError("GUARD_UNREACHABLE", "The guard server could not be reached.");
        return { report: report("passed"), texts: [...texts] };
      },
      answer: async ({ text, toolCalls = [] }) => ({ report: report("passed"), text, toolCalls: [...toolCalls] }),
      answerStream: () => new Showing(),
    };
  }

  async close(): Promise<void> {}
}

class Showing implements AnswerStream {
  readonly waiting = undefined;

  async push(piece: string): Promise<StreamStep> {
    return piece.includes("zebra") ? { text: "", report: report("blocked") } : { text: piece };
  }

  async flush(): Promise<StreamStep> {
    return { text: "" };
  }

  async end(): Promise<StreamStep> {
    return { text: "", report: report("passed") };
  }
}
