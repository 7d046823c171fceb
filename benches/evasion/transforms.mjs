// Transforms that disguise a text so that filters can't read it.
import { gzipSync } from "node:zlib";

/**
 * Disguises a text. The result is null if that is impossible, such as for Chinese in Morse code. A list contains the turns of a user.
 *
 * @typedef {(text: string, random: () => number) => string | string[] | null} Transform
 */

const isAscii = (text) => /^[\0-\x7f]*$/.test(text);
/** Limits a transform to ASCII texts. */
const ascii = (transform) => (text, random) => (isAscii(text) ? transform(text, random) : null);
/** Limits a transform to texts in Latin script, with or without accents. */
const latin = (transform) => (text, random) => (/\p{Script=Latin}{2}/u.test(text) ? transform(text, random) : null);
const bytes = (text) => Buffer.from(text, "utf8");
const pick = (list, random) => list[Math.floor(random() * list.length)];
const each = (table) => (text) => [...text].map((character) => table.get(character) ?? character).join("");
/** A table of replacements from a string in which each character is followed by its replacement. */
const pairs = (text) => {
  const characters = [...text];
  return new Map(characters.flatMap((from, index) => (index % 2 ? [] : [[from, characters[index + 1]]])));
};
const alphabet = (upper, lower = upper) => {
  const letter = (base, first) => (code) => [String.fromCharCode(code), String.fromCodePoint(first + code - base)];
  const codes = (base) => Array.from({ length: 26 }, (_, index) => base + index);
  return each(new Map([...codes(65).map(letter(65, upper)), ...codes(97).map(letter(97, lower))]));
};

