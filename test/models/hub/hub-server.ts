import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** A repository of the hub. */
export interface Repository {
  files: Record<string, Buffer>;
  /** The licence in the front matter of the card (`README.md`), if the files include no card. */
  license?: string;
  /** Whether large files are in Xet storage, which this hub does not serve. It also has plain URLs for them. */
  isXet?: boolean;
  /**
   * Who may read the repository: everybody, users with the token, or nobody. `private` hides that the repository exists, and
   * `gated` hides only its files.
   */
  access?: "private" | "gated";
  /** The commits of tags and branches other than `main`, by name. */
  revisions?: Record<string, string>;
}

/** A request as the hub received it. */
export interface Seen {
  /** The server that received it: the hub itself, or the storage to which the hub redirects for large files. */
  server: "hub" | "storage";
  path: string;
  authorization: string | undefined;
  range: string | undefined;
}

/** A handler that runs before the server. It returns true if it has answered the request itself. */
type Fault = (request: Seen, response: ServerResponse, body: Buffer) => boolean;

export const TOKEN = "hf_secret";
export const COMMIT = "c".repeat(40);
const LARGE = /\.(onnx|onnx_data|data)$/;

const fixtures = fileURLToPath(new URL("../../fixtures", import.meta.url));

/** The files of a fixture, with its graph at `graph`. */
export function fixture(name: "two-heads" | "names", graph = "onnx/model.onnx"): Record<string, Buffer> {
  const read = (file: string) => readFileSync(join(fixtures, name, file));
  return { "config.json": read("config.json"), "tokenizer.json": read("tokenizer.json"), [graph]: read("model.onnx") };
}

/**
 * A server that responds like huggingface.co: model info with hashes, redirects for small files to the hub itself and for large
 * files to another origin, ranges, and error codes in `X-Error-Code`.
 */
