import { once } from "node:events";
import type { FastifyBaseLogger } from "fastify";
import type { AuthEntry } from "../../config/index.ts";
import { ByteBudget, bodyBudget, defaultBodyBudget } from "../../http-server/byte-budget.ts";
import { authenticator } from "../../http-server/callers/auth.ts";
import { CallMetrics } from "../../proxy/call-metrics.ts";
import { CallRecord } from "../../proxy/call-record.ts";
import type { ProxyGuard } from "../../proxy/settings.ts";
import { Bag } from "../../support/bag.ts";
import { closedError, GuardError } from "../../support/errors.ts";
import { awaitWithin } from "../../support/promises.ts";
import type { GrpcService } from "../grpc-server.ts";
import { type DuplexCall, metadataHeaders, UNAUTHENTICATED } from "../packages.ts";
import type { Struct } from "../struct.ts";
import { Exchange, type ExchangeContext } from "./exchange.ts";
import { EXTERNAL_PROCESSOR, type ProcessingRequest, type ProcessingResponse } from "./messages.ts";
import type { ExtProcSettings } from "./settings.ts";

export interface ExternalProcessorOptions {
  settings: ExtProcSettings;
  guard: ProxyGuard;
  /** Credentials of guard, one of which Envoy has to send as metadata. */
  auth: readonly AuthEntry[];
  logContent: boolean;
  log: FastifyBaseLogger;
}

/** Envoy's attribute with the address of the client, if `request_attributes` lists it. */
const ADDRESS = "source.address";

/** Serves `envoy.service.ext_proc.v3.ExternalProcessor`: one call for each HTTP request that Envoy handles. */
export class ExternalProcessor {
  readonly #options: ExternalProcessorOptions;
  readonly #authenticate: ReturnType<typeof authenticator>;
  readonly #metrics: CallMetrics;
  readonly #bodies: ByteBudget;
  readonly #answers: ByteBudget;
  readonly #running = new Bag<Exchange>();
  #isClosing = false;

  constructor(options: ExternalProcessorOptions) {
    this.#options = options;
    const { maxBodySize, maxOpenBodies, maxOpenAnswers } = options.settings;
    this.#authenticate = authenticator(options.auth);
    this.#metrics = new CallMetrics(options.guard.registry, "ext_proc", () => this.#running.size);
    this.#bodies = bodyBudget(maxOpenBodies ?? defaultBodyBudget(maxBodySize), "--max-bodies");
    const message = `The answers in progress would take more than ${maxOpenAnswers} bytes (--max-answers).`;
    this.#answers = new ByteBudget(
      maxOpenAnswers,
      () => new GuardError("GUARD_OVERLOADED", message, { retryAfter: 1 }),
    );
  }

  get service(): GrpcService {
    return {
      package: "envoy.service.ext_proc.v3",
      name: "ExternalProcessor",
      messages: EXTERNAL_PROCESSOR,
      handlers: { process: (call: DuplexCall) => void this.#process(call) },
    };
  }

  /** Answers new calls with 503 from now on. */
  close(): void {
    this.#isClosing = true;
  }

  async #process(call: DuplexCall): Promise<void> {
    // Without a listener, a broken connection would end the process.
    call.on("error", () => {});
    const credential = this.#authenticate({ headers: metadataHeaders(call.metadata) });
    if (this.#options.auth.length > 0 && !credential) {
      call.emit("error", { code: UNAUTHENTICATED, details: "guard needs a valid credential in the metadata." });
      return;
    }
    const record = new CallRecord(this.#options.logContent);
    const exchange: Exchange = new Exchange(
      { ...this.#options.settings, guard: this.#options.guard.guard },
      {
        record,
        credential: credential?.name,
        send: sender(call),
        openShares: (caller) => this.#admit(caller),
        callerOf: this.#callerOf,
        onFailure: (error) => this.#options.log.error({ err: error }, "request failed"),
      },
    );
    const start = performance.now();
    const remove = this.#running.add(exchange);
    call.once("cancelled", () => void exchange.inputEnded());
    try {
      await this.#readMessages(call, exchange);
    } catch {
      // Envoy has cancelled the call, or sent a message that is not one.
    }
    await exchange.inputEnded();
    call.end();
    remove();
    this.#log(exchange, record, performance.now() - start);
  }

  async #readMessages(call: DuplexCall, exchange: Exchange): Promise<void> {
    // The end of the messages of Envoy must not destroy the call: its status is still to be sent.
    const messages = call.iterator({ destroyOnReturn: false }) as AsyncIterator<ProcessingRequest>;
    const idleMs = this.#options.settings.idleTimeout * 1000;
    exchange.ended.then(() => call.end());
    while (!exchange.isEnded) {
      const next = await awaitWithin(messages.next(), idleMs);
      if (!next) await exchange.fail(new GuardError("GUARD_TIMEOUT", "Envoy sent nothing for too long."));
      else if (next.done) return;
      else await exchange.take(next.value);
    }
  }

  #admit(caller: string): ReturnType<ExchangeContext["openShares"]> {
    if (this.#isClosing) throw closedError();
    if (this.#running.size > this.#options.settings.maxCalls) {
      throw new GuardError("GUARD_OVERLOADED", "Too many calls are in progress.");
    }
    return { request: this.#bodies.open(caller, 0), answer: this.#answers.open(caller, 0) };
  }

  readonly #callerOf = (headers: Headers, attributes: Record<string, Struct> = {}): string => {
    const { callerHeader } = this.#options.settings;
    const named = callerHeader === undefined ? undefined : headers.get(callerHeader);
    if (named) return named;
    const addresses = Object.values(attributes).map(({ fields }) => fields?.[ADDRESS]?.stringValue);
    return addresses.find((address) => address !== undefined)?.replace(/:\d+$/, "") ?? "envoy";
  };

  #log(exchange: Exchange, record: CallRecord, ms: number): void {
    const { call = "none", isGuarded, observes, status, cut } = exchange;
    if (isGuarded) this.#metrics.count(call, record);
    const line = {
      call,
      ...(observes ? { observed: true } : {}),
      ...(status === undefined ? {} : { status }),
      ms: Math.round(ms * 100) / 100,
      ...record.fields,
      ...(cut ? { cut } : {}),
    };
    this.#options.log.info(line, "request");
  }
}

/** Returns a function that writes messages, and waits while the client reads slowly. */
function sender(call: DuplexCall): (reply: ProcessingResponse) => Promise<void> {
  const closed = once(call, "close").catch(() => {});
  return async (reply) => {
    if (call.destroyed || call.writableEnded) return;
    if (!call.write(reply)) await Promise.race([once(call, "drain").catch(() => {}), closed]);
  };
}
