import type { Transport } from "@modelcontextprotocol/client";
import { buildScanners, loadConfig } from "../config/index.ts";
import { serviceOptions } from "../config/service-options.ts";
import { GuardValidationError } from "../errors.ts";
import { Engine } from "../models/engine.ts";
import { nameScanners } from "../scan.ts";
import type { Scanner } from "../scanner.ts";
import { listsByName, type ScanServiceOptions } from "../service.ts";
import type { Source } from "../source.ts";
import { McpGuard, type McpGuardOptions } from "./guard.ts";
import type { ScannersBySource } from "./judge.ts";
import { McpProxy } from "./proxy.ts";

/** The sources that texts of MCP have. */
const READ: readonly Source[] = ["tool", "tool_call", "tool_definition"];

/** One session with the scanners of a configuration. */
export class McpSession {
  readonly #scanners: readonly Scanner[];
  readonly #guard: McpGuard;
  readonly #log: (line: string) => void;
  #proxy: McpProxy | undefined;
  #isClosed = false;

  private constructor(scanners: readonly Scanner[], guard: McpGuard, log: (line: string) => void) {
    this.#scanners = scanners;
    this.#guard = guard;
    this.#log = log;
  }

  /**
   * Reads a configuration and loads the models of its input scanners that read texts of MCP.
   *
   * @throws GuardValidationError with the path of every value at fault, or when no scanner reads such texts.
   */
  static async fromConfig(
    file: string,
    options: McpGuardOptions & { log: (line: string) => void },
  ): Promise<McpSession> {
    const config = await loadConfig(file);
    const { input } = buildScanners(config, { engine: Engine.fromEnvironment(process.env) });
    const limits = serviceOptions(config);
    const bySource = scannersBySource(input, limits);
    const used = [...new Set(READ.flatMap((source) => bySource[source] ?? []))];
    if (used.length === 0) {
      const message = `${file} has no input scanner that reads ${READ.join(", ")}: every message would pass`;
      throw new GuardValidationError([{ path: "input_scanners", message }]);
    }
    for (const scanner of used) await scanner.load?.();
    const { promptTimeout: timeout, requireFullCoverage } = limits;
    const lists = READ.map(
      (source) => `${source}: ${(bySource[source] ?? []).map(({ name }) => name).join(", ") || "none"}`,
    );
    options.log(lists.join("; "));
    return new McpSession(input, new McpGuard(bySource, { timeout, requireFullCoverage, ...options }), options.log);
  }

  /** Connects both sides until one of them ends. @returns who has ended the session. */
  async run(client: Transport, server: Transport): Promise<"client" | "server" | "caller"> {
    if (this.#isClosed) return "caller";
    this.#proxy = new McpProxy({ client, server, guard: this.#guard, log: this.#log });
    try {
      await this.#proxy.start();
      return await this.#proxy.ended;
    } finally {
      await this.#proxy.close();
      await Promise.allSettled(this.#scanners.map((scanner) => scanner.close?.()));
    }
  }

  /** Ends the session. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#proxy?.close();
  }
}

/**
 * The scanners of a configuration by the sources that they read: those that `conversation.scan` names, or else those that ask for them.
 *
 * @throws GuardValidationError for a name that no input scanner has, with its path.
 */
function scannersBySource(scanners: readonly Scanner[], options: ScanServiceOptions): ScannersBySource {
  const chosen = listsByName(options, nameScanners(scanners, "scanners.input"));
  return Object.fromEntries(
    READ.map((source) => [
      source,
      chosen[source]?.map(({ scanner }) => scanner) ??
        scanners.filter(({ conversation }) => conversation?.sources?.includes(source)),
    ]),
  );
}
