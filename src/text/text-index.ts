/** An inner node. Its children are nodes, or the only text that begins with the characters so far. */
interface IndexNode {
  readonly children: Map<number, IndexNode | string>;
  /** The text that ends here. */
  text?: string;
}

/**
 * An index of texts that finds which of them occur in another text. Adding a text takes time in its length, and a search in the length of
 * the searched text, however many texts the index has (a trie, compressed at its leaves).
 */
export class TextIndex {
  readonly #root: IndexNode = { children: new Map() };

  /** Adds a text. Empty texts are ignored. */
  add(text: string): void {
    if (text === "") return;
    let node = this.#root;
    for (let at = 0; at < text.length; at++) {
      const code = text.charCodeAt(at);
      const child = node.children.get(code);
      if (child === text) return;
      if (child === undefined) {
        node.children.set(code, text);
        return;
      }
      if (typeof child === "string") {
        const inner = nodeOf(child, at + 1);
        node.children.set(code, inner);
        node = inner;
      } else node = child;
    }
    node.text = text;
  }

  /** Returns the texts of the index that occur in a text, also inside each other, in the order of their first occurrence. */
  occurringIn(text: string): Set<string> {
    const found = new Set<string>();
    for (let start = 0; start < text.length; start++) {
      let node = this.#root;
      for (let at = start; at < text.length; at++) {
        const child = node.children.get(text.charCodeAt(at));
        if (child === undefined) break;
        if (typeof child === "string") {
          if (text.startsWith(child, start)) found.add(child);
          break;
        }
        node = child;
        if (node.text !== undefined) found.add(node.text);
      }
    }
    return found;
  }
}

/** Returns the node for a text whose characters before `at` lead to it. */
function nodeOf(text: string, at: number): IndexNode {
  if (at === text.length) return { children: new Map(), text };
  return { children: new Map([[text.charCodeAt(at), text]]) };
}
