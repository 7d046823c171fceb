import type { ChatRequest } from "../scan/chat-request.ts";
import { type JsonToken, replaceInJson } from "./json-strings.ts";
import type { Slot, SlotPiece } from "./request-reader.ts";

/** A change of a value in the request. */
interface Change {
  value?: string;
  /** The new name of the key that leads to the value. */
  name?: string;
  below: Map<string | number, Change>;
}

/** Returns a copy of a request with pieces replaced. Unchanged values are shared with the request. */
export function rewriteRequest(request: ChatRequest, replaced: ReadonlyMap<SlotPiece, string>): ChatRequest {
  const root: Change = { below: new Map() };
  for (const [slot, text] of mergeSlotTexts(replaced)) {
    let change = root;
    for (const key of slot.keys) {
      const next = change.below.get(key) ?? { below: new Map() };
      change.below.set(key, next);
      change = next;
    }
    if (slot.isKey) change.name = text;
    // A file may have several readings. Its new text is the first of them, so that programs agree about it.
    else change.value ??= text;
  }
  return applyChange(request, root) as ChatRequest;
}

/** Returns the new text of each slot. */
function mergeSlotTexts(replaced: ReadonlyMap<SlotPiece, string>): Map<Slot, string> {
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

function applyChange(value: unknown, change: Change): unknown {
  if (change.value !== undefined) return change.value;
  if (change.below.size === 0) return value;
  if (Array.isArray(value)) {
    return value.map((item, index) => {
      const below = change.below.get(index);
      return below ? applyChange(item, below) : item;
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
      // Two keys that become equal must not overwrite each other's value.
      while (below.name !== undefined && (kept.has(name) || names.has(name))) name += "_";
      names.add(name);
      return [name, applyChange(item, below)];
    }),
  );
}
