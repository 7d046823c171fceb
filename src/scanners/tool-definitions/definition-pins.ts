import type { ToolDefinition } from "../../scan/conversation-text.ts";
import type { Finding } from "../../scan/scanner.ts";
import { GuardValidationError } from "../../support/errors.ts";
import { changeSince, memoryStore, type PinStore, pinOf, randomKey, type ToolPins } from "../parts/tool-pins.ts";

interface PinOptions {
  toolPins: Readonly<Record<string, string>>;
  pinKey?: string | undefined;
  requirePins: boolean;
  pins: "off" | "trust_first";
  pinStore?: PinStore | undefined;
}

/** Makes a finding that points at the name of a tool. */
export type NameFinding = (type: string, label: string) => Finding;

/** Compares tool definitions with their pins, and with the first definitions of their names. */
export class DefinitionPins {
  readonly #pinned: ReadonlyMap<string, string>;
  readonly #isRequired: boolean;
  readonly #key: string;
  /** The pins of the first definitions, if the scanner trusts the first one of a name. */
  readonly #first: PinStore | undefined;

  /**
   * @param kept the pins that the program keeps from one run to the next.
   * @param remembered the pins that the program remembers while it runs.
   * @throws GuardValidationError for options that cannot be used together.
   */
  constructor(options: PinOptions, kept: ToolPins | undefined, remembered: ToolPins | undefined) {
    checkOptions(options, kept);
    const { toolPins, pinKey, requirePins, pins, pinStore } = options;
    this.#pinned = new Map(Object.entries(toolPins));
    this.#isRequired = requirePins;
    this.#key = pinKey ?? kept?.key ?? remembered?.key ?? randomKey();
    const ownStore = pins === "trust_first" ? (pinStore ?? remembered?.store ?? memoryStore()) : undefined;
    this.#first = kept?.store ?? ownStore;
  }

  /** Whether a definition is unchanged since somebody read and pinned it. */
  isPinned(tool: ToolDefinition | undefined): boolean {
    return tool !== undefined && this.#pinned.get(tool.name) === pinOf(tool, this.#key);
  }

  /** Compares a definition with its pin. */
  findChanges(tool: ToolDefinition | undefined, finding: NameFinding): Finding[] {
    const name = tool?.name ?? "";
    const pinned = this.#pinned.get(name);
    if (pinned === undefined) {
      const label = `${name || "A tool without a name"} has no pin.`;
      return this.#isRequired ? [finding("unpinned_definition", label)] : [];
    }
    const change = tool && changeSince(pinned, pinOf(tool, this.#key));
    return change ? [finding("changed_definition", `${name} is not what was pinned: ${change} changed.`)] : [];
  }

  /**
   * Compares a definition with the first one of its name.
   *
   * @param isTrusted whether a first definition is remembered. A definition that fails is not, because later ones would be compared with it.
   */
  async compareWithFirst(tool: ToolDefinition, isTrusted: boolean, finding: NameFinding): Promise<Finding[]> {
    const { name } = tool;
    if (!this.#first || name === "") return [];
    const pin = pinOf(tool, this.#key);
    const first = await this.#first.get(name);
    if (first === undefined) {
      if (isTrusted) await this.#first.set(name, pin);
      return [];
    }
    const change = changeSince(first, pin);
    return change
      ? [finding("changed_definition", `${name} is not what it was when first seen: ${change} changed.`)]
      : [];
  }
}

function checkOptions({ toolPins, pinKey, pins, pinStore }: PinOptions, kept: ToolPins | undefined): void {
  const hasPins = Object.keys(toolPins).length > 0;
  const refuse = (path: string, message: string) => {
    throw new GuardValidationError([{ path, message }]);
  };
  if ((hasPins || pinStore) && pinKey === undefined) {
    refuse(
      "pinKey",
      `is required with ${hasPins ? "toolPins" : "pinStore"}: pins cannot be compared without their key`,
    );
  }
  if (pinStore && pins === "off") refuse("pinStore", 'is used with pins: "trust_first" only');
  if (kept && pinKey !== undefined)
    refuse("pinKey", "is not used if the program keeps the pins, because they have a key of their own");
}
