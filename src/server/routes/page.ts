import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { extname } from "node:path";
import type { FastifyInstance } from "fastify";
import type { AuthEntry } from "../../config/index.ts";
import { pageFolder } from "../../own-files.ts";

/** The page of `GET /`, with a place for the settings of the server. */
const PAGE = "page.html";

const TYPES: Record<string, string> = {
  ".css": "text/css; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".svg": "image/svg+xml",
};

/**
 * The page loads only its own files and calls only its own server. It has no inline scripts or styles, never turns text into HTML (Trusted
 * Types), and cannot be framed.
 */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
].join("; ");

export const SECURITY_HEADERS = {
  "content-security-policy": POLICY,
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "cache-control": "no-cache",
};

/** The settings of the server that the page needs. */
export interface PageSettings {
  /** The name of the service. */
  name: string;
  /** The entries of `auth`. The page gets their types and headers, but no secrets. */
  schemes: readonly AuthEntry[];
  /** Number of user messages in the window. */
  window: number;
}

/** Returns the HTML of the page. */
export function pageFor({ name, schemes, window }: PageSettings): string {
  const kinds = schemes.map((entry) =>
    entry.type === "api_key" ? { type: entry.type, header: entry.header } : { type: entry.type },
  );
  const unique = [...new Map(kinds.map((kind) => [JSON.stringify(kind), kind])).values()];
  const values: Record<string, string> = { name, settings: JSON.stringify({ schemes: unique, window }) };
  return readFileSync(new URL(PAGE, pageFolder), "utf8").replaceAll(/\{\{(\w+)\}\}/g, (_, key: string) =>
    escapeHtml(values[key] ?? ""),
  );
}

/** `GET /page/*`: the files of the page, from memory. They are public and not part of the API description. */
export async function pageRoutes(app: FastifyInstance): Promise<void> {
  for (const name of readdirSync(pageFolder)) {
    const type = TYPES[extname(name)];
    if (!type) continue;
    const content = readFileSync(new URL(name, pageFolder));
    const etag = `"${createHash("sha256").update(content).digest("base64url").slice(0, 22)}"`;
    app.get(`/page/${name}`, {
      config: { public: true },
      schema: { hide: true },
      handler: async ({ headers }, reply) => {
        reply.headers({ ...SECURITY_HEADERS, etag });
        return headers["if-none-match"] === etag ? reply.code(304).send() : reply.type(type).send(content);
      },
    });
  }
}

function escapeHtml(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
