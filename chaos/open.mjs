// What a process has and has open, seen from within.

/** The JavaScript heap in MB, and how many timers, handles of any kind and listeners of the process there are. */
export function open() {
  const resources = process.getActiveResourcesInfo();
  return {
    heap: process.memoryUsage().heapUsed / 2 ** 20,
    timers: resources.filter((kind) => kind === "Timeout" || kind === "Immediate").length,
    handles: resources.length,
    listeners: process.eventNames().reduce((total, name) => total + process.listenerCount(name), 0),
  };
}
