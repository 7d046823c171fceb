import { describe, expect, it } from "vitest";
import {
  Admission,
  type AdmissionLimits,
  type AdmittedScan,
  type ShedReason,
} from "../../src/service/admission/admission.ts";
import type { Machine } from "../../src/support/machine.ts";

/** A scan on a {@link TestMachine}. */
interface Job {
  name: string;
  state: "waits" | "runs" | "done" | "refused" | "dropped";
  /** The remaining work, in seconds of the machine. */
  left: number;
  came: number;
  ended?: number;
  retryAfter?: number;
}

/** The options of a job. */
interface JobOptions {
  name?: string;
  /** The work of the scan, in seconds of the machine. */
  work: number;
  kind?: string;
  chars?: number;
  caller?: string;
  timeout?: number;
  /** Whether the scan waits for I/O, so that any number of them run concurrently. */
  isIdle?: boolean;
}

/** A machine with simulated time that divides its speed equally among all running scans. */
class TestMachine implements Machine {
  readonly processors = 2;
  readonly jobs: Job[] = [];
  readonly shed: ShedReason[] = [];
  readonly admission: Admission;
  /** The share of the processors that other programs use. */
  readonly #others: number;
  #time = 0;
  #busy = 0;
  #look: (() => void) | undefined;
  #sinceLook = 0;
  readonly #running = new Map<Job, { turn: AdmittedScan; isIdle: boolean }>();

  constructor(limits: Partial<AdmissionLimits> = {}, others = 0) {
    this.#others = others;
    this.admission = new Admission({ maxScans: 512, maxQueueTime: 2, ...limits }, this);
    this.admission.listen({ shed: (reason) => this.shed.push(reason) });
  }

  now = () => this.#time;
  busy = () => this.#busy;
  idle = () => this.#time * this.processors * (1 - this.#others) - this.#busy;

  repeat(call: () => void): () => void {
    this.#look = call;
    return () => {
      this.#look = undefined;
    };
  }

