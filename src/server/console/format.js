// Writes numbers and times for people.

const NUMBER = new Intl.NumberFormat("en");
const CLOCK = new Intl.DateTimeFormat([], { hour: "2-digit", minute: "2-digit", hourCycle: "h23" });
const SECONDS = new Intl.DateTimeFormat([], {
  hour: "2-digit",
  minute: "2-digit",
  second: "2-digit",
  hourCycle: "h23",
});
const DAY = new Intl.DateTimeFormat([], {
  year: "numeric",
  month: "short",
  day: "numeric",
  hour: "2-digit",
  minute: "2-digit",
  hourCycle: "h23",
});

/** @param {number} value */
export function number(value) {
  return NUMBER.format(value);
}

/** @param {number} amount @param {string} noun */
export function count(amount, noun) {
  return `${number(amount)} ${noun}${amount === 1 ? "" : "s"}`;
}

/** Returns a share in percent; small ones are never 0 %. @param {number} part @param {number} whole */
export function percent(part, whole) {
  if (whole === 0 || part === 0) return "0%";
  const share = (100 * part) / whole;
  return share < 1 ? "<1%" : `${Math.round(share)}%`;
}

/** @param {number} ms */
export function milliseconds(ms) {
  return ms < 10 ? `${ms.toFixed(1)} ms` : `${number(Math.round(ms))} ms`;
}

/** @param {number} bytes */
export function bytes(bytes) {
  return bytes < 1e6 ? `${Math.max(1, Math.round(bytes / 1e3))} kB` : `${(bytes / 1e6).toFixed(1)} MB`;
}

/** @param {string} time */
export function clock(time) {
  return CLOCK.format(new Date(time));
}

/** @param {string} time */
export function clockWithSeconds(time) {
  return SECONDS.format(new Date(time));
}

/** @param {string} time */
export function dateTime(time) {
  return DAY.format(new Date(time));
}

/** Returns how long ago a time was: `3 days`. @param {string} time */
export function age(time) {
  const minutes = Math.floor((Date.now() - Date.parse(time)) / 60_000);
  if (minutes < 1) return "less than a minute";
  if (minutes < 120) return count(minutes, "minute");
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? count(hours, "hour") : count(Math.floor(hours / 24), "day");
}

/** Returns a name in results for people: `X[tool_call]` is `X (tool call)`. @param {string} name */
export function checkTitle(name) {
  return name.replace(/\[(\w+)\]$/, (_, scope) => ` (${scope.replaceAll("_", " ")})`);
}
