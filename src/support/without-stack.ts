/**
 * Makes an error that does not say where it was made. For errors that answer requests, which nobody looks for in the code: under a flood
 * of requests that are refused, writing down the stack would be the largest part of the work.
 *
 * @param make makes the error, and runs at once.
 */
export function withoutStack<E extends Error>(make: () => E): E {
  // Read by V8 whenever an error is made (https://v8.dev/docs/stack-trace-api).
  const limit = Error.stackTraceLimit;
  Error.stackTraceLimit = 0;
  try {
    return make();
  } finally {
    Error.stackTraceLimit = limit;
  }
}