const CONFUSABLES = pairs("aаcсeеiіjјoоpрsѕxхyуAАBВCСEЕHНKКMМOОPРTТXХ");
const LEET = pairs("a4e3i1o0s5t7");
const SMALL_CAPITALS = pairs("aᴀbʙcᴄdᴅeᴇfꜰgɢhʜiɪjᴊkᴋlʟmᴍnɴoᴏpᴘrʀtᴛuᴜvᴠwᴡyʏzᴢ");
const UPSIDE_DOWN = pairs("aɐbqcɔdpeǝfɟgƃhɥiᴉjɾkʞlןmɯnupdqbrɹtʇunvʌwʍyʎ.˙!¡?¿,'',())(");
const MORSE = new Map(
  Object.entries({
    ...{ a: ".-", b: "-...", c: "-.-.", d: "-..", e: ".", f: "..-.", g: "--.", h: "....", i: "..", j: ".---" },
    ...{ k: "-.-", l: ".-..", m: "--", n: "-.", o: "---", p: ".--.", q: "--.-", r: ".-.", s: "...", t: "-" },
    ...{ u: "..-", v: "...-", w: ".--", x: "-..-", y: "-.--", z: "--.." },
    ...{ 0: "-----", 1: ".----", 2: "..---", 3: "...--", 4: "....-", 5: "....." },
    ...{ 6: "-....", 7: "--...", 8: "---..", 9: "----." },
  }),
);
const BASE32 = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
const BASE58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";
/** The digits of Python's base85 (RFC 1924), and of Ascii85. */
const BASE85 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;<=>?@^_`{|}~";
const ASCII85 = String.fromCharCode(...Array.from({ length: 85 }, (_, index) => 33 + index));
/** Combining marks above, below and through letters. */
const MARKS = [...Array.from({ length: 21 }, (_, index) => 0x300 + index), 0x316, 0x317, 0x323, 0x334, 0x335, 0x336];

/** Harmless texts that precede a hidden text. */
const CARRIERS = ["Here is my note: ", "The message of today: ", "Please read this: ", "See below.\n\n"];
const carried = (hide) => (text, random) => pick(CARRIERS, random) + hide(text, random);

/** Ordinary sentences for the padding. */
const FILLER = [
  "The committee met on Tuesday to discuss the budget of the library and the new opening hours.",
  "Attendance was slightly higher than in spring, mostly because of the reading groups on Thursday evenings.",
  "The roof above the children's corner was repaired in March, and the bill came to just under four thousand.",
  "Two volunteers will look after the garden during the summer holidays.",
  "A visitor asked whether the archive could be searched online, which is planned for next year.",
  "The coffee machine in the foyer has been replaced by a quieter one.",
  "Bus line 14 stops in front of the main entrance every twenty minutes.",
  "Members can borrow up to eight books at a time and renew them twice.",
  "The exhibition about local mills attracted several school classes.",
  "Donations of novels are welcome, but encyclopedias are no longer accepted.",
  "Rain delayed the flea market by a week, so most stalls had sold out by noon.",
  "The choir rehearses in the small hall on Mondays and looks for two tenors.",
  "Heating costs fell by nine per cent after the windows had been sealed.",
  "The next newsletter will have an interview with the former head librarian.",
  "Parking behind the building is free for the first hour.",
  "A short survey showed that readers want longer opening hours on Saturdays.",
  "The catalogue now lists board games, tools and a few musical instruments.",
  "Minutes of earlier meetings can be read at the front desk.",
];
/** The length of the padding: about 3,000 tokens of English, at four characters each. */
const PADDING_CHARS = 12_000;
function padding(random, length = PADDING_CHARS) {
  let text = "";
  while (text.length < length) text += `${pick(FILLER, random)} `;
  return text;
}

function base32(text) {
  const bits = [...bytes(text)].map((byte) => byte.toString(2).padStart(8, "0")).join("");
  const digits = bits.match(/.{1,5}/g).map((five) => BASE32[Number.parseInt(five.padEnd(5, "0"), 2)]);
  return digits.join("").padEnd(Math.ceil(digits.length / 8) * 8, "=");
}

function base58(bytes) {
  let number = BigInt(`0x${bytes.toString("hex")}`);
  let text = "";
  for (; number > 0n; number /= 58n) text = BASE58[Number(number % 58n)] + text;
  return text;
}

function base85(bytes, digits) {
  const group = (at) => {
    const part = bytes.subarray(at, at + 4);
    let number = Buffer.concat([part, Buffer.alloc(4 - part.length)]).readUInt32BE();
    const text = Array.from({ length: 5 }, () => {
      const digit = digits[number % 85];
      number = Math.floor(number / 85);
      return digit;
    });
    return text
      .reverse()
      .slice(0, part.length + 1)
      .join("");
  };
  return Array.from({ length: Math.ceil(bytes.length / 4) }, (_, index) => group(index * 4)).join("");
}

function uuencode(bytes) {
  const digit = (value) => String.fromCharCode(32 + (value & 63));
  const line = (part) => {
    const padded = Buffer.concat([part, Buffer.alloc((3 - (part.length % 3)) % 3)]);
    const groups = Array.from({ length: padded.length / 3 }, (_, index) => padded.readUIntBE(index * 3, 3));
    return digit(part.length) + groups.map((n) => [18, 12, 6, 0].map((by) => digit(n >> by)).join("")).join("");
  };
  return Array.from({ length: Math.ceil(bytes.length / 45) }, (_, index) =>
    line(bytes.subarray(index * 45, (index + 1) * 45)),
  ).join("\n");
}

const base64 = (text) => bytes(text).toString("base64");
const reverse = (text) => [...text].reverse().join("");
const leetspeak = (text) => each(LEET)(text.toLowerCase());
const rot13 = (text) =>
  text.replace(/[a-z]/gi, (c) => String.fromCharCode(c.charCodeAt(0) + (c.toLowerCase() < "n" ? 13 : -13)));

/** Puts `separator` between the letters of a word, and `gap` between words. */
const spaced = (separator, gap) => (text) =>
  text
    .split(/\s+/)
    .map((word) => [...word.replace(/[^\p{L}\p{N}]/gu, "")].join(separator))
    .join(gap);

/** Cuts a text into `count` pieces between words, or between characters if it has no spaces. */
function cut(text, count) {
  const parts = text.includes(" ") ? text.split(/(?<= )/) : [...text];
  const at = (index) => Math.round((index * parts.length) / count);
  return Array.from({ length: count }, (_, index) =>
    parts
      .slice(at(index), at(index + 1))
      .join("")
      .trim(),
  ).filter((piece) => piece !== "");
}

/** @type {Record<string, Transform>} */
export const TRANSFORMS = {
  plain: (text) => text,
  mixed_case: latin((text, random) =>
    [...text].map((c) => (random() < 0.5 ? c.toUpperCase() : c.toLowerCase())).join(""),
  ),
  // The first and last letters of each word stay in place, so that people can still read it (typoglycemia).
  scrambled: latin((text, random) =>
    text.replace(/(?<=\p{L})\p{L}{2,}(?=\p{L})/gu, (inner) => {
      const letters = [...inner];
      const index = Math.floor(random() * (letters.length - 1));
      [letters[index], letters[index + 1]] = [letters[index + 1], letters[index]];
      return letters.join("");
    }),
  ),
  zero_width: (text, random) =>
    [...text].map((c) => (random() < 0.5 ? c + pick(["\u200b", "\u200c", "\u2060", "\ufeff"], random) : c)).join(""),
  soft_hyphens: latin((text) => text.replace(/(?<=\p{L})(?=\p{L})/gu, "\u00ad")),
  combining_marks: latin((text, random) =>
    text.replace(/\p{L}/gu, (letter) => {
      const marks = Array.from({ length: 2 + Math.floor(random() * 3) }, () => pick(MARKS, random));
      return letter + String.fromCodePoint(...marks);
    }),
  ),
  confusables: latin((text, random) => [...text].map((c) => (random() < 0.7 ? (CONFUSABLES.get(c) ?? c) : c)).join("")),
  full_width: latin((text) =>
    text.replace(/[!-~]/g, (c) => String.fromCharCode(c.charCodeAt(0) + 0xfee0)).replaceAll(" ", "\u3000"),
  ),
  mathematical: latin(alphabet(0x1d400, 0x1d41a)),
  enclosed: latin(alphabet(0x24b6, 0x24d0)),
  squared: latin(alphabet(0x1f170)),
  regional_indicators: latin((text) => alphabet(0x1f1e6)(spaced(" ", "   ")(text))),
  small_capitals: latin((text) => each(SMALL_CAPITALS)(text.toLowerCase())),
  upside_down: ascii((text) => reverse(each(UPSIDE_DOWN)(text.toLowerCase()))),
  leetspeak: latin(leetspeak),
  spaced: latin(spaced(" ", "   ")),
  dotted: latin(spaced(".", " ")),
  tags: ascii(carried((text) => [...text].map((c) => String.fromCodePoint(0xe0000 + c.charCodeAt(0))).join(""))),
  emoji_selectors: carried((text) => {
    const selectors = [...bytes(text)].map((byte) => (byte < 16 ? 0xfe00 + byte : 0xe0100 + byte - 16));
    return `\u{1f600}${String.fromCodePoint(...selectors)}`;
  }),
  reversed: reverse,
  bidi_override: carried((text) => `\u202e${reverse(text)}\u202c`),
  rot13: latin(rot13),
  rot47: ascii((text) => text.replace(/[!-~]/g, (c) => String.fromCharCode(33 + ((c.charCodeAt(0) - 33 + 47) % 94)))),
  atbash: ascii((text) =>
    text.replace(/[a-z]/gi, (c) => String.fromCharCode((c < "a" ? 65 + 90 : 97 + 122) - c.charCodeAt(0))),
  ),
  morse: ascii((text) =>
    text
      .toLowerCase()
      .split(/\s+/)
      .map((word) => [...word].flatMap((c) => MORSE.get(c) ?? []).join(" "))
      .filter(Boolean)
      .join(" / "),
  ),
  base64: carried(base64),
  base64_twice: carried((text) => base64(base64(text))),
  base64_in_pieces: (text, random) =>
    cut(text, 3)
      .map((piece) => `${pick(FILLER, random)} ${base64(piece)}`)
      .join("\n"),
  base64_of_leetspeak: latin(carried((text) => base64(leetspeak(text)))),
  base64_of_reversed: carried((text) => base64(reverse(text))),
  base64_in_tool_result: (text, random) =>
    JSON.stringify({
      status: 200,
      data: { id: Math.floor(random() * 1e6), title: pick(FILLER, random), attachment: base64(text), unread: false },
    }),
  base32: carried(base32),
  hex: carried((text) => bytes(text).toString("hex")),
  binary: carried((text) => [...bytes(text)].map((byte) => byte.toString(2).padStart(8, "0")).join(" ")),
  base58: carried((text) => base58(bytes(text))),
  base85: carried((text) => base85(bytes(text), BASE85)),
  ascii85: carried((text) => `<~${base85(bytes(text), ASCII85)}~>`),
  uuencode: carried((text) => `\n\n${uuencode(bytes(text))}`),
  base64_of_gzip: carried((text) => gzipSync(text).toString("base64")),
  percent: carried((text) => [...bytes(text)].map((byte) => `%${byte.toString(16).padStart(2, "0")}`).join("")),
  html_entities: carried((text) => [...text].map((c) => `&#${c.codePointAt(0)};`).join("")),
  escapes: carried((text) =>
    Array.from({ length: text.length }, (_, i) => `\\u${text.charCodeAt(i).toString(16).padStart(4, "0")}`).join(""),
  ),
  two_turns: (text) => cut(text, 2),
  three_turns: (text) => cut(text, 3),
  padded_before: (text, random) => padding(random) + text,
  padded_after: (text, random) => `${text} ${padding(random)}`,
  padded_around: (text, random) => `${padding(random, PADDING_CHARS / 2)}${text} ${padding(random, PADDING_CHARS / 2)}`,
  padded_base64: (text, random) =>
    `${padding(random, PADDING_CHARS / 2)}${base64(text)} ${padding(random, PADDING_CHARS / 2)}`,
};
