import type { AnswerStream, CallOptions, Guard, GuardedCall, StreamStep } from "../../src/guard/guard.ts";
import { GuardError } from "../../src/support/errors.ts";
import { BLOCKED, PASSED } from "./guards.ts";

/** A guard that shows every piece of an answer at once, and blocks at the word zebra. */
export class LettingThrough implements Guard {
  /** The signals of the calls, with the first one first. */
  readonly signals: AbortSignal[] = [];

  call({ signal = new AbortController().signal }: CallOptions = {}): GuardedCall {
    this.signals.push(signal);
    return {
      request: async (chat) => ({ report: PASSED, request: chat }),
      texts: async (texts) => {
        if (texts.includes("away")) throw new GuardError("GUARD_UNREACHABLE", "The guard server could not be reached.");
        return { report: PASSED, texts: [...texts] };
      },
      answer: async ({ text, toolCalls = [] }) => ({ report: PASSED, text, toolCalls: [...toolCalls] }),
      answerStream: () => new Showing(),
    };
  }

  async close(): Promise<void> {}
}

class Showing implements AnswerStream {
  readonly waiting = undefined;

  async push(piece: string): Promise<StreamStep> {
    return piece.includes("zebra") ? { text: "", report: { ...BLOCKED, resultsScore: { Word: 1 } } } : { text: piece };
  }

  async flush(): Promise<StreamStep> {
    return { text: "" };
  }

  async end(): Promise<StreamStep> {
    return { text: "", report: PASSED };
  }
}
