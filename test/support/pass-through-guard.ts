import type { CallOptions, Guard, GuardedCall, GuardReport } from "../../src/guard/guard.ts";
import type { AnswerStream, StreamStep } from "../../src/stream/answer-stream.ts";
import { GuardError } from "../../src/support/errors.ts";
import { BLOCKED, PASSED } from "./guards.ts";

/** A guard that passes requests and releases every piece of an answer at once, except that the word zebra blocks a stream. */
export class PassThroughGuard implements Guard {
  /** The signals of all calls, in their order. */
  readonly signals: AbortSignal[] = [];

  call({ signal = new AbortController().signal }: CallOptions = {}): GuardedCall {
    this.signals.push(signal);
    return {
      request: async (chat) => ({ report: PASSED, request: chat }),
      texts: async (texts) => {
        if (texts.includes("away")) throw new GuardError("GUARD_UNREACHABLE", "The guard server could not be reached.");
        return { report: PASSED, texts: [...texts] };
      },
      answer: async ({ text, toolCalls = [] }) => ({ report: PASSED, text, edits: [], toolCalls: [...toolCalls] }),
      answerStream: () => new PassThroughStream(),
    };
  }

  async close(): Promise<void> {}
}

class PassThroughStream implements AnswerStream<GuardReport> {
  readonly waiting = undefined;

  async push(piece: string): Promise<StreamStep<GuardReport>> {
    return piece.includes("zebra") ? { text: "", report: { ...BLOCKED, resultsScore: { Word: 1 } } } : { text: piece };
  }

  async flush(): Promise<StreamStep<GuardReport>> {
    return { text: "" };
  }

  async end(): Promise<StreamStep<GuardReport>> {
    return { text: "", report: PASSED };
  }
}
