import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Gibberish } from "../../src/scanners/generated/input-scanners.ts";
import { Gibberish as OutputGibberish } from "../../src/scanners/generated/output-scanners.ts";
import { GuardValidationError } from "../../src/support/errors.ts";

describe("Gibberish", () => {
  it("has the thresholds of llm-guard", () => {
    expect(new Gibberish()).toMatchObject({ options: { threshold: 0.97, matchType: "full" } });
    expect(new OutputGibberish()).toMatchObject({ options: { threshold: 0.7 } });
  });

  it.each([
    "asdkjfh askdjfh qwoeiur zxmcnb alskdj",
    "sdfgsdfg jklhjkl wertwert",
    "фывапро ылдвапр йцукен щшгоплр длорпа",
    "qwrtp sdfgh zxcvbn mnbvcx lkjhg trewq",
    "kjhgfdsa poiuytr mnbvcxz lkjhgfd",
  ])("blocks %j", async (text) => {
    for (const scanner of [new Gibberish(), new OutputGibberish()]) {
      const { isValid, score, findings } = await scanner.scan(text);
      expect(isValid).toBe(false);
      expect(score).toBeGreaterThan(0);
      expect(findings).toMatchObject([{ type: "gibberish", text, label: "noise", start: 0, end: text.length }]);
    }
  });

  it.each([
    [
      "nouns",
      "chrysanthemum rhythm Zwetschge écureuil źdźbło čtvrtek gyümölcs työpöytä buzdolabı вдребезги φθινόπωρο llyfrgell",
    ],
    [
      "first names",
      "Gwen Lynn Jürgen Thérèse Iñigo Zbigniew Zdeněk Zsófia Çağlar Sjoerd Всеволод Γιώργος Xochitl Siobhán Mkrtich",
    ],
    ["abbreviations", "UNESCO SMTP GmbH bzw. Kft. mmHg kWh KMnO4 RSA-OAEP k8s Nf3 C#m7 rofl ttyl НДС т.е. Sp. F12"],
    ["product codes", "QX-4471 BZT900 A1123-KF 8841-220-17 WH-1000XM5 P/N 12-44810-002 ZZ.11.04.B SKU-118833"],
    [
      "file names",
      "CHANGELOG.rst tsconfig.base.json IMG_2231.HEIC vmlinuz-6.8 src/lib/fmt_x.rs ~/.zshrc ntdll.dll __main__.py",
    ],
    ["user names", "marta.kowalska jdoe92 x_xsniperx_x t.schmidt @kvdberg hyun-woo.kwak"],
  ])("passes single %s, and reports that they were not judged", async (_, words) => {
    for (const text of words.split(" "))
      for (const scanner of [new Gibberish(), new OutputGibberish()])
        expect(await scanner.scan(text), text).toMatchObject({ isValid: true, score: -1, coverage: { windows: 0 } });
  });

  it.each([
    "Wojciech Trzciński",
    "Szűcs Györgyi",
    "Trần Thị Quỳnh Hương",
    "Guðmundur Þorvaldsson",
    "Srinivasan Venkataraman",
    "Мстислав Вдовиченко",
    "Ctrl+Alt+F2",
    "Sr. DevOps Engineer (m/w/d)",
    "Vice President, Global Procurement & Supply Chain EMEA",
    "Zahnmedizinische Fachangestellte",
    "Kierownik zmiany nocnej",
    "Заместитель главного бухгалтера",
    "418 W 42nd St, Apt 7C, New York, NY 10036",
    "Bahnhofstr. 17b, 8001 Zürich",
    "ul. Świętokrzyska 12/4, 00-044 Warszawa",
    "ул. Большая Ордынка, д. 17, кв. 4, Москва, 119017",
    "Rua das Laranjeiras, 210 - Centro, Curitiba - PR, 80010-030",
    "14, chemin des Tilleuls, 38000 Grenoble",
    "dzień dobry",
    "strč prst skrz krk",
    "kaise ho bhai",
    "sobh bekheyr",
    "hmmmm brrrrr pssst",
    "saddle, ladder, trumpet, thimble, quinoa, walrus, isthmus, lymph",
    "git rebase -i HEAD~3",
    "Quercus robur",
  ])("passes %j", async (text) => {
    for (const scanner of [new Gibberish(), new OutputGibberish()])
      expect(await scanner.scan(text)).toMatchObject({ isValid: true, findings: [] });
  });

  it.each([
    "lkjdsaflkjasdflkj",
    "qwertzuiopasdfghjkl",
    "wrtpsdfghklmnbvcxz",
    "фывалдорпафывалдж",
    "sdflkj werouiw xcvmnb",
    "dfgj;lskdf;gjlkdfj;g",
  ])("blocks %j", async (text) => {
    for (const scanner of [new Gibberish(), new OutputGibberish()])
      expect(await scanner.scan(text)).toMatchObject({ isValid: false, findings: [{ label: "noise" }] });
  });

  it.each(["The meeting is on Monday. ".repeat(50), "no\n".repeat(60)])("passes repetition: %j", async (text) => {
    for (const scanner of [new Gibberish(), new OutputGibberish()])
      expect(await scanner.scan(text)).toMatchObject({ isValid: true });
  });

  it.each(["asdfjkl ".repeat(60), `The meeting is on Monday. ${"sdfgsdfg jklhjkl wertwert ".repeat(40)}`])(
    "blocks noise that is repeated: %j",
    async (text) => {
      expect(await new Gibberish().scan(text)).toMatchObject({ isValid: false });
    },
  );

  it.each([
    [
      "word salad",
      "table green the of jumped because seventeen under whereas banana an is politics to slowly her from",
    ],
    ["word salad", "стол зелёный потому что семнадцать под однако банан медленно её политика из прыгнул над и не был"],
  ])("labels a heap of words %s", async (_, text) => {
    expect((await new OutputGibberish().scan(text)).isValid).toBe(false);
  });

  it.each([
    "Please summarise the attached report in three sentences.",
    "ok thx",
    "lol",
    "Hello!",
    "What is the capital of France?",
    "Напиши, пожалуйста, письмо клиенту и объясни, почему заказ задерживается.",
    "请用三句话总结这篇文章。",
    "Können Sie mir bitte sagen, wann der nächste Zug nach Berlin fährt?",
    "¿Puedes ayudarme a escribir una carta de recomendación?",
    "明日の天気はどうですか。",
    "Bu akşam yemekte ne yiyelim?",
    "def add(a, b):\n    return a + b",
    "for (let i = 0; i < 10; i++) { console.log(i); }",
    "- milk\n- eggs\n- bread",
    "https://www.example.org/a/page.html",
    "2026-03-01",
    "550e8400-e29b-41d4-a716-446655440000",
    "+49 30 1234567",
  ])("passes %j", async (text) => {
    expect((await new OutputGibberish().scan(text)).isValid).toBe(true);
  });

  it.each(["😀", "👩‍👩‍👧 🇳🇱 ❤️", "42", "2024 😀😀"])("passes %j, which has no words", async (text) => {
    for (const scanner of [new Gibberish(), new OutputGibberish()])
      expect(await scanner.scan(text)).toMatchObject({ isValid: true, score: -1 });
  });

  it("judges languages whose word order it does not know by their spelling alone, and says so", async () => {
    // Acehnese and Bambara
    const texts = [
      "Hana nyang istimewa bak warong nyan, rasa pajoh biasa mantong dan yum meuhai that lom",
      "Nin kɔnɔ ye an ka dugu la, a be taa sugu la don o don ni a muso ye",
    ];
    for (const text of texts) {
      for (const scanner of [new Gibberish(), new OutputGibberish()])
        expect((await scanner.scan(text)).isValid).toBe(true);
    }
    const foreign = texts[1] as string;
    const untrained = async (onUntrainedLanguage: "score" | "raw" | "fail") =>
      new OutputGibberish({ onUntrainedLanguage, threshold: 0.01 }).scan(foreign);
    expect((await untrained("raw")).isValid).toBe(false);
    expect(await untrained("score")).toMatchObject({
      isValid: true,
      coverage: { untrainedLanguages: [expect.any(String)] },
    });
    expect(await untrained("fail")).toMatchObject({ isValid: false, findings: [{ type: "untrained_language" }] });
  });

  it("checks each sentence with match type sentence", async () => {
    const noise = "Sdkfjh wqeoiruy zxmcnbv lkjasdf qpwoeiru.";
    const text = `The meeting starts at nine o'clock. ${noise} Please bring the contract with you.`;
    const { isValid, findings } = await new Gibberish({ matchType: "sentence" }).scan(text);
    expect(isValid).toBe(false);
    expect(findings.map((finding) => finding.text)).toEqual([noise]);
    expect(text.slice(findings[0]?.start, findings[0]?.end)).toBe(noise);
  });

  it("counts only the labels of the options", async () => {
    const noise = "sdkfjh wqeoiruy zxmcnbv lkjasdf qpwoeiru";
    const once = await new Gibberish({ labels: ["word salad"] }).scan(noise);
    expect(once.isValid).toBe(true);
    expect(await new Gibberish({ labels: ["word salad", "word salad"] }).scan(noise)).toEqual(once);
    const make = () => new Gibberish({ labels: ["nonsense"] });
    expect(make).toThrow(GuardValidationError);
    expect(make).toThrow(
      /labels\.0: the model has no label nonsense; its labels are: clean, mild gibberish, word salad, noise/,
    );
  });

  it("passes empty and blank texts", async () => {
    for (const text of ["", " ", "\n\t\r\n"]) {
      expect(await new Gibberish().scan(text)).toMatchObject({ isValid: true, score: -1, findings: [] });
    }
  });

  it("scores any text deterministically", async () => {
    const scanner = new Gibberish({ matchType: "sentence", threshold: 0 });
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: "binary" }), async (text) => {
        const verdict = await scanner.scan(text);
        for (const { start, end, text: found } of verdict.findings) expect(found).toBe(text.slice(start, end));
        expect(await scanner.scan(text)).toEqual(verdict);
      }),
      { numRuns: 200 },
    );
  });
});
