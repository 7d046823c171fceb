/** The JavaScript heap of this process in MB, and its numbers of timers, handles of any kind, and listeners of `process`. */
export function openResources() {
  const resources = process.getActiveResourcesInfo();
  return {
    heap: process.memoryUsage().heapUsed / 2 ** 20,
    timers: resources.filter((kind) => kind === "Timeout" || kind === "Immediate").length,
    handles: resources.length,
    listeners: process.eventNames().reduce((total, name) => total + process.listenerCount(name), 0),
  };
}
