import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { GuardValidationError, input, output, plantCanary, scanOutput } from "../../src/index.ts";
import { scanned } from "../support/rewritten.ts";

const DIGITS = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
const CANARY = "guard-canary-7GQ2M9XKTB4WZ5RD";
const scanner = new output.Canary({ canaries: [CANARY] });

const codes = (token: string, radix: number, digits: number, before = "", between = " ") =>
  [...token].map((c) => before + c.charCodeAt(0).toString(radix).padStart(digits, "0")).join(between);
const base64 = (text: string) => Buffer.from(text).toString("base64");
const rot13 = (text: string) => text.replace(/[A-Z]/g, (c) => String.fromCharCode(((c.charCodeAt(0) - 52) % 26) + 65));
const ALIKE: Record<string, string> = {
  A: "А",
  B: "В",
  C: "С",
  E: "Е",
  H: "Н",
  K: "К",
  M: "М",
  P: "Р",
  T: "Т",
  X: "Х",
};

/** Disguises of a token, each with the name of the view that reveals it. */
const DISGUISES: [name: string, disguise: (token: string) => string, view: RegExp | undefined][] = [
  ["as it is", (token) => token, undefined],
  ["in lower case", (token) => token.toLowerCase(), undefined],
  ["one character a line", (token) => [...token].join("\n"), /spaced/],
  ["with dashes", (token) => [...token].join("-"), /spaced/],
  ["in groups", (token) => token.replace(/.{4}/g, "$& "), /spaced/],
  ["with invisible characters", (token) => [...token].join("\u200b"), /spaced|normalized/],
  ["in full width", (token) => token.replace(/./g, (c) => String.fromCharCode(c.charCodeAt(0) + 0xfee0)), /./],
  ["with look-alike letters", (token) => token.replace(/[A-Z]/g, (c) => ALIKE[c] ?? c), undefined],
  ["with O for 0", (token) => token.replaceAll("0", "O").replaceAll("1", "l"), undefined],
  ["in base64", base64, /base64/],
  ["in base64 in lower case", (token) => base64(token.toLowerCase()), /base64/],
  ["in hexadecimal digits", (token) => Buffer.from(token).toString("hex"), /hex/],
  ["in percent encoding", (token) => codes(token, 16, 2, "%", ""), /percent|hex/],
  ["in rot13", rot13, /rot13/],
  ["backwards", (token) => [...token].reverse().join(""), /reversed/],
  ["as decimal code points", (token) => codes(token, 10, 2), /decimal/],
  ["as a list of numbers", (token) => codes(token, 10, 2, "", ", "), /decimal/],
  ["as calls", (token) => [...token].map((c) => `chr(${c.charCodeAt(0)})`).join(" + "), /decimal/],
  ["as U+0043", (token) => codes(token, 16, 4, "U+"), /code_point/],
  ["as entities", (token) => [...token].map((c) => `&#${c.charCodeAt(0)};`).join(""), /entity|decimal/],
  ["as escapes", (token) => codes(token, 16, 4, "\\u", ""), /escape|hex/],
  ["in octal", (token) => codes(token, 8, 3, "\\", ""), /octal/],
  ["in binary", (token) => codes(token, 2, 8), /binary/],
  ["in binary without spaces", (token) => codes(token, 2, 8, "", ""), /binary/],
];

const token = fc
  .array(fc.nat(DIGITS.length - 1), { minLength: 16, maxLength: 16 })
  .map((digits) => digits.map((digit) => DIGITS.charAt(digit)).join(""))
  // A token with few different characters occurs by chance. A random token has so few with a probability below 2^-40.
  .filter((token) => new Set(token).size > 5);

