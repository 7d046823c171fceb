// Loaded into a server with --import: a clock that a file shifts. Its content is the number of milliseconds.
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
  constructor(...given) {
    super(...(given.length === 0 ? [RealDate.now() + shift] : given));
  }

  static now() {
    return RealDate.now() + shift;
  }
}

globalThis.Date = ShiftedDate;
