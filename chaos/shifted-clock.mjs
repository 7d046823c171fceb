// Preloaded into a server: shifts the clock by the milliseconds in the file that GUARD_CHAOS_CLOCK names.
import { readFileSync } from "node:fs";

const RealDate = Date;
let shift = 0;
setInterval(() => {
  try {
    shift = Number(readFileSync(process.env.GUARD_CHAOS_CLOCK, "utf8")) || 0;
  } catch {
    shift = 0;
  }
}, 50).unref();

class ShiftedDate extends RealDate {
  constructor(...args) {
    super(...(args.length === 0 ? [RealDate.now() + shift] : args));
  }

  static now() {
    return RealDate.now() + shift;
  }
}

globalThis.Date = ShiftedDate;
