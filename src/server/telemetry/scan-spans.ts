import { ROOT_CONTEXT, type Span, SpanStatusCode, type Tracer, trace } from "@opentelemetry/api";
import type { AnchoredClock } from "@opentelemetry/core";
import { ATTR_ERROR_TYPE } from "@opentelemetry/semantic-conventions";
import type { ModelEnd } from "../../models/model-observer.ts";
import type { ScannerEnd, ScanObserver } from "../../scan/observer.ts";

/**
 * Makes a span for each scanner of a request, below the request's span, and below it one for each model that the scanner asks.
 * Their attributes are names, lengths, times and verdicts.
 *
 * @param clock the clock of the request. Spans with clocks of their own begin at whole milliseconds, and seem to end after those that
 *   they are a part of.
 */
export function scanSpans(tracer: Tracer, request: Span, clock: AnchoredClock): ScanObserver {
  const ofRequest = trace.setSpan(ROOT_CONTEXT, request);
  return {
    scannerStarted({ name, type, chars }) {
      const attributes = { "guard.scanner.name": name, "guard.scanner.type": type, "guard.text.length": chars };
      const span = tracer.startSpan(`scanner ${name}`, { attributes, startTime: clock.now() }, ofRequest);
      return {
        modelAsked(model) {
          const ofScanner = trace.setSpan(ROOT_CONTEXT, span);
          const attributes = { "guard.model.name": model };
          const asked = tracer.startSpan(`model ${model}`, { attributes, startTime: clock.now() }, ofScanner);
          return (end) => {
            tellModel(asked, end);
            asked.end(clock.now());
          };
        },
        ended(end) {
          tellScanner(span, end);
          span.end(clock.now());
        },
      };
    },
  };
}

function tellScanner(span: Span, { verdict, error }: ScannerEnd): void {
  if (verdict) {
    span.setAttributes({
      "guard.scanner.valid": verdict.isValid,
      "guard.scanner.score": verdict.score,
      ...(verdict.probability === undefined ? {} : { "guard.scanner.probability": verdict.probability }),
      "guard.scanner.findings": verdict.findings,
    });
  }
  tellError(span, error);
}

function tellModel(span: Span, { timings, error }: ModelEnd): void {
  if (timings) {
    span.setAttributes({
      "guard.model.queued_ms": timings.queued,
      "guard.model.tokenized_ms": timings.tokenized,
      "guard.model.inferred_ms": timings.inferred,
    });
  }
  tellError(span, error);
}

function tellError(span: Span, error: string | undefined): void {
  if (error === undefined) return;
  span.setAttribute(ATTR_ERROR_TYPE, error);
  // A scan that stops at the first failing scanner aborts the others, and that is no error.
  if (error !== "AbortError") span.setStatus({ code: SpanStatusCode.ERROR });
}