export class HubServer {
  readonly repositories: Record<string, Repository> = {};
  readonly seen: Seen[] = [];
  /** Handlers that run for every request, in this order. */
  faults: Fault[] = [];
  url = "";
  #storageUrl = "";
  readonly #servers = [
    createServer((request, response) => this.#hub(request, response)),
    createServer((request, response) => this.#storage(request, response)),
  ];

  async start(): Promise<this> {
    const urls = await Promise.all(
      this.#servers.map(
        (server) =>
          new Promise<string>((resolve) => {
            server.listen(0, "127.0.0.1", () => resolve(`http://127.0.0.1:${(server.address() as AddressInfo).port}`));
          }),
      ),
    );
    [this.url = "", this.#storageUrl = ""] = urls;
    return this;
  }

  async stop(): Promise<void> {
    for (const server of this.#servers) {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    }
  }

  /** The paths of requested files, with their ranges. */
  get downloads(): string[] {
    return this.seen
      .filter(({ path, server }) => server === "storage" || path.startsWith("/api/resolve-cache/"))
      .map(({ path, range }) => `${path.split(`/${COMMIT}/`)[1]}${range ? ` ${range}` : ""}`);
  }

  #see(server: Seen["server"], request: IncomingMessage): Seen {
    const seen = {
      server,
      path: decodeURIComponent(new URL(request.url ?? "", "http://hub").pathname),
      authorization: request.headers.authorization,
      range: request.headers.range,
    };
    this.seen.push(seen);
    return seen;
  }

  #hub(request: IncomingMessage, response: ServerResponse): void {
    const seen = this.#see("hub", request);
    const { path, authorization } = seen;
    const [, owner, name] = /^(?:\/api\/models|\/api\/resolve-cache\/models)?\/([^/]+)\/([^/]+)\//.exec(path) ?? [];
    const repository = this.repositories[`${owner}/${name}`];
    const mayRead = authorization === `Bearer ${TOKEN}`;
    if (authorization === "Bearer invalid") {
      response.setHeader("x-error-message", "Invalid credentials in Authorization header");
      refuse(response, 401);
      return;
    }
    if (this.faults.some((fault) => fault(seen, response, Buffer.alloc(0)))) return;
    if (!repository || (repository.access === "private" && !mayRead)) {
      refuse(response, authorization ? 404 : 401, "RepoNotFound");
      return;
    }
    const info = /^\/api\/models\/[^/]+\/[^/]+\/revision\/(.+)$/.exec(path);
    if (info) {
      const commit = commitOf(repository, info[1] as string);
      if (!commit) {
        refuse(response, 404, "RevisionNotFound");
        return;
      }
      response.setHeader("content-type", "application/json");
      response.end(JSON.stringify(describe(`${owner}/${name}`, repository, commit)));
      return;
    }
    const tree = /^\/api\/models\/[^/]+\/[^/]+\/tree\/([0-9a-f]{40})$/.exec(path);
    if (tree) {
      this.#list(request, response, repository);
      return;
    }
    if (path.endsWith(`/paths-info/${COMMIT}`)) {
      pathsOf(request, response, repository);
      return;
    }
    const file = /^(?:\/api\/resolve-cache\/models)?\/[^/]+\/[^/]+\/(?:resolve\/)?([^/]+)\/(.+)$/.exec(path);
    if (!file || !commitOf(repository, file[1] as string)) {
      refuse(response, 404, "RevisionNotFound");
      return;
    }
    if (repository.access === "gated" && !mayRead) {
      refuse(response, authorization ? 403 : 401, "GatedRepo");
      return;
    }
    const body = contentsOf(repository)[file[2] as string];
    if (!body) {
      refuse(response, 404, "EntryNotFound");
      return;
    }
    const isLarge = LARGE.test(path);
    if (path.startsWith("/api/resolve-cache/")) {
      send(request, response, body, etagOf(path, body));
      return;
    }
    if (repository.isXet && isLarge && request.headers.accept?.includes("application/vnd.xet-fileinfo+json")) {
      response.writeHead(200, {
        "content-type": "application/vnd.xet-fileinfo+json",
        "x-linked-size": body.length,
        "x-linked-etag": `"${etagOf(path, body)}"`,
        "x-xet-hash": "e".repeat(64),
        link: '<http://127.0.0.1:1/auth>; rel="xet-auth", <http://127.0.0.1:1/files>; rel="xet-reconstruction-info"',
      });
      response.end("{}");
      return;
    }
    response.writeHead(isLarge ? 302 : 307, {
      location: isLarge
        ? `${this.#storageUrl}/${owner}/${name}/${COMMIT}/${file[2]}?signature=1`
        : `/api/resolve-cache/models/${owner}/${name}/${COMMIT}/${file[2]}`,
      "x-repo-commit": COMMIT,
      "x-linked-size": body.length,
      "x-linked-etag": `"${etagOf(path, body)}"`,
    });
    response.end();
  }

  /** Lists the files of a commit, with at most two entries on a page. */
  #list(request: IncomingMessage, response: ServerResponse, repository: Repository): void {
    const url = new URL(request.url ?? "", this.url);
    const from = Number(url.searchParams.get("cursor") ?? 0);
    const entries = entriesOf(repository);
    if (entries.length > from + 2) {
      url.searchParams.set("cursor", String(from + 2));
      response.setHeader("link", `<${url}>; rel="next"`);
    }
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify(entries.slice(from, from + 2)));
  }

  #storage(request: IncomingMessage, response: ServerResponse): void {
    const seen = this.#see("storage", request);
    const [, owner, name, , ...rest] = seen.path.split("/");
    const body = this.repositories[`${owner}/${name}`]?.files[rest.join("/")];
    if (!body) {
      refuse(response, 404, "EntryNotFound");
      return;
    }
    if (this.faults.some((fault) => fault(seen, response, body))) return;
    send(request, response, body, etagOf(seen.path, body));
  }
}

function contentsOf({ files, license }: Repository): Record<string, Buffer> {
  const card = Buffer.from(`---\nlanguage:\n- en\nlicense: ${license}\n---\n# A model\n`);
  return license === undefined ? files : { "README.md": card, ...files };
}

