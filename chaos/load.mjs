// Clients that send labelled texts continuously and compare every verdict with the label.
import { Agent, request } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { labelledText } from "./texts.mjs";

/** Longer than any timeout of the server. */
const CLIENT_TIMEOUT_MS = 60_000;
/** Pauses of a client, so that it leaves CPU time to a server that starts or is overloaded. */
const PAUSE_AFTER_ERROR_MS = 20;
const PAUSE_AFTER_REFUSAL_MS = 5;

/** Counts the outcomes of requests. */
export class Tally {
  statuses = new Map();
  errors = new Map();
  /** Texts whose verdict is wrong. */
  wrong = [];
  /** Latencies of replies with status 200, in milliseconds. */
  latencies = [];
  /** The ids of requests that got status 200. */
  answered = [];

  add(outcome) {
    if (outcome.error) return count(this.errors, outcome.error);
    count(this.statuses, outcome.status);
    if (outcome.status !== 200) return undefined;
    this.latencies.push(outcome.ms);
    this.answered.push(outcome.id);
    if (outcome.wrong) this.wrong.push(outcome.wrong);
    return undefined;
  }

  status(status) {
    return this.statuses.get(status) ?? 0;
  }

  get sent() {
    return sum(this.statuses) + sum(this.errors);
  }

  /** The latency in milliseconds that a share of the replies (0..1) does not exceed. */
  quantile(share) {
    const sorted = this.latencies.toSorted((a, b) => a - b);
    return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
  }
}

const count = (map, key) => void map.set(key, (map.get(key) ?? 0) + 1);
const sum = (map) => [...map.values()].reduce((total, number) => total + number, 0);

export class Load {
  #server;
  #agent = new Agent({ keepAlive: true, maxSockets: 4096 });
  #options;
  #isStopped = false;
  #clients = [];
  /** All outcomes since the start. */
  total = new Tally();
  /** Outcomes since the last call of {@link takeTally}. */
  #current = new Tally();
  #startedAt = performance.now();
  #endedAt;
  /** Requests that were sent completely, by key, with the callback that waits for their outcome. */
  #inFlight = new Map();

  /**
   * @param options.clients the number of clients, each with one request in flight.
   * @param options.next makes the next text with the scanner that must fail it.
   * @param options.isCorrect compares a reply with the label. By default only the named scanner may fail.
   */
  constructor(
    server,
    { clients = 8, next = labelledText, isCorrect = isCorrectVerdict, headers = {}, path = "/analyze/prompt" } = {},
  ) {
    this.#server = server;
    this.#options = { next, isCorrect, headers, path };
    this.#clients = Array.from({ length: clients }, () => this.#client());
  }

  async #client() {
    while (!this.#isStopped) {
      const outcome = await this.send();
      if (outcome.error) await sleep(PAUSE_AFTER_ERROR_MS);
      else if (outcome.status !== 200) await sleep(PAUSE_AFTER_REFUSAL_MS);
    }
  }

  /** Sends one request and counts its outcome. */
  async send() {
    const outcome = await this.#send(this.#options.next());
    this.total.add(outcome);
    this.#current.add(outcome);
    return outcome;
  }

  #send(labelled) {
    const { isCorrect, headers, path } = this.#options;
    const body = JSON.stringify({ prompt: labelled.text });
    const start = performance.now();
    const key = {};
    return new Promise((resolve) => {
      const done = (outcome) => {
        clearTimeout(timer);
        this.#inFlight.get(key)?.(outcome);
        this.#inFlight.delete(key);
        resolve({ ...outcome, ms: performance.now() - start });
      };
      const call = request(
        `${this.#server.url}${path}`,
        {
          method: "POST",
          agent: this.#agent,
          headers: { "content-type": "application/json", "content-length": Buffer.byteLength(body), ...headers },
        },
        async (reply) => {
          try {
            const chunks = [];
            for await (const chunk of reply) chunks.push(chunk);
            const status = reply.statusCode;
            const id = reply.headers["x-request-id"];
            if (status !== 200) return done({ status });
            const answer = JSON.parse(Buffer.concat(chunks));
            const wrong = isCorrect(labelled, answer) ? undefined : `${labelled.failingScanner}: ${labelled.text}`;
            return done({ status, id, wrong });
          } catch (error) {
            return done({ error: error.code ?? error.name });
          }
        },
      );
      const timer = setTimeout(
        () => call.destroy(Object.assign(new Error(), { code: "no answer" })),
        CLIENT_TIMEOUT_MS,
      );
      call.on("error", (error) => done({ error: error.code ?? error.name }));
      call.end(body, () => this.#inFlight.set(key, undefined));
    });
  }

  /** The outcomes of the requests that are now in flight and were sent completely. */
  inFlight() {
    const keys = [...this.#inFlight.keys()];
    return Promise.all(keys.map((key) => new Promise((resolve) => this.#inFlight.set(key, resolve))));
  }

  /** The outcomes since the last call, or since the start. */
  takeTally() {
    const tally = this.#current;
    this.#current = new Tally();
    return tally;
  }

  /** Replies with status 200 per second since the start. */
  get rate() {
    return (1000 * this.total.status(200)) / ((this.#endedAt ?? performance.now()) - this.#startedAt);
  }

  async stop() {
    this.#isStopped = true;
    await Promise.all(this.#clients);
    this.#endedAt ??= performance.now();
    this.#agent.destroy();
  }
}

/** Whether the labelled scanner failed the text, or the text passed if its label names none. */
export function isCorrectVerdict({ failingScanner }, answer) {
  if (!failingScanner) return answer.is_valid === true;
  return answer.is_valid === false && answer.scanners[failingScanner] > 0;
}
