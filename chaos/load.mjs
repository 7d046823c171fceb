// Clients that send known texts all the time, and compare every verdict with what it has to be.
import { Agent, request } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { knownText } from "./texts.mjs";

/** Milliseconds after which a client gives up on an answer: longer than any time limit of the server. */
const PATIENCE = 60_000;

/** What became of requests. */
export class Tally {
  statuses = new Map();
  errors = new Map();
  /** Verdicts of status 200 that are not those that the texts must have. */
  wrong = [];
  /** Seconds that answers of status 200 took. */
  times = [];
  /** The ids of requests that got status 200. */
  answered = [];

  add(outcome) {
    if (outcome.error) return count(this.errors, outcome.error);
    count(this.statuses, outcome.status);
    if (outcome.status !== 200) return undefined;
    this.times.push(outcome.seconds);
    this.answered.push(outcome.id);
    if (outcome.wrong) this.wrong.push(outcome.wrong);
    return undefined;
  }

  status(wanted) {
    return this.statuses.get(wanted) ?? 0;
  }

  get sent() {
    return sum(this.statuses) + sum(this.errors);
  }

  /** The time in seconds that so large a share of the answers took at most. */
  quantile(share) {
    const sorted = this.times.toSorted((a, b) => a - b);
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
  /** Everything since the beginning. */
  all = new Tally();
  /** Since the last call of {@link phase}. */
  #now = new Tally();
  #began = performance.now();
  /** Requests that are under way, and when they were sent. */
  pending = new Map();

  /**
   * @param options.clients how many there are, each with one request under way.
   * @param options.next makes the next text and says which scanner must fail it.
   * @param options.isRight compares an answer with what it has to be; by default the named scanner must have failed it and no other.
   */
  constructor(
    server,
    { clients = 8, next = knownText, isRight = verdictIsRight, headers = {}, path = "/analyze/prompt" } = {},
  ) {
    this.#server = server;
    this.#options = { next, isRight, headers, path };
    this.#clients = Array.from({ length: clients }, () => this.#client());
  }

  async #client() {
    while (!this.#isStopped) {
      const outcome = await this.send();
      // A server that is away refuses at once; a client that tries without rest would only keep the machine from starting it.
      if (outcome.error) await sleep(20);
      else if (outcome.status !== 200) await sleep(5);
    }
  }

  /** Sends one request, and notes what becomes of it. */
  async send() {
    const outcome = await this.#send(this.#options.next());
    this.all.add(outcome);
    this.#now.add(outcome);
    return outcome;
  }

  #send(known) {
    const { isRight, headers, path } = this.#options;
    const body = JSON.stringify({ prompt: known.text });
    const start = performance.now();
    const key = {};
    return new Promise((resolve) => {
      const done = (outcome) => {
        clearTimeout(timer);
        this.pending.get(key)?.(outcome);
        this.pending.delete(key);
        resolve({ ...outcome, start, seconds: (performance.now() - start) / 1000 });
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
            return done({ status, id, wrong: isRight(known, answer) ? undefined : `${known.failing}: ${known.text}` });
          } catch (error) {
            return done({ error: error.code ?? error.name });
          }
        },
      );
      const timer = setTimeout(() => call.destroy(Object.assign(new Error(), { code: "no answer" })), PATIENCE);
      call.on("error", (error) => done({ error: error.code ?? error.name }));
      call.end(body, () => this.pending.set(key, undefined));
    });
  }

  /** A promise for each request that is under way and was sent as a whole: what became of it. */
  underWay() {
    return Promise.all([...this.pending.keys()].map((key) => new Promise((resolve) => this.pending.set(key, resolve))));
  }

  /** What became of requests since the last call, or since the beginning. */
  phase() {
    const tally = this.#now;
    this.#now = new Tally();
    return tally;
  }

  /** Answers of status 200 a second, since the beginning. */
  get rate() {
    return this.all.status(200) / (((this.ended ?? performance.now()) - this.#began) / 1000);
  }

  async stop() {
    this.#isStopped = true;
    await Promise.all(this.#clients);
    this.ended ??= performance.now();
    this.#agent.destroy();
  }
}

/** Whether a text failed by the scanner that it has to fail by, or passed if there is none. */
export function verdictIsRight({ failing }, answer) {
  if (!failing) return answer.is_valid === true;
  return answer.is_valid === false && answer.scanners[failing] > 0;
}
