import type { AnswerStream, StreamStep } from "../stream/answer-stream.ts";
import type { Guard, GuardedCall, GuardReport } from "./guard.ts";

/** Wraps a guard that records its reports, so that no text is changed or blocked: the scanners run, and all texts are used as they are. */
export function observingGuard(guard: Guard): Guard {
  return {
    call: (options) => observeCall(guard.call(options)),
    close: () => guard.close(),
  };
}

function observeCall(call: GuardedCall): GuardedCall {
  return {
    async request(request) {
      const { report } = await call.request(request);
      return { report: unblocked(report), request };
    },
    async texts(texts, source) {
      const { report } = await call.texts(texts, source);
      return { report: unblocked(report), texts: [...texts] };
    },
    async answer(answer) {
      const { report } = await call.answer(answer);
      return { report: unblocked(report), text: answer.text, edits: [], toolCalls: [...(answer.toolCalls ?? [])] };
    },
    answerStream: () => observeStream(call.answerStream()),
  };
}

function observeStream(stream: AnswerStream<GuardReport>): AnswerStream<GuardReport> {
  let isBlocked = false;
  const run = async (text: string, step: () => Promise<StreamStep<GuardReport>>): Promise<StreamStep<GuardReport>> => {
    if (isBlocked) return { text };
    const { report } = await step();
    isBlocked = report?.outcome === "blocked";
    return report ? { text, report: unblocked(report) } : { text };
  };
  return {
    push: (piece) => run(piece, () => stream.push(piece)),
    flush: () => run("", () => stream.flush()),
    end: () => run("", () => stream.end()),
    get waiting() {
      return isBlocked ? undefined : stream.waiting;
    },
  };
}

function unblocked(report: GuardReport): GuardReport {
  return { ...report, outcome: "passed" };
}