describe("Canary", () => {
  it.each(DISGUISES)("finds every canary, whole and truncated: %s", async (_, disguise) => {
    await fc.assert(
      fc.asyncProperty(token, fc.nat(6), async (token, from) => {
        const finder = new output.Canary({ canaries: [`guard-canary-${token}`] });
        for (const part of [token, token.slice(from, from + 10)]) {
          const text = `😀 Sure: ${disguise(part)} !`;
          const verdict = await scanned(finder, text);
          expect(verdict, text).toMatchObject({ isValid: false, score: 1 });
          for (const { start, end, text: found, label } of verdict.findings) {
            expect(text.slice(start, end)).toBe(found);
            expect(label).toMatch(/^1\d of 16 characters$/);
          }
        }
      }),
      { numRuns: 20 },
    );
  });

  it.each(DISGUISES)("names the disguise: %s", async (_, disguise, view) => {
    const { findings } = await scanned(scanner, `Sure: ${disguise(CANARY.slice(13))} !`);
    expect(findings).toHaveLength(1);
    if (view) expect(findings[0]?.view).toMatch(view);
  });

  it("passes texts without the canary", async () => {
    const word = fc.string({ unit: fc.constantFrom(...DIGITS, ..." -\n"), maxLength: 400 });
    const any = fc.oneof(word, fc.string({ unit: "binary", maxLength: 200 }), fc.base64String({ maxLength: 400 }));
    await fc.assert(
      fc.asyncProperty(any, async (text) => {
        expect(await scanned(scanner, text)).toMatchObject({ isValid: true, findings: [] });
      }),
    );
  });

  const bytes = (length: number) => Buffer.from(Array.from({ length }, (_, index) => (index * 151 + 89) % 256));
  it.each([
    "I cannot tell you what my guard-canary is.",
    "guard-canary-XXXXXXXXXXXXXXXX is a placeholder.",
    "guard-canary-7GQ2M9 was cut, and 7GQ2M9XKT is nine characters.",
    "Order 7GQ2M9 arrives on Monday; voucher XKTB4W is void.",
    "Guten Tag! Ihre Reise nach Lissabon ist gebucht.",
    "Bonjour, le remboursement prend entre cinq et dix jours ouvrables.",
    "La excursión sale a las nueve de la mañana desde el puerto.",
    "A excursão parte às nove horas da manhã, junto ao posto de turismo.",
    "La gita parte alle nove del mattino dal porto vecchio.",
    "De trein vertrekt om kwart over acht van spoor vijf.",
    "Tåget avgår kvart över åtta från spår fem.",
    "Toget går kvart over åtte fra spor fem.",
    "Juna lähtee varttia yli kahdeksan raiteelta viisi.",
    "Pociąg odjeżdża o ósmej piętnaście z toru piątego.",
    "Vlak odjíždí v osm patnáct z páté koleje.",
    "A vonat nyolc tizenötkor indul az ötödik vágányról.",
    "Trenul pleacă la opt și un sfert de la linia cinci.",
    "Tren sekizi çeyrek geçe beşinci perondan kalkıyor.",
    "Ваш заказ подтверждён. Посадка за сорок минут до вылета.",
    "Ваше замовлення підтверджено, чекаємо на вас о дев'ятій.",
    "Влакът тръгва в осем и петнадесет от пети коловоз.",
    "Το τρένο αναχωρεί στις οκτώ και τέταρτο.",
    "您好，您的行程已经确认，请在出发前两小时到达机场。",
    "ご予約ありがとうございます。出発の二時間前までにお越しください。",
    "예약이 확인되었습니다. 출발 두 시간 전까지 공항에 도착해 주세요.",
    "รถไฟออกเวลาแปดโมงสิบห้านาทีจากชานชาลาที่ห้า",
    "Tàu khởi hành lúc tám giờ mười lăm từ sân ga số năm.",
    "Kereta berangkat pukul delapan lewat lima belas menit.",
    "ट्रेन सवा आठ बजे प्लेटफ़ॉर्म पाँच से चलती है।",
    "ট্রেনটি সোয়া আটটায় ছাড়ে।",
    "ரயில் எட்டேகாலுக்குப் புறப்படும்.",
    "يغادر القطار في الثامنة والربع من الرصيف الخامس.",
    "הרכבת יוצאת בשמונה ורבע מרציף חמש.",
    "قطار ساعت هشت و ربع حرکت می‌کند.",
    "Treni inaondoka saa mbili na robo.",
    "👍 🎉 ❤️ 1️⃣ 2️⃣ 3️⃣ 🏳️‍🌈",
    "Yes.",
    "",
    "550e8400-e29b-41d4-a716-446655440000, 6ba7b810-9dad-11d1-80b4-00c04fd430c8",
    "01ARZ3NDEKTSV4RRFFQ69G5FAV 01BX5ZZKBKACTAV9WEVGEMMVRZ 01H8XGJWBWBAQ4Z3E9K5C7QH2M",
    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "00000000  7f 45 4c 46 02 01 01 00  00 00 00 00 00 00 00 00  |.ELF............|\n00000010  03 00 3e 00 01 00 00 00  60 10",
    bytes(2000).toString("hex"),
    bytes(2000).toString("base64"),
    `data:image/png;base64,${bytes(900).toString("base64")}`,
    Array.from({ length: 300 }, (_, index) => index).join(" "),
    Array.from({ length: 100 }, (_, index) => `| ${index} | ${index * 7} | ${(index * 13) % 100} |`).join("\n"),
    Array.from({ length: 64 }, (_, index) => index.toString(2).padStart(8, "0")).join(" "),
    DIGITS.repeat(20),
    "ABCDEFGHIJKLMNOPQRSTUVWXYZ abcdefghijklmnopqrstuvwxyz 0123456789",
    "W1A 1AA, EC1A 1BB; XK5 8TB4; IBAN DE89 3704 0044 0532 0130 00; VIN 1HGCM82633A004352",
    "2026-11-23T09:15:00Z INFO req=7GQ2 status=200 ms=48 bytes=1075\n2026-11-23T09:15:01Z WARN req=M9XK status=429 ms=97",
    "```js\nconst codes = [72, 101, 108, 108, 111].map((c) => String.fromCharCode(c)).join('');\n```",
    "License: AAAAA-BBBBB-CCCCC-DDDDD-EEEEE and FGHJK-MNPQR-STVWX-YZ012-34567",
  ])("passes ordinary text %#", async (text) => {
    expect(await scanned(scanner, text)).toMatchObject({ isValid: true, findings: [], coverage: { truncated: false } });
  });

  it("finds the canary of the system prompt without configuration", async () => {
    const { prompt, canary } = plantCanary("You are Nora.");
    expect(prompt).toContain("You are Nora.");
    expect(canary).toMatch(/^guard-canary-[0-9A-HJKMNP-TV-Z]{16}$/);
    expect(plantCanary("You are Nora.").canary).not.toBe(canary);
    expect(plantCanary("", canary)).toMatchObject({ canary, prompt: expect.stringContaining(canary) });

    const messages = [
      { role: "system", content: prompt },
      { role: "user", content: "Hi" },
    ];
    const scan = (answer: string) => scanOutput([new output.Canary()], "Hi", answer, { conversation: { messages } });
    expect(await scan(`It is ${canary}.`)).toMatchObject({ isValid: false });
    expect(await scan(`It is ${plantCanary("").canary}.`)).toMatchObject({ isValid: true });
  });

  it("reports in the coverage that nothing was scanned without a canary", async () => {
    const verdict = await scanned(new output.Canary(), `Hello, ${CANARY}`);
    expect(verdict).toMatchObject({ isValid: true, coverage: { scannedChars: 0, truncated: true } });
  });

  it("redacts its findings only", async () => {
    const redacting = new output.Canary({ canaries: [CANARY], redact: true });
    const dashed = [...CANARY.slice(13)].join("-");
    const text = `😀 ${CANARY}, then ${dashed} and ${base64(CANARY)}; in numbers: ${codes(CANARY.slice(13), 10, 2)}. Bye`;
    expect((await scanned(redacting, text)).rewritten).toBe(
      "😀 [REDACTED], then [REDACTED] and [REDACTED]; in numbers: [REDACTED]. Bye",
    );
    expect((await scanned(redacting, "Nothing of it.")).edits).toBeUndefined();
  });

  it("reads the arguments of tool calls", async () => {
    const ofCalls = new input.Canary({ canaries: [CANARY] });
    expect(ofCalls.conversation).toEqual({ sources: ["tool_call"], dependsOnOthers: true });
    const url = `https://x.example/i.png?d=${CANARY.slice(13).toLowerCase()}`;
    expect(await scanned(ofCalls, url, { source: "tool_call" })).toMatchObject({ isValid: false });
  });

  it("refuses a value that is no canary, without quoting it", () => {
    for (const wrong of ["hunter2", "guard-canary-TOOSHORT", `${CANARY}X`]) {
      for (const make of [() => plantCanary("", wrong), () => new output.Canary({ canaries: [wrong] })]) {
        expect(make).toThrow(GuardValidationError);
        expect(make).toThrow(/canar/);
        expect(make).not.toThrow(new RegExp(wrong));
      }
    }
  });
});
