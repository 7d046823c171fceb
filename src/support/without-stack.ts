/**
 * Creates an error without a stack trace. Use it for errors that answer requests: under a flood of refused requests, capturing the stack
 * would be most of the work.
 *
 * @param make creates the error. It is called immediately.
 */
export function withoutStack<E extends Error>(make: () => E): E {
  // V8 reads this whenever an error is created (https://v8.dev/docs/stack-trace-api).
  const limit = Error.stackTraceLimit;
  Error.stackTraceLimit = 0;
  try {
    return make();
  } finally {
    Error.stackTraceLimit = limit;
  }
}
