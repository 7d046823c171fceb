import type { ChatRequest } from "../scan/chat-request.ts";
import { type JsonToken, replaceInJson } from "./json-strings.ts";
import type { PlacedPiece, Slot } from "./reading.ts";

/** What changes in a value of the request. */
interface Change {
  value?: string;
  /** The new name of the key that leads to the value. */
  name?: string;
  below: Map<string | number, Change>;
}

/** Returns a copy of a request with pieces replaced. Whatever has no changes below it is shared with the request. */
export function rewriteRequest(request: ChatRequest, replaced: ReadonlyMap<PlacedPiece, string>): ChatRequest {
  const root: Change = { below: new Map() };
  for (const [slot, text] of slotTexts(replaced)) {
    let change = root;
    for (const key of slot.keys) {
      const next = change.below.get(key) ?? { below: new Map() };
      change.below.set(key, next);
      change = next;
    }
    if (slot.isKey) change.name = text;
    else change.value = text;
  }
  return changed(request, root) as ChatRequest;
}

/** The new text of each slot. */
function slotTexts(replaced: ReadonlyMap<PlacedPiece, string>): Map<Slot, string> {
  const tokens = new Map<JsonToken, string>();
  const texts = new Map<Slot, string>();
  for (const [{ slot, token }, text] of replaced) {
    if (token) tokens.set(token, text);
    texts.set(slot, text);
  }
  for (const [slot, text] of texts) {
    const whole = slot.json ? replaceInJson(slot.json, tokens) : text;
    texts.set(slot, slot.encode ? slot.encode(whole) : whole);
  }
  return texts;
}

function changed(value: unknown, change: Change): unknown {
  if (change.value !== undefined) return change.value;
  if (change.below.size === 0) return value;
  if (Array.isArray(value)) {
    return value.map((item, index) => {
      const below = change.below.get(index);
      return below ? changed(item, below) : item;
    });
  }
  const names = new Set<string>();
  const entries = Object.entries(value as Record<string, unknown>);
  const kept = new Set(entries.map(([key]) => key).filter((key) => change.below.get(key)?.name === undefined));
  return Object.fromEntries(
    entries.map(([key, item]) => {
      const below = change.below.get(key);
      if (!below) return [key, item];
      let name = below.name ?? key;
      // Two keys that were changed into the same one must not swallow each other's value.
      while (below.name !== undefined && (kept.has(name) || names.has(name))) name += "_";
      names.add(name);
      return [name, changed(item, below)];
    }),
  );
}
