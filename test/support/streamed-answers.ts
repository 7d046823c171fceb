import { randomNumbers } from "./personal-texts.ts";

/** A model answer, and the values in it that must not be shown. */
export interface StreamedAnswer {
  text: string;
  /** Values of which the released text may contain at most the first five characters. */
  hidden: string[];
}

/** The vault for the placeholders in {@link streamedAnswers}. */
export const VAULT: [string, string][] = [
  ["[REDACTED_PERSON_1]", "Ada Lovelace"],
  ["[REDACTED_EMAIL_ADDRESS_1]", "ada@analytical.example"],
  ["[REDACTED_PERSON_12]", "Grace Hopper"],
];

const ORDINARY = [
  "Sure, here is what I found about your question.",
  "The train leaves at 9.45 a.m. and takes 2.5 hours, i.e. you arrive before noon.",
  "Gern! Dr. Müller empfiehlt z. B. einen Spaziergang; danach gibt es Kuchen.",
  "Конечно, вот краткий ответ: сначала проверьте кабель, потом перезагрузите роутер.",
  "当然可以。首先打开设置,然后选择“网络”,最后点击“重新启动”。",
  "もちろんです。まず電源を切ってください。次にケーブルを確認します。",
  "แน่นอน ฉันช่วยได้ กรุณาเปิดการตั้งค่าก่อน",
  "بالتأكيد، إليك الخطوات: افتح الإعدادات ثم أعد التشغيل.",
  "Great job 🎉👩‍👩‍👧‍👦! You earned 5 ⭐️ and a 🇫🇷 flag 👍🏽.",
  "1. Mix 200 g of flour and 3 eggs.\n2. Bake for 40 min at 180 °C.\n3. Enjoy!",
  "| name | price |\n|------|-------|\n| tea | 3.50 |\n| cake | 4.00 |\n",
  "```python\ndef add(a: int, b: int) -> int:\n    return a + b  # the sum\n```\n",
  "See https://docs.example.com/guide?page=2#install or [the manual](https://example.org/manual) for more.",
  "Visit www.example.com, e.g. its section on e-mail… or ask me again!",
  'x <y and a[0] = {b: [1, 2]} hold when i == 7; "so what?" she said.',
  "The year 2024 had 366 days, 52 weeks and 8784 hours.",
  "2024-05-03 14:30:12 INFO started\n2024-05-03 14:30:13 WARN slow disk\n",
];

/** Generates answers of ordinary sentences in several languages and formats, with secrets, personal data and placeholders. */
export function streamedAnswers(count: number, seed = 1): StreamedAnswer[] {
  const random = randomNumbers(seed);
  const below = (limit: number) => Math.floor(random() * limit);
  const pick = <T>(items: readonly T[]) => items[below(items.length)] as T;
  const of = (characters: string, length: number) => Array.from({ length }, () => pick([...characters])).join("");
  const alphanumeric = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
  const base64 = `${alphanumeric}+/`;
  const key = () => {
    const lines = Array.from({ length: 6 + below(20) }, () => of(base64, 64));
    return ["-----BEGIN RSA PRIVATE KEY-----", ...lines, `${of(base64, 30)}==`, "-----END RSA PRIVATE KEY-----"].join(
      "\n",
    );
  };
  const token = () => `ghp_${of(alphanumeric, 36)}`;
  const values: (() => [string, (value: string) => string])[] = [
    () => [token(), (value) => `Use the token ${value} for the upload.`],
    () => [token(), (value) => `\`\`\`sh\nexport GITHUB_TOKEN="${value}"\n\`\`\`\n`],
    () => [token(), (value) => `curl https://x:${value}@github.com/a/b.git works.`],
    () => [
      `AKIA${of("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", 16)}`,
      (value) => `aws_access_key_id = ${value}\nregion = eu-west-1\n`,
    ],
    () => [key(), (value) => `Here is the key:\n\n${value}\n\nKeep it safe.`],
    () => [key(), (value) => `\`\`\`\n${value}\n\`\`\`\n`],
    () => ["4111 1111 1111 1111", (value) => `The card ${value} was charged 20.00 EUR.`],
    () => ["5500005555555559", (value) => `银行卡号${value}被扣款。`],
    () => [`maria.${of("abcdefgh", 5)}@example.com`, (value) => `Write to ${value}, she knows.`],
    () => ["+49 30 901820 443", (value) => `Call ${value} before noon!`],
    () => ["GB29 NWBK 6016 1331 9268 19", (value) => `The IBAN is ${value}.`],
    () => ["203.0.113.77", (value) => `The login came from ${value}, at night.`],
  ];
  return Array.from({ length: count }, () => {
    const parts: string[] = [];
    const hidden: string[] = [];
    const length = 2 + below(5);
    for (let at = 0; at < length; at++) {
      const kind = below(10);
      if (kind < 5) parts.push(pick(ORDINARY));
      else if (kind < 7) parts.push(`Dear ${pick(VAULT)[0]}, your order ${below(9000)} is on its way.`);
      else {
        const [value, sentence] = pick(values)();
        hidden.push(value);
        parts.push(sentence(value));
      }
    }
    return { text: parts.join(pick([" ", "\n", "\n\n", " "])), hidden };
  });
}

/** Splits a text at random offsets, also between the code units of a character. */
export function randomPieces(text: string, random: () => number, longest: number): string[] {
  const pieces: string[] = [];
  for (let at = 0; at < text.length; ) {
    const length = 1 + Math.floor(random() * longest);
    pieces.push(text.slice(at, at + length));
    at += length;
  }
  return pieces;
}