  ask({ name = "", work, kind = "prompt", chars = 1000, timeout = 30, caller, isIdle = false }: JobOptions): Job {
    const job: Job = { name, state: "waits", left: work, came: this.#time };
    this.jobs.push(job);
    try {
      const turn = this.admission.admit({ kind, chars, caller, timeout });
      turn.started.then(
        () => {
          job.state = "runs";
          this.#running.set(job, { turn, isIdle });
        },
        (error) => Object.assign(job, { state: "dropped", retryAfter: error.retryAfter }),
      );
    } catch (error) {
      Object.assign(job, { state: "refused", retryAfter: (error as { retryAfter: number }).retryAfter });
    }
    return job;
  }

  /** Works for a number of seconds, and calls `each` before each step of 10 ms. */
  async work(seconds: number, each: () => void = () => {}): Promise<void> {
    const step = 0.01;
    for (let done = 0; done < seconds - step / 2; done += step) {
      each();
      // A scan starts in a microtask.
      for (let turns = 0; turns < 3; turns++) await Promise.resolve();
      this.#time += step;
      const working = [...this.#running.values()].filter(({ isIdle }) => !isIdle).length;
      if (working > 0) this.#busy += step * this.processors * (1 - this.#others);
      for (const [job, { turn, isIdle }] of this.#running) {
        job.left -= isIdle ? step : (step * (1 - this.#others)) / working;
        if (job.left > 1e-9) continue;
        Object.assign(job, { state: "done", ended: this.#time });
        this.#running.delete(job);
        turn.end(true);
      }
      this.#sinceLook += step;
      if (this.#sinceLook >= 0.05) {
        this.#sinceLook = 0;
        this.#look?.();
      }
    }
  }

  of(state: Job["state"], name?: string): Job[] {
    return this.jobs.filter((job) => job.state === state && (name === undefined || job.name === name));
  }
}

/** Returns what clients do that each send the next scan when the one before has ended or was rejected. */
function clients(machine: TestMachine, count: number, next: () => JobOptions): () => void {
  const jobs: (Job | undefined)[] = Array.from({ length: count });
  return () => {
    for (const [at, job] of jobs.entries()) {
      if (!job || (job.state !== "waits" && job.state !== "runs")) jobs[at] = machine.ask(next());
    }
  };
}

function median(numbers: number[]): number {
  return numbers.sort((a, b) => a - b)[numbers.length >> 1] as number;
}

const took = (jobs: Job[]) => jobs.map(({ came, ended = Number.NaN }) => ended - came);

describe("Admission", () => {
  it.each([
    ["", 0],
    [", beside programs that take most of the machine", 0.75],
  ])(
    "serves as many scans as it can in time under ten times the load, and rejects the rest at once%s",
    async (_, others) => {
      const machine = new TestMachine({}, others);
      const work = 0.25 * (1 - others);
      // The machine completes four of these per second, and forty arrive.
      let tick = 0;
      await machine.work(30, () => {
        if (tick++ % 2.5 < 1) machine.ask({ work, chars: 8000 });
      });
      const answered = took(machine.of("done"));
      expect(answered.length).toBeGreaterThanOrEqual(0.9 * 30 * 4);
      expect(median(answered)).toBeLessThanOrEqual(3);
      expect(Math.max(...answered)).toBeLessThan(6);
      // Once the cost is known, a scan is rejected on arrival, and none is dropped later.
      expect(machine.of("dropped").length).toBeLessThan(60);
      expect(machine.of("refused").length).toBeGreaterThan(900);
      expect(new Set(machine.shed)).toEqual(new Set(["queue_time"]));
    },
  );

  describe.each([
    ["on an idle machine", 0],
    ["beside programs that take most of the machine", 0.75],
  ])("corrects its first estimates within some scans %s", (_, others) => {
    const speed = 1 - others;
    // 32 clients wait 0.32 s for each other, and the most is 2 s.
    const short = { work: 0.01 * speed, chars: 200 };

    it.each([0.1, 0.3, 0.5])("if the first scan took %s s", async (seconds) => {
      const machine = new TestMachine({}, others);
      machine.ask({ ...short, work: seconds * speed });
      await machine.work(1);
      await machine.work(
        10,
        clients(machine, 32, () => short),
      );
      expect(machine.shed).toEqual([]);
      expect(machine.of("done").length).toBeGreaterThan(950);
    });

    it.each([0.1, 0.3, 0.5])("if the first scans took %s s and the others came at the same time", async (seconds) => {
      const machine = new TestMachine({}, others);
      let count = 0;
      const next = () => ({ ...short, work: (count++ < 4 ? seconds : 0.01) * speed });
      await machine.work(10, clients(machine, 32, next));
      expect(machine.shed).toEqual([]);
    });

    it("if one scan of ten takes ten times as long", async () => {
      const machine = new TestMachine({}, others);
      let count = 0;
      const next = () => ({ ...short, work: (count++ * 7) % 10 === 0 ? 0.1 * speed : short.work });
      await machine.work(20, clients(machine, 64, next));
      expect(machine.shed).toEqual([]);
    });

    it("if prompts of all lengths cost about the same", async () => {
      const machine = new TestMachine({}, others);
      let count = 0;
      const next = () => ({ work: (0.03 + (count % 3) * 0.015) * speed, chars: 50 + ((count++ * 617) % 2000) });
      await machine.work(20, clients(machine, 32, next));
      expect(machine.shed).toEqual([]);
    });
  });

  it("notices that scans of a known length have become expensive", async () => {
    const machine = new TestMachine();
    let work = 0.01;
    const next = clients(machine, 40, () => ({ work, chars: 200 }));
    await machine.work(2, next);
    expect(machine.of("done").length).toBeGreaterThan(150);
    work = 0.2;
    await machine.work(10, next);
    const known = machine.now();
    await machine.work(10, next);
    // The machine completes five of these per second.
    const late = took(machine.of("done").filter(({ came }) => came > known));
    expect(late.length).toBeGreaterThan(35);
    expect(median(late)).toBeLessThan(3);
  });

  it("drops waiting scans when the first ones reveal their cost", async () => {
    const machine = new TestMachine();
    for (let count = 0; count < 128; count++) machine.ask({ work: 1, chars: 8000 });
    expect(machine.of("refused")).toEqual([]);
    await machine.work(4);
    expect(machine.of("dropped").length).toBeGreaterThan(110);
    await machine.work(20);
    expect(took(machine.of("done")).every((seconds) => seconds < 12)).toBe(true);
  });

  it("rejects an unread text only if it would reject the text after reading", async () => {
    const machine = new TestMachine();
    for (const chars of [1000, 1_000_000]) machine.ask({ work: chars / 100_000, chars });
    await machine.work(15);
    const lengths = [0, 10, 1000, 8000, 70_000, 300_000, 1_000_000];
    const isRefused = (chars: number, caller?: string) => {
      try {
        machine.admission.assertAdmissible({ kind: "prompt", chars, caller, timeout: 30 });
        return false;
      } catch (error) {
        expect(error).toMatchObject({ code: "GUARD_OVERLOADED" });
        return true;
      }
    };
    const seen = new Set<boolean>();
    for (let round = 0; round < 40; round++) {
      const work = (chars: number) => (chars + 1000) / 50_000;
      const crowd = lengths[(round * 3) % lengths.length] as number;
      for (let count = 0; count < 40; count++) machine.ask({ caller: "crowd", work: work(crowd), chars: crowd });
      for (const chars of lengths) {
        const isUnread = isRefused(chars, "crowd");
        if (isUnread) expect(machine.ask({ caller: "crowd", work: work(chars), chars }).state).toBe("refused");
        seen.add(isUnread);
      }
      expect(isRefused(10, "somebody else")).toBe(false);
      await machine.work(0.5);
    }
    expect(seen).toEqual(new Set([true, false]));
  });

  it("reports after how many seconds to retry", async () => {
    const machine = new TestMachine();
    machine.ask({ work: 1 });
    await machine.work(2);
    for (let count = 0; count < 10; count++) machine.ask({ work: 1 });
    const [refused] = machine.of("refused");
    expect(refused?.retryAfter).toBeGreaterThanOrEqual(1);
    await machine.work(refused?.retryAfter ?? 0);
    expect(machine.ask({ work: 1 }).state).not.toBe("refused");
  });

  it("does not let one caller's requests delay another caller", async () => {
    const machine = new TestMachine();
    machine.ask({ work: 0.2 });
    await machine.work(1);
    let tick = 0;
    await machine.work(20, () => {
      if (tick % 2 === 0) machine.ask({ name: "crowd", caller: "a", work: 0.2 });
      if (tick++ % 100 === 50) machine.ask({ name: "single", caller: "b", work: 0.2 });
    });
    expect(machine.of("refused", "single").length + machine.of("dropped", "single").length).toBe(0);
    expect(median(took(machine.of("done", "single")))).toBeLessThan(1.5);
    expect(machine.of("done", "crowd").length).toBeGreaterThan(60);
  });

  it("shares the machine between callers by the cost of their scans, not by their number", async () => {
    const machine = new TestMachine({ maxQueueTime: 8 });
    const costs = [
      [0.4, 40_000],
      [0.1, 1000],
    ] as const;
    for (const [work, chars] of costs) machine.ask({ work, chars });
    await machine.work(2);
    await machine.work(20, () => {
      for (const [index, [work, chars]] of costs.entries()) {
        const name = `caller ${index}`;
        if (machine.of("waits", name).length < 4) machine.ask({ name, caller: name, work, chars });
      }
    });
    const [large = 0, small = 0] = costs.map(([work], index) => work * machine.of("done", `caller ${index}`).length);
    expect(Math.max(large, small) / Math.min(large, small)).toBeLessThan(1.5);
  });

  it("starts a short text beside long ones, and limits the number of long ones", async () => {
    const machine = new TestMachine();
    for (const chars of [1000, 1_000_000]) machine.ask({ work: chars / 100_000, chars });
    await machine.work(15);
    for (let count = 0; count < 64; count++) machine.ask({ name: "long", work: 10, chars: 1_000_000 });
    expect(machine.of("refused", "long").length).toBe(62);
    const refused = machine.of("refused", "long")[0];
    expect(refused?.retryAfter).toBeGreaterThan(10);
    await machine.work(1);
    const short = machine.ask({ work: 0.01 });
    await machine.work(1);
    expect(short.state).toBe("done");
    await machine.work(25);
    expect(machine.of("done", "long").length).toBe(2);
  });

  it.each([
    ["long texts", 1_000_000],
    ["texts that look short and are not", 20_000],
  ])("serves short texts of others beside one caller's %s, before it knows any cost", async (_, chars) => {
    const machine = new TestMachine();
    const large = [1, 2, 3, 4].map(() => machine.ask({ name: "large", caller: "a", work: 12, chars, timeout: 60 }));
    await machine.work(0.5);
    let tick = 0;
    await machine.work(6, () => {
      if (tick++ % 25 === 0) machine.ask({ name: "short", caller: "b", work: 0.02, chars: 100 });
    });
    await machine.work(1);
    expect(machine.of("done", "short")).toHaveLength(24);
    expect(Math.max(...took(machine.of("done", "short")))).toBeLessThan(2);
    await machine.work(60);
    expect(large.filter(({ state }) => state === "done").length).toBeGreaterThanOrEqual(2);
  });

  it("gives no caller more than half of the slots while others wait", async () => {
    const machine = new TestMachine({ maxQueueTime: 60 });
    for (let count = 0; count < 40; count++) machine.ask({ name: "crowd", caller: "a", work: 0.5 });
    await machine.work(1);
    for (let count = 0; count < 40; count++) machine.ask({ name: "other", caller: "b", work: 0.5 });
    await machine.work(10);
    expect(machine.of("waits", "crowd").length).toBeGreaterThan(0);
    expect(machine.of("runs", "other").length).toBe(machine.of("runs", "crowd").length);
  });

  it("rejects a scan that would miss its deadline, but never one that runs alone", async () => {
    const machine = new TestMachine({ maxQueueTime: 100 });
    machine.ask({ work: 6, chars: 100_000, timeout: 30 });
    await machine.work(8);
    const asked = [1, 2, 3].map(() => machine.ask({ work: 6, chars: 100_000, timeout: 15 }));
    await machine.work(20);
    expect(asked.map(({ state }) => state)).toEqual(["done", "done", "refused"]);
    expect(machine.shed).toEqual(["deadline"]);
    const alone = machine.ask({ work: 6, chars: 100_000, timeout: 3 });
    expect(alone.state).not.toBe("refused");
  });

  it("runs more scans concurrently while the processors are idle", async () => {
    const machine = new TestMachine();
    for (let round = 0; round < 2; round++) {
      for (let count = 0; count < 100; count++) machine.ask({ work: 1, isIdle: true });
      await machine.work(4);
    }
    expect(machine.of("done").length).toBe(200);
    expect(median(took(machine.of("done")))).toBeLessThan(1.5);
  });

  it("gives a waiting slot to a caller that has fewer", async () => {
    const machine = new TestMachine({ maxScans: 8 });
    const crowd = [1, 2, 3, 4, 5, 6, 7, 8].map(() => machine.ask({ caller: "a", work: 1 }));
    expect(machine.ask({ caller: "a", work: 1 }).state).toBe("refused");
    const other = machine.ask({ caller: "b", work: 1 });
    await machine.work(0.02);
    // It has nothing else that runs.
    expect(other.state).toBe("runs");
    expect(crowd.map(({ state }) => state)).toEqual([...Array(4).fill("runs"), ...Array(3).fill("waits"), "dropped"]);
    expect(machine.shed).toEqual(["queue_size", "queue_size"]);
  });

  it("removes abandoned scans, and does not run them", async () => {
    const machine = new TestMachine({ maxScans: 5 });
    const turns = [1, 2, 3, 4, 5].map(() => machine.admission.admit({ kind: "prompt", chars: 1, timeout: 30 }));
    expect(machine.admission.queueSize).toBe(1);
    turns[4]?.abandon(new Error("gone"));
    await expect(turns[4]?.started).rejects.toThrow("gone");
    expect(machine.admission.queueSize).toBe(0);
    expect(machine.ask({ work: 1 }).state).toBe("waits");
    // A running scan keeps its slot until it ends.
    turns[0]?.abandon(new Error("gone"));
    expect(machine.ask({ work: 1 }).state).toBe("refused");
  });

  it("counts a stream while it is open, and its steps while they run", async () => {
    const machine = new TestMachine({ maxScans: 2 });
    const stream = machine.admission.admitStream("stream");
    machine.admission.admitStream("stream");
    expect(() => machine.admission.admitStream("stream")).toThrow("Too many scans");
    const step = stream.step(100);
    await machine.work(1);
    expect(machine.admission.expectedWait).toBeGreaterThan(0);
    step.end(true);
    expect(machine.admission.expectedWait).toBe(0);
    stream.release();
    stream.release();
    machine.admission.admitStream("stream");
    expect(() => machine.admission.admitStream("stream")).toThrow("Too many scans");
  });

  it("rejects no scan for its wait if no maximum is set", async () => {
    const machine = new TestMachine({ maxQueueTime: Number.POSITIVE_INFINITY });
    machine.ask({ work: 1 });
    await machine.work(2);
    for (let count = 0; count < 40; count++) machine.ask({ work: 1 });
    await machine.work(45);
    expect(machine.of("done").length).toBe(41);
  });
});
