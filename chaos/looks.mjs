// Loaded into a server before guard: tells whoever started the server what is open in its process.
process.on("message", () => {
  const kinds = {};
  for (const kind of process.getActiveResourcesInfo()) kinds[kind] = (kinds[kind] ?? 0) + 1;
  process.send({
    heap: process.memoryUsage().heapUsed / 2 ** 20,
    timers: (kinds.Timeout ?? 0) + (kinds.Immediate ?? 0),
    handles: Object.values(kinds).reduce((total, count) => total + count, 0),
    listeners: process.eventNames().reduce((total, name) => total + process.listenerCount(name), 0),
  });
});
// The server ends as it would without anybody to tell.
process.channel.unref();
