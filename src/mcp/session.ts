import { Client, InMemoryTransport, type Transport } from "@modelcontextprotocol/client";
import { loadConfig } from "../config/index.ts";
import { Engine } from "../models/engine.ts";
import { describeMode } from "../scan/describe-mode.ts";
import { isEverywhere, leastStrict, type Mode, type ModeSetting } from "../scan/mode.ts";
import type { Source } from "../scan/source.ts";
import { createService } from "../service/create-service.ts";
import type { ScanService } from "../service/service.ts";
import { GuardValidationError } from "../support/errors.ts";
import { version } from "../support/version.ts";
import { McpGuard, type McpGuardOptions } from "./guard.ts";
import type { PinFile } from "./pin-file.ts";
import { McpProxy } from "./proxy.ts";

/** The sources of texts of MCP. */
const SOURCES: readonly Source[] = ["tool", "tool_call", "tool_definition"];

/** Returns log lines about the scanners that have no effect on messages. */
function modeLines({ scanners, mode }: ScanService): string[] {
  const describe = (wanted: Mode) =>
    scanners.input.flatMap((item) => describeMode({ ...item, side: "input", mode }, wanted) ?? []).join(", ");
  const [monitoring, off] = [describe("monitor"), describe("off")];
  return [...(monitoring ? [`only monitoring: ${monitoring}`] : []), ...(off ? [`off: ${off}`] : [])];
}

/** A session with the scanners of a configuration. */
export class McpSession {
  readonly #service: ScanService;
  readonly #guard: McpGuard;
  readonly #log: (line: string) => void;
  #proxy: McpProxy | undefined;
  #isClosed = false;

  private constructor(service: ScanService, guard: McpGuard, log: (line: string) => void) {
    this.#service = service;
    this.#guard = guard;
    this.#log = log;
  }

  /**
   * Reads a configuration and loads the models of the input scanners that read texts of MCP.
   *
   * @throws GuardValidationError with the path of every invalid value, and if no scanner reads such texts or keeps pins.
   */
  static async fromConfig(
    file: string,
    {
      pins,
      mode,
      ...options
    }: McpGuardOptions & { log: (line: string) => void; pins?: PinFile | undefined; mode?: ModeSetting | undefined },
  ): Promise<McpSession> {
    const config = await loadConfig(file);
    const engine = Engine.fromEnvironment(process.env);
    const service = createService(config, {
      engine,
      scanners: { output: [] },
      environment: pins ? { toolPins: pins } : {},
      // Masking is decided for each message, and all scanners read it.
      settings: {
        lazyLoad: true,
        failFast: false,
        onScannerError: "throw",
        masking: [],
        mode: leastStrict(config.app.mode, mode),
      },
    });
    const scannersOf = (source: Source) => service.scannersOf(source);
    const isOff = isEverywhere(service.mode, "off");
    if (!isOff && SOURCES.every((source) => scannersOf(source).length === 0)) {
      const message = `${file} has no input scanner that reads ${SOURCES.join(", ")}: every message would pass`;
      throw new GuardValidationError([{ path: "input_scanners", message }]);
    }
    if (pins && !isOff && !scannersOf("tool_definition").some(({ scanner }) => scanner.keepsPins)) {
      const message = `${file} has no scanner that reads tool_definition and keeps pins: a changed tool would pass`;
      throw new GuardValidationError([{ path: "input_scanners", message }]);
    }
    for (const { scanner } of new Set(SOURCES.flatMap(scannersOf))) await scanner.load?.();
    const lists = SOURCES.map(
      (source) =>
        `${source}: ${
          scannersOf(source)
            .map(({ name }) => name)
            .join(", ") || "none"
        }`,
    );
    options.log(lists.join("; "));
    for (const line of modeLines(service)) options.log(line);
    return new McpSession(service, new McpGuard(service, options), options.log);
  }

  /** Connects both sides until one of them ends the session. @returns the side that ended it. */
  async run(client: Transport, server: Transport): Promise<"client" | "server" | "caller"> {
    if (this.#isClosed) return "caller";
    this.#proxy = new McpProxy({ client, server, guard: this.#guard, log: this.#log });
    try {
      await this.#proxy.start();
      return await this.#proxy.ended;
    } finally {
      await this.#proxy.close();
      await this.#service.close();
    }
  }

  /** Lists the tools of a server and ends the session. @returns the tools that pass. */
  async listTools(server: Transport): Promise<{ name: string; description?: string | undefined }[]> {
    const [near, far] = InMemoryTransport.createLinkedPair();
    const ended = this.run(far, server);
    // If the server cannot be started, this promise rejects before it is awaited.
    ended.catch(() => {});
    const client = new Client({ name: "guard", version });
    try {
      await Promise.race([
        client.connect(near),
        ended.then(() => Promise.reject(new Error("the server ended the session"))),
      ]);
      const tools: { name: string; description?: string | undefined }[] = [];
      let cursor: string | undefined;
      do {
        const page = await client.listTools(cursor === undefined ? undefined : { cursor });
        tools.push(...page.tools);
        cursor = page.nextCursor;
      } while (cursor !== undefined);
      return tools;
    } finally {
      await client.close();
      await ended.catch(() => {});
    }
  }

  /** Ends the session. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#proxy?.close();
  }
}
