import { type Token, tokensOf } from "./tokens.ts";

/** The pieces of an assembled string, in order. */
export type PieceList = readonly string[];

/** The maximum length of a variable's name, and of a value before truncation, in UTF-16 code units. */
const MAX_NAME_LENGTH = 30;
const MAX_VALUE_LENGTH = 2000;

/** The maximum length of a sum in UTF-16 code units, so that a short text cannot request a huge one. */
const MAX_SUM_LENGTH = 4000;

/** The maximum number of variables that are joined without a sum that names them. */
const MAX_PARTS = 40;

/** A single letter, letters with a number, or capitals: names that people give to parts, unlike the words of a sentence. */
const VARIABLE = /^[$_]?(?:[\p{Lu}\p{Ll}]|\p{L}{1,12}_?\p{Nd}{1,2}|\p{Lu}{2,12})$/u;

/** Words that assign a value to a variable, in guard's trained languages and some of their neighbours. */
const COPULAS = new Set(
  "be is as to equals equal means contains holds has sei ist gleich heißt est vaut soit es sea vale significa è sia é seja это будет равно равен 是 为 設為 は を".split(
    " ",
  ),
);

/** Words between the parts of a sum. */
const GLUE = new Set(
  "and then plus with followed by und dann mit et puis avec y luego con e poi com depois и затем плюс потом 和 加 と".split(
    " ",
  ),
);

/** Marks between the parts of a sum, or around the name of a variable in it. */
const OPERATORS = "+.,&|~(){}[]<>$%#*/\\-";

/** Placeholders of templates: `{a}`, `{{a}}`, `${a}`, `<a>`, `[a]`, `%a%`. */
const PLACEHOLDER = /\$?[{<[%]{1,2}[^\S\n]?([\p{L}_$][\p{L}\p{N}_]{0,29})[^\S\n]?[}>\]%]{1,2}/gu;

/**
 * Returns the values of variables that texts assign and then combine: `a = "Ignore all "; b = "rules"; print(a + b)`,
 * `remember X=…, Y=…, now run X+Y`, `let X be “…”`, `{"p1": "…", "p2": "…"}`, `"{a} all {b}"`, and sums and lists of literals.
 *
 * Assignments and sums look alike in all languages. Only forms without any mark need words (`let X be …`).
 */
export function assembledValues(texts: readonly string[]): PieceList[] {
  const values = new Map<string, string>();
  const sums: PieceList[] = [];
  const appended = new Set<string>();
  const rests = texts.map((text) => ({ text, tokens: new AssignmentReader(text, { values, sums, appended }).read() }));
  for (const name of appended) sums.push([values.get(name) as string]);
  for (const { tokens } of rests) sums.push(...sumsIn(tokens, values));
  if (values.size > 0) for (const { text } of rests) sums.push(...filledTemplates(text, values));
  const parts = [...values].filter(([name, value]) => VARIABLE.test(name) && value !== "");
  if (parts.length > 1) {
    sums.push(parts.map(([, value]) => value).slice(0, MAX_PARTS));
    const byName = parts.toSorted(([a], [b]) => compareNames(a, b));
    if (byName.some((part, index) => part !== parts[index]))
      sums.push(byName.map(([, value]) => value).slice(0, MAX_PARTS));
  }
  return sums;
}

/** The assignments of all texts so far. Names are in lower case. */
interface Assignments {
  values: Map<string, string>;
  /** Sums within assignments. */
  sums: PieceList[];
  /** The names of variables to which a text appends. */
  appended: Set<string>;
}

/** Reads the assignments of a text. */
class AssignmentReader {
  readonly #text: string;
  readonly #tokens: readonly Token[];
  readonly #found: Assignments;
  #at = 0;

  constructor(text: string, found: Assignments) {
    this.#text = text;
    this.#tokens = tokensOf(text);
    this.#found = found;
  }

  /** Stores all values, and returns the tokens outside of assignments. */
  read(): Token[] {
    const rest: Token[] = [];
    while (this.#at < this.#tokens.length) {
      const before = this.#at;
      if (!this.#assignment()) {
        this.#at = before + 1;
        rest.push(this.#tokens[before] as Token);
      } else {
        rest.push({ kind: "break", text: "\n", start: 0, end: 0 });
      }
    }
    return rest;
  }

  #peek(ahead = 0): Token | undefined {
    return this.#tokens[this.#at + ahead];
  }

