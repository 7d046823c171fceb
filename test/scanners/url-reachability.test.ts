import { createSocket, type Socket } from "node:dgram";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { URLReachability } from "../../src/scanners/generated/output-scanners.ts";
import { refusal } from "../../src/scanners/url-reachability/public-addresses.ts";

let server: Server;
let dns: Socket;
let port: number;
let dnsPort: number;
/** The paths and headers of the requests that the server received. */
let requests: { path: string; host?: string | undefined; authorization?: string | undefined }[] = [];
/** The addresses that the DNS server returns for a name: one list for each answer. */
const names: Record<string, string[][]> = {};
let bodySent = 0;

beforeAll(async () => {
  server = createServer((request, response) => {
    const path = request.url ?? "";
    requests.push({ path, host: request.headers.host, authorization: request.headers.authorization });
    const [, redirect] = /^\/to\?(.*)$/.exec(path) ?? [];
    if (redirect !== undefined) response.writeHead(302, { location: decodeURIComponent(redirect) }).end();
    else if (path === "/loop") response.writeHead(307, { location: "/loop" }).end();
    else if (path === "/slow") return;
    else if (path === "/missing") response.writeHead(404).end();
    else if (path === "/headers") response.writeHead(200, { x: "x".repeat(100_000) }).end();
    else if (path === "/big") {
      response.writeHead(200);
      const chunk = Buffer.alloc(65_536);
      const send = () => {
        while (!response.destroyed && response.write(chunk)) bodySent += chunk.length;
        if (!response.destroyed) response.once("drain", send);
      };
      send();
    } else response.writeHead(200).end("fine");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  port = (server.address() as AddressInfo).port;

  // A DNS server for names of the tests: A records only (RFC 1035, section 4).
  dns = createSocket("udp4");
  dns.on("message", (query, { address, port }) => {
    const labels: string[] = [];
    let at = 12;
    for (let length = query[at] as number; length > 0; length = query[at] as number) {
      labels.push(query.toString("latin1", at + 1, at + 1 + length));
      at += 1 + length;
    }
    const end = at + 5;
    const isA = query.readUInt16BE(at + 1) === 1;
    const list = names[labels.join(".")];
    const addresses = (isA && ((list?.length ?? 0) > 1 ? list?.shift() : list?.[0])) || [];
    const header = Buffer.from(query.subarray(0, 12));
    header.writeUInt16BE(0x8180, 2);
    header.writeUInt16BE(addresses.length, 6);
    header.writeUInt16BE(0, 8);
    header.writeUInt16BE(0, 10);
    const answers = addresses.map((item) =>
      Buffer.from([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4, ...item.split(".").map(Number)]),
    );
    dns.send(Buffer.concat([header, query.subarray(12, end), ...answers]), port, address);
  });
  await new Promise<void>((resolve) => dns.bind(0, "127.0.0.1", resolve));
  dnsPort = dns.address().port;
});

beforeEach(() => {
  requests = [];
});

afterAll(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  dns.close();
});

type Options = ConstructorParameters<typeof URLReachability>[0];
const local = (options: Options = {}): Options => ({
  allowedNetworks: ["127.0.0.1"],
  allowedPorts: [80, port],
  dnsServers: [`127.0.0.1:${dnsPort}`],
  ...options,
});
/** The reasons why URLs of the text count as not reached. */
const problems = async (text: string, options: Options = local()) => {
  const verdict = await new URLReachability(options).scan(text);
  expect(verdict.isValid).toBe(verdict.findings.length === 0);
  expect(verdict.score).toBe(verdict.isValid ? -1 : 1);
  return verdict.findings.map(({ label }) => label);
};

describe("URLReachability", () => {
  it("requests each URL of a text once", async () => {
    const url = `http://127.0.0.1:${port}`;
    expect(await problems("no URL")).toEqual([]);
    expect(await problems(`See ${url}/a and ${url}/a or ${url}/b?x=1.`)).toEqual([]);
    expect(requests.map(({ path }) => path).sort()).toEqual(["/a", "/b?x=1"]);
    const text = `é ${url}/missing and ${url}/a`;
    const { findings } = await new URLReachability(local()).scan(text);
    expect(findings).toEqual([
      { start: 2, end: 2 + url.length + 8, type: "url", text: `${url}/missing`, score: 1, label: "status 404" },
    ]);
    expect(await problems(text, local({ successStatusCodes: [404, 200] }))).toEqual([]);
  });

  it("connects to public hosts only, whatever the spelling of their address", async () => {
    for (const host of [
      "127.0.0.1",
      "0x7f.1",
      "2130706433",
      "[::1]",
      "[::ffff:7f00:1]",
      "169.254.169.254",
      "10.0.0.1",
    ]) {
      expect(await problems(`http://${host}/x`, {}), host).toEqual([expect.stringMatching(/^refused: .* address$/)]);
    }
    names["inside.example.com"] = [["10.0.0.1"]];
    names["mixed.example.com"] = [["127.0.0.1", "10.0.0.1"]];
    expect(await problems(`http://inside.example.com http://mixed.example.com:${port}`)).toEqual([
      "refused: private address",
      "refused: private address",
    ]);
    expect(requests).toEqual([]);
  });

  it("connects to the address that was checked", async () => {
    // A second look-up would get the second answer.
    names["rebinding.example.com"] = [["127.0.0.1"], ["10.0.0.1"]];
    expect(await problems(`http://rebinding.example.com:${port}/x`)).toEqual([]);
    expect(requests).toMatchObject([{ path: "/x", host: `rebinding.example.com:${port}` }]);
    expect(await problems("http://unknown.example.com/")).toEqual(["no address"]);
  });

  it("checks and counts redirects", async () => {
    const to = (target: string) => `http://127.0.0.1:${port}/to?${encodeURIComponent(target)}`;
    expect(await problems(to("/a"))).toEqual([]);
    expect(await problems(to("http://169.254.169.254/latest/meta-data"))).toEqual(["refused: link local address"]);
    expect(await problems(to("http://[fd00:ec2::254]/"))).toEqual(["refused: unique local address"]);
    expect(await problems(to("file:///etc/passwd"))).toEqual(["refused: scheme file:"]);
    expect(await problems(to("http://127.0.0.1:22/"))).toEqual(["refused: port 22"]);
    requests = [];
    expect(await problems(`http://127.0.0.1:${port}/loop`, local({ maxRedirects: 3 }))).toEqual([
      "more than 3 redirects",
    ]);
    expect(requests).toHaveLength(4);
  });

  it("reads no body, and limits headers", async () => {
    expect(await problems(`http://127.0.0.1:${port}/big`)).toEqual([]);
    expect(bodySent).toBeLessThan(50_000_000);
    expect(await problems(`http://127.0.0.1:${port}/headers`)).toEqual(["HPE_HEADER_OVERFLOW"]);
  });

  it("stops at the timeout", async () => {
    expect(await problems(`http://127.0.0.1:${port}/slow`, local({ timeout: 0.2 }))).toEqual(["timeout"]);
    const stop = new AbortController();
    requests = [];
    const scan = new URLReachability(local()).scan(`http://127.0.0.1:${port}/slow`, { signal: stop.signal });
    const rejected = expect(scan).rejects.toThrow("enough");
    await expect.poll(() => requests.length).toBe(1);
    stop.abort(new Error("enough"));
    await rejected;
  });

  it("sends no credentials", async () => {
    expect(await problems(`http://user:secret@127.0.0.1:${port}/x`)).toEqual([]);
    expect(requests).toEqual([{ path: "/x", host: `127.0.0.1:${port}`, authorization: undefined }]);
  });

  it("fails a text with more URLs than maxUrls, and reports skipped ones in the coverage", async () => {
    const url = `http://127.0.0.1:${port}/`;
    const verdict = await new URLReachability(local({ maxUrls: 2 })).scan(`${url}1 ${url}2 ${url}3`);
    expect(verdict).toMatchObject({
      isValid: false,
      findings: [{ text: `${url}3`, label: "not checked: more than 2 URLs" }],
    });
    expect(verdict.coverage).toMatchObject({ truncated: true, scannedChars: 2 * (url.length + 2) });
  });

  it.each([
    { timeout: 0 },
    { allowedNetworks: ["10.0.0.0/99"] },
    { successStatusCodes: [] },
    { dnsServers: ["dns.example.com"] },
    { allowedPorts: [0] },
  ])("refuses %j", (options) => {
    expect(() => new URLReachability(options as never)).toThrow(new RegExp(Object.keys(options)[0] as string));
  });
});

describe("refusal", () => {
  it.each([
    "0.0.0.0",
    "10.1.2.3",
    "100.64.0.1",
    "100.100.100.200",
    "127.9.9.9",
    "168.63.129.16",
    "169.254.169.254",
    "172.31.0.1",
    "192.0.0.1",
    "192.168.0.1",
    "198.18.0.1",
    "224.0.0.1",
    "240.0.0.1",
    "255.255.255.255",
    "::",
    "::1",
    "::7f00:1",
    "::ffff:8.8.8.8",
    "64:ff9b::808:808",
    "64:ff9b:1::1",
    "2001::1",
    "2001:db8::1",
    "2002:7f00:1::",
    "fc00::1",
    "fd00:ec2::254",
    "fe80::1",
    "fec0::1",
    "ff02::1",
  ])("refuses %s", (address) => {
    expect(refusal(address, [])).toMatch(/ address$/);
  });

  it.each(["8.8.8.8", "1.1.1.1", "2606:4700:4700::1111", "2a00:1450:4001:81b::200e"])("allows %s", (address) => {
    expect(refusal(address, [])).toBeUndefined();
  });
});
