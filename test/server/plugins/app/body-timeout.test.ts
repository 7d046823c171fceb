import type { AddressInfo } from "node:net";
import { connect } from "node:net";
import { text } from "node:stream/consumers";
import fastify from "fastify";
import { describe, expect, it, onTestFinished } from "vitest";
import { bodyTimeout } from "../../../../src/server/plugins/app/body-timeout.ts";

describe("the time limit of bodies", () => {
  it("ends requests whose body does not arrive, and leaves those alone that stream", async () => {
    const app = fastify();
    onTestFinished(() => app.close());
    await app.register(bodyTimeout, { arrival: 100, linger: 100 });
    app.post("/whole", async () => "whole");
    app.post("/stream", { config: { streams: true } }, async () => "stream");
    await app.listen({ port: 0 });
    const { port } = app.server.address() as AddressInfo;
    const send = (path: string, body: string) => {
      const socket = connect(port, "127.0.0.1");
      onTestFinished(() => void socket.destroy());
      const head = ["Host: x", "Content-Type: application/json", "Content-Length: 2", "Connection: close"];
      socket.write(`POST ${path} HTTP/1.1\r\n${head.join("\r\n")}\r\n\r\n${body}`);
      return { socket, reply: text(socket) };
    };
    const late = send("/stream", "{");
    expect(await send("/whole", "{").reply).toMatch(/^HTTP\/1.1 408 .*problem\+json/s);
    expect(await send("/whole", "{}").reply).toMatch(/^HTTP\/1.1 200 /);
    late.socket.write("}");
    expect(await late.reply).toMatch(/^HTTP\/1.1 200 /);
  });

  it("cuts a client that goes on sending after its answer", async () => {
    const app = fastify();
    onTestFinished(() => app.close());
    await app.register(bodyTimeout, { arrival: 60_000, linger: 100 });
    app.post(
      "/refused",
      { config: { streams: true }, onRequest: (_, reply) => void reply.code(401).send("no") },
      async () => "",
    );
    await app.listen({ port: 0 });
    const socket = connect((app.server.address() as AddressInfo).port, "127.0.0.1");
    onTestFinished(() => void socket.destroy());
    socket.write(
      "POST /refused HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{",
    );
    expect(await text(socket).catch((error) => error.code)).toMatch(/^HTTP\/1.1 401 |ECONNRESET/);
  });
});