function entriesOf(repository: Repository): object[] {
  const files = Object.entries(contentsOf(repository));
  const folders = new Set(
    files.flatMap(([path]) => (path.includes("/") ? [path.slice(0, path.lastIndexOf("/"))] : [])),
  );
  return [
    ...[...folders].map((path) => ({ type: "directory", path, oid: "0".repeat(40), size: 0 })),
    ...files.map(([path, body]) => ({
      type: "file",
      path,
      size: body.length,
      ...hashes(path, body, repository.isXet),
    })),
  ];
}

/** Answers `POST paths-info`, which lists some files and the last commit of each. */
function pathsOf(request: IncomingMessage, response: ServerResponse, repository: Repository): void {
  let body = "";
  request.on("data", (chunk) => {
    body += chunk;
  });
  request.on("end", () => {
    const { paths } = JSON.parse(body) as { paths: string[] };
    const lastCommit = { id: "a".repeat(40), title: "Add files", date: "2026-01-01T00:00:00.000Z" };
    const entries = (entriesOf(repository) as { path: string }[]).filter(({ path }) => paths.includes(path));
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify(entries.map((entry) => ({ ...entry, lastCommit }))));
  });
}

function commitOf({ revisions = {} }: Repository, revision: string): string | undefined {
  if (revision === "main" || revision === COMMIT) return COMMIT;
  return revisions[revision] ?? Object.values(revisions).find((commit) => commit === revision);
}

function describe(id: string, repository: Repository, sha: string) {
  const { license, access } = repository;
  return {
    _id: "1",
    id,
    modelId: id,
    sha,
    private: access === "private",
    gated: access === "gated" ? "manual" : false,
    tags: ["onnx", ...(license ? [`license:${license}`] : [])],
    ...(license ? { cardData: { license } } : {}),
    siblings: Object.keys(contentsOf(repository)).map((rfilename) => ({ rfilename })),
  };
}

function blobId(content: Buffer): string {
  return createHash("sha1").update(`blob ${content.length}\0`).update(content).digest("hex");
}

/** The key of a file's content: its SHA-256 if it is in Git LFS, or else its Git object id. */
export function etagOf(path: string, body: Buffer): string {
  return LARGE.test(path) ? createHash("sha256").update(body).digest("hex") : blobId(body);
}

function hashes(path: string, body: Buffer, isXet = false) {
  if (!LARGE.test(path)) return { oid: blobId(body) };
  const oid = etagOf(path, body);
  const pointer = Buffer.from(`version https://git-lfs.github.com/spec/v1\noid sha256:${oid}\nsize ${body.length}\n`);
  const lfs = { oid, size: body.length, pointerSize: pointer.length };
  return { oid: blobId(pointer), lfs, ...(isXet ? { xetHash: "e".repeat(64) } : {}) };
}

function send(request: IncomingMessage, response: ServerResponse, body: Buffer, etag: string): void {
  const [range, first = "0", last] = /^bytes=(\d+)-(\d*)$/.exec(request.headers.range ?? "") ?? [];
  const from = Number(first);
  const end = last ? Math.min(Number(last) + 1, body.length) : body.length;
  if (from >= body.length && from > 0) {
    response.writeHead(416, { "content-range": `bytes */${body.length}` }).end();
    return;
  }
  response.writeHead(range === undefined ? 200 : 206, {
    etag: `"${etag}"`,
    "x-repo-commit": COMMIT,
    "accept-ranges": "bytes",
    "content-length": end - from,
    ...(range === undefined ? {} : { "content-range": `bytes ${from}-${end - 1}/${body.length}` }),
  });
  response.end(body.subarray(from, end));
}

function refuse(response: ServerResponse, status: number, code?: string): void {
  response.writeHead(status, { ...(code ? { "x-error-code": code } : {}), "content-type": "application/json" });
  response.end(JSON.stringify({ error: code ?? "Refused" }));
}
