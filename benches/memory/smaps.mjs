// The memory of a process by kind (Linux: /proc/PID/smaps, https://man7.org/linux/man-pages/man5/proc_pid_smaps.5.html).
import { readFileSync } from "node:fs";
import { basename } from "node:path";

/**
 * The resident memory of a process in MB (2^20 bytes): `total` (Rss), `proportional` (Pss, which divides shared pages among processes),
 * `anonymous` without a file, and `files` by name, largest first.
 */
export function memoryOf(pid) {
  const files = new Map();
  const sums = { total: 0, proportional: 0, anonymous: 0 };
  let file = "";
  for (const line of readFileSync(`/proc/${pid}/smaps`, "utf8").split("\n")) {
    const mapping = /^[0-9a-f]+-[0-9a-f]+ \S+ \S+ \S+ \d+ *(.*)$/.exec(line);
    if (mapping) {
      file = mapping[1].startsWith("/") ? basename(mapping[1].replace(/ \(deleted\)$/, "")) : "";
      continue;
    }
    const [, name, text] = /^(Rss|Pss): +(\d+) kB$/.exec(line) ?? [];
    const megabytes = Number(text) / 1024;
    if (name === "Pss") sums.proportional += megabytes;
    if (name !== "Rss") continue;
    sums.total += megabytes;
    if (file === "") sums.anonymous += megabytes;
    else files.set(file, (files.get(file) ?? 0) + megabytes);
  }
  return { ...sums, files: Object.fromEntries([...files].sort(([, a], [, b]) => b - a)) };
}
