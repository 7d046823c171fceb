import { Problem, problemBody } from "./problem.ts";

/**
 * The whole answer, headers included, to bytes that are not HTTP. There is no request yet that could be answered.
 *
 * @param code the code of Node's error, such as `HPE_INVALID_METHOD`.
 */
export function rawProblem(code: string): string {
  const status = { ERR_HTTP_REQUEST_TIMEOUT: 408, HPE_HEADER_OVERFLOW: 431 }[code] ?? 400;
  const problem = problemBody(new Problem(status, "This is not a request that can be read."));
  const body = JSON.stringify(problem);
  const head = [
    `HTTP/1.1 ${status} ${problem.title}`,
    "Content-Type: application/problem+json",
    `Content-Length: ${Buffer.byteLength(body)}`,
    "Connection: close",
  ];
  return `${head.join("\r\n")}\r\n\r\n${body}`;
}
