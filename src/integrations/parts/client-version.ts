/**
 * The version of a client that Stainless generated, such as those of OpenAI and Anthropic. It is undefined where the client does not
 * say it.
 */
export function clientVersion(client: object): string | undefined {
  // Protected in TypeScript. It returns the header, such as `OpenAI/JS 6.1.0`.
  const { getUserAgent } = client as { getUserAgent?: () => unknown };
  const header = typeof getUserAgent === "function" ? getUserAgent.call(client) : undefined;
  return typeof header === "string" ? /\/JS (\d+\.\d+\S*)/.exec(header)?.[1] : undefined;
}
