import { ROOT_CONTEXT, type Span, SpanStatusCode, type Tracer, trace } from "@opentelemetry/api";
import type { AnchoredClock } from "@opentelemetry/core";
import { ATTR_ERROR_TYPE } from "@opentelemetry/semantic-conventions";
import type { ModelEnd } from "../../models/model-observer.ts";
import type { ScannerEnd, ScanObserver } from "../../scan/observer.ts";

/**
 * Creates a span for each scanner of a request and, as its child, one for each model call of the scanner. Attributes are names, lengths,
 * times and verdicts.
 *
 * @param clock the clock of the request. With its own clock, a span starts at a whole millisecond and may seem to end after its parent.
 */
export function scanSpans(tracer: Tracer, request: Span, clock: AnchoredClock): ScanObserver {
  const ofRequest = trace.setSpan(ROOT_CONTEXT, request);
  return {
    scannerStarted({ name, type, chars, mode }) {
      const attributes = {
        ...{ "guard.scanner.name": name, "guard.scanner.type": type, "guard.text.length": chars },
        ...(mode && { "guard.scanner.mode": mode }),
      };
      const span = tracer.startSpan(`scanner ${name}`, { attributes, startTime: clock.now() }, ofRequest);
      return {
        modelAsked(model) {
          const ofScanner = trace.setSpan(ROOT_CONTEXT, span);
          const attributes = { "guard.model.name": model };
          const modelSpan = tracer.startSpan(`model ${model}`, { attributes, startTime: clock.now() }, ofScanner);
          return (end) => {
            setModelAttributes(modelSpan, end);
            modelSpan.end(clock.now());
          };
        },
        ended(end) {
          setScannerAttributes(span, end);
          span.end(clock.now());
        },
      };
    },
  };
}

function setScannerAttributes(span: Span, { verdict, error }: ScannerEnd): void {
  if (verdict) {
    span.setAttributes({
      "guard.scanner.valid": verdict.isValid,
      "guard.scanner.score": verdict.score,
      ...(verdict.probability === undefined ? {} : { "guard.scanner.probability": verdict.probability }),
      "guard.scanner.findings": verdict.findings,
    });
  }
  setError(span, error);
}

function setModelAttributes(span: Span, { timings, error }: ModelEnd): void {
  if (timings) {
    span.setAttributes({
      "guard.model.queued_ms": timings.queued,
      "guard.model.tokenized_ms": timings.tokenized,
      "guard.model.inferred_ms": timings.inferred,
    });
  }
  setError(span, error);
}

function setError(span: Span, error: string | undefined): void {
  if (error === undefined) return;
  span.setAttribute(ATTR_ERROR_TYPE, error);
  // With fail_fast the first failing scanner aborts the others, which is no error.
  if (error !== "AbortError") span.setStatus({ code: SpanStatusCode.ERROR });
}
