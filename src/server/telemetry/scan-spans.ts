import { ROOT_CONTEXT, type Span, SpanStatusCode, type Tracer, trace } from "@opentelemetry/api";
import { ATTR_ERROR_TYPE } from "@opentelemetry/semantic-conventions";
import type { ModelEnd, ScannerEnd, ScanObserver } from "../../observer.ts";

/**
 * Makes a span for each scanner of a request, below the request's span, and below it one for each model that the scanner asks.
 * Their attributes are names, lengths, times and verdicts.
 */
export function scanSpans(tracer: Tracer, request: Span): ScanObserver {
  const ofRequest = trace.setSpan(ROOT_CONTEXT, request);
  return {
    scannerStarted({ name, type, chars }) {
      const attributes = { "guard.scanner.name": name, "guard.scanner.type": type, "guard.text.length": chars };
      const span = tracer.startSpan(`scanner ${name}`, { attributes }, ofRequest);
      return {
        modelAsked(model) {
          const ofScanner = trace.setSpan(ROOT_CONTEXT, span);
          const asked = tracer.startSpan(`model ${model}`, { attributes: { "guard.model.name": model } }, ofScanner);
          return (end) => endModel(asked, end);
        },
        ended: (end) => endScanner(span, end),
      };
    },
  };
}

function endScanner(span: Span, { verdict, error }: ScannerEnd): void {
  if (verdict) {
    span.setAttributes({
      "guard.scanner.valid": verdict.isValid,
      "guard.scanner.score": verdict.score,
      ...(verdict.probability === undefined ? {} : { "guard.scanner.probability": verdict.probability }),
      "guard.scanner.findings": verdict.findings,
    });
  }
  endWith(span, error);
}

function endModel(span: Span, { timings, error }: ModelEnd): void {
  if (timings) {
    span.setAttributes({
      "guard.model.queued_ms": timings.queued,
      "guard.model.tokenized_ms": timings.tokenized,
      "guard.model.inferred_ms": timings.inferred,
    });
  }
  endWith(span, error);
}

function endWith(span: Span, error: string | undefined): void {
  if (error !== undefined) {
    span.setAttribute(ATTR_ERROR_TYPE, error);
    // A scan that stops at the first failing scanner aborts the others, and that is no error.
    if (error !== "AbortError") span.setStatus({ code: SpanStatusCode.ERROR });
  }
  span.end();
}
