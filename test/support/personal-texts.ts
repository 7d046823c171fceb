/** Returns a seeded pseudo-random number generator (mulberry32), so that every run makes the same texts. */
export function randomNumbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Appends the Luhn check digit. */
function luhn(digits: string): string {
  const sum = [...digits].reverse().reduce((total, digit, index) => {
    const value = Number(digit) * (index % 2 === 0 ? 2 : 1);
    return total + (value > 9 ? value - 9 : value);
  }, 0);
  return digits + ((10 - (sum % 10)) % 10);
}

/** Generates messages in English, Russian and Chinese. Each has 3 to 10 values of personal data, some of them repeated. */
export function* personalTexts(
  count: number,
  seed = 1,
): Generator<{ text: string; language: "en" | "ru" | "zh"; values: string[] }> {
  const random = randomNumbers(seed);
  const below = (limit: number) => Math.floor(random() * limit);
  const digits = (length: number) => Array.from({ length }, () => below(10)).join("");
  const pick = <T>(items: readonly T[]) => items[below(items.length)] as T;
  const hex = (length: number) => Array.from({ length }, () => below(16).toString(16)).join("");
  const email = () =>
    `${pick(["anna", "li.wei", "ivan_petrov", "j.doe", "maria+shop"])}${digits(3)}@${pick(["example.com", "mail.example.org", "firma.example.de"])}`;
  const card = () => luhn(`4${digits(14)}`);
  const grouped = () => card().replace(/(\d{4})(?=\d)/g, "$1 ");
  const ip = () => `203.0.113.${1 + below(254)}`;
  const uuid = () => `${hex(8)}-${hex(4)}-4${hex(3)}-a${hex(3)}-${hex(12)}`;
  const mobile = () => `+7 9${below(8) + 1}${digits(1)} ${digits(3)}-${digits(2)}-${digits(2)}`;
  const chinese = () => `13${digits(9)}`;
  const ssn = () =>
    `${1 + below(5)}${1 + below(9)}${below(10)}-${1 + below(9)}${below(10)}-${1 + below(9)}${digits(3)}`;
  const templates = {
    en: [
      [email, (value: string) => `Please write to ${value}.`],
      [card, (value: string) => `My card ${value} was charged twice!`],
      [grouped, (value: string) => `(card: ${value})`],
      [ip, (value: string) => `The login came from ${value},`],
      [uuid, (value: string) => `session ${value};`],
      [ssn, (value: string) => `SSN ${value}.`],
      [() => `+1 212 555 0${digits(3)}`, (value: string) => `Call ${value} after 5 p.m.`],
    ],
    ru: [
      [email, (value: string) => `Моя почта ${value}, жду ответа.`],
      [grouped, (value: string) => `С карты ${value} списали 500 руб.`],
      [mobile, (value: string) => `Телефон: ${value}.`],
      [ip, (value: string) => `Вход с адреса ${value}`],
      [uuid, (value: string) => `заказ №${value};`],
    ],
    zh: [
      [email, (value: string) => `我的邮箱是${value}。`],
      [chinese, (value: string) => `手机号${value}，请回电。`],
      [card, (value: string) => `银行卡号${value}被重复扣款！`],
      [ip, (value: string) => `登录地址 ${value}，`],
      [uuid, (value: string) => `订单号：${value}。`],
    ],
  } as const;
  for (let index = 0; index < count; index++) {
    const language = (["en", "ru", "zh"] as const)[index % 3] as "en" | "ru" | "zh";
    const values: string[] = [];
    const parts: string[] = [];
    const entities = 3 + below(8);
    for (let entity = 0; entity < entities; entity++) {
      const [make, sentence] = pick<readonly [() => string, (value: string) => string]>(templates[language]);
      const again = values.length > 0 && random() < 0.1;
      const value = again ? pick(values) : make();
      values.push(value);
      parts.push(sentence(value));
    }
    yield { text: parts.join(pick([" ", "\n", " 🙂 "])), language, values };
  }
}