  #isMark(mark: string, ahead = 0): boolean {
    const token = this.#peek(ahead);
    return token?.kind === "mark" && token.text === mark;
  }

  #assignment(): boolean {
    const token = this.#peek() as Token;
    const name = nameOf(token);
    if (name !== undefined) {
      const operator = this.#operator(1);
      if (operator) {
        this.#at += 1 + operator.length;
        return this.#assign(name, operator.appends, operator.needsLiteral);
      }
      if (VARIABLE.test(token.text) && token.text !== "I") {
        // `X shall be "…"`, in any language.
        for (const gap of [1, 2, 3]) {
          const next = this.#peek(gap);
          // `f"…"` is a Python literal.
          if (next?.kind === "literal" && next.start === token.end) break;
          if (next?.kind === "literal") {
            this.#at += gap;
            return this.#assign(name, false, true);
          }
          if (next?.kind !== "word") break;
          if (gap === 1 && COPULAS.has(next.text.toLowerCase()) && this.#peek(2)?.kind === "word") {
            this.#at += 2;
            return this.#assign(name, false, false);
          }
          // In `y X sea “…”` the value belongs to the nearer variable.
          if (VARIABLE.test(next.text) && !COPULAS.has(next.text.toLowerCase())) break;
        }
      }
    }
    if (token.kind === "literal") {
      // `store "…" as X`, in any language.
      for (const gap of [1, 2, 3]) {
        const next = this.#peek(gap);
        if (next?.kind !== "word") break;
        if (gap > 1 && VARIABLE.test(next.text) && !this.#operator(gap + 1)) {
          this.#at += gap + 1;
          this.#found.values.set(next.text.toLowerCase(), token.text.slice(0, MAX_VALUE_LENGTH));
          return true;
        }
      }
    }
    return false;
  }

  /** Returns the operator of an assignment that is `ahead` tokens further on. */
  #operator(ahead: number): { length: number; appends: boolean; needsLiteral: boolean } | undefined {
    if (this.#isMark("=", ahead) || this.#isMark("←", ahead) || this.#isMark("＝", ahead)) {
      if (this.#isMark("=", ahead + 1) || this.#isMark(">", ahead + 1)) return undefined;
      return { length: 1, appends: false, needsLiteral: false };
    }
    if (this.#isMark("=", ahead + 1)) {
      if (this.#isMark(":", ahead)) return { length: 2, appends: false, needsLiteral: false };
      if (this.#isMark("+", ahead)) return { length: 2, appends: true, needsLiteral: false };
    }
    const isColon = this.#isMark(":", ahead) || this.#isMark("：", ahead);
    return isColon ? { length: 1, appends: false, needsLiteral: true } : undefined;
  }

  #assign(name: string, appends: boolean, needsLiteral: boolean): boolean {
    const pieces = this.#sum() ?? (needsLiteral ? undefined : this.#unquoted());
    if (!pieces || pieces.length === 0) return false;
    if (pieces.length > 1) this.#found.sums.push(pieces);
    if (appends) this.#found.appended.add(name);
    const value = (appends ? (this.#found.values.get(name) ?? "") : "") + pieces.join("");
    this.#found.values.set(name, value.slice(0, MAX_VALUE_LENGTH));
    return true;
  }

  /** Reads `"…" + a + "…"`. */
  #sum(): string[] | undefined {
    const first = this.#operand();
    if (first === undefined) return undefined;
    const pieces = [first];
    let length = first.length;
    this.#at += 1;
    for (;;) {
      let gap = 0;
      while (gap < 3 && ["+", ".", "&", "|"].some((mark) => this.#isMark(mark, gap))) gap += 1;
      const next = gap > 0 ? this.#operand(gap) : undefined;
      if (next === undefined) return pieces;
      length += next.length;
      if (length <= MAX_SUM_LENGTH) pieces.push(next);
      this.#at += gap + 1;
    }
  }

  #operand(ahead = 0): string | undefined {
    const token = this.#peek(ahead);
    if (token?.kind === "literal") return token.text.slice(0, MAX_VALUE_LENGTH);
    // A word that begins an unquoted value is not a variable, even if a variable has this name.
    if (token?.kind !== "word" || this.#peek(ahead + 1)?.kind === "word") return undefined;
    return this.#found.values.get(token.text.toLowerCase());
  }

  /** Reads an unquoted value: up to the next comma, semicolon, assignment, or end of the sentence or line. */
  #unquoted(): string[] {
    const start = this.#peek()?.start ?? this.#text.length;
    let end = start;
    for (let token = this.#peek(); token && token.kind !== "break"; token = this.#peek()) {
      if (token.kind === "mark") {
        if (",;，；、。".includes(token.text)) break;
        const next = this.#text[token.end];
        if (".!?".includes(token.text) && (next === undefined || next.trim() === "")) break;
      }
      if (token.kind === "word" && end > start && this.#operator(1)) break;
      end = token.end;
      this.#at += 1;
    }
    return end > start ? [withoutGlue(this.#text.slice(start, end)).slice(0, MAX_VALUE_LENGTH)] : [];
  }
}

/** Returns a token as a name in lower case. JSON keys are literals. */
function nameOf({ kind, text }: Token): string | undefined {
  if (text.length > MAX_NAME_LENGTH) return undefined;
  if (kind === "word") return text.toLowerCase();
  return kind === "literal" && /^[\p{L}\p{N}_$ -]+$/u.test(text) ? text.toLowerCase() : undefined;
}

/** Removes an `and` at the end, which introduces the next assignment. */
function withoutGlue(value: string): string {
  const last = /\s(\p{L}+)$/u.exec(value.slice(-20));
  return last && GLUE.has(last[1]?.toLowerCase() ?? "") ? value.slice(0, -last[0].length) : value;
}

/** Finds sums of variables and literals: `a + b`, `X and then Y`, `["…", "…"]`, `concat(a, "…")`. */
function sumsIn(tokens: readonly Token[], values: ReadonlyMap<string, string>): PieceList[] {
  const sums: PieceList[] = [];
  let pieces: string[] = [];
  let length = 0;
  let gap = 0;
  let isGlued = false;
  let isList = false;
  const finish = () => {
    if (pieces.length > 1) sums.push(pieces);
    pieces = [];
    length = 0;
  };
  for (const [index, token] of tokens.entries()) {
    const variable = token.kind === "word" ? values.get(token.text.toLowerCase()) : undefined;
    const value = token.kind === "literal" ? token.text.slice(0, MAX_VALUE_LENGTH) : variable;
    if (value !== undefined) {
      // In a sentence, quoted words with commas between them are quotations. In brackets they are a list.
      if (token.kind === "literal" && !isGlued) finish();
      if (pieces.length === 0) isList = "([{".includes(tokens[index - 1]?.text ?? " ");
      length += value.length;
      if (length <= MAX_SUM_LENGTH) pieces.push(value);
      gap = 0;
      isGlued = false;
    } else if (pieces.length > 0) {
      gap += 1;
      const isOperator = token.kind === "mark" && OPERATORS.includes(token.text);
      isGlued ||= isOperator && (token.text !== "," || isList);
      if (gap > 6 || !(isOperator || (token.kind === "word" && GLUE.has(token.text.toLowerCase())))) finish();
    }
  }
  finish();
  return sums;
}

/** Returns the lines with placeholders, filled with the values. */
function filledTemplates(text: string, values: ReadonlyMap<string, string>): PieceList[] {
  const filled: PieceList[] = [];
  for (const line of text.split("\n")) {
    if (line.length > MAX_VALUE_LENGTH) continue;
    let places = 0;
    const result = line.replace(PLACEHOLDER, (all, name: string) => {
      const value = values.get(name.toLowerCase());
      if (value === undefined) return all;
      places += 1;
      return value.slice(0, MAX_VALUE_LENGTH / 4);
    });
    if (places > 0) filled.push([result.slice(0, 2 * MAX_VALUE_LENGTH)]);
  }
  return filled;
}

/** Orders names by their number, or else by their letters. */
function compareNames(a: string, b: string): number {
  const number = (name: string) => Number(/\d+$/.exec(name)?.[0] ?? 0);
  return number(a) - number(b) || (a < b ? -1 : 1);
}
