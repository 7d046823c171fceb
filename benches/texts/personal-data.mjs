// Texts of sentences with invented personal data between them. The length determines them.
import { SENTENCES } from "./prompts.mjs";
import { random } from "./random.mjs";

const NAMES = ["anna.berg", "j.doe", "li.wei", "maria_s", "t.okafor"];
const STREETS = ["Elm Street", "Station Road", "Sunset Boulevard", "Mill Lane"];
const TOWNS = ["Springfield", "Leeds", "Portland", "Galway"];

/** Makes `count` texts of `length` characters, with a sentence of personal data about every `interval` characters. */
export function personalTexts(length, count, interval = 400) {
  const next = random(length);
  const pick = (list) => list[Math.floor(next() * list.length)];
  const digits = (wanted) => Array.from({ length: wanted }, () => Math.floor(next() * 10)).join("");
  const sentences = [
    () => `Please charge my card ${luhn(`4${digits(14)}`)} today.`,
    () => `You can reach me at ${pick(NAMES)}${digits(2)}@mail.example.com in the evening.`,
    () => `My phone number is (212) 555-01${digits(2)}.`,
    () => `Send the parcel to ${1 + Math.floor(next() * 900)} ${pick(STREETS)}, ${pick(TOWNS)}.`,
    () => `The login came from 203.0.113.${Math.floor(next() * 255)}.`,
    () =>
      `Her SSN is 5${digits(2)}-4${digits(1)}-1${digits(3)} and she was born on ${1 + Math.floor(next() * 28)} May 19${6 + Math.floor(next() * 3)}${digits(1)}.`,
    () => `The transfer goes to ${iban(`5001051754073249${digits(2)}`)}.`,
    () => `Order 77${digits(2)}-22${digits(2)} contains ${digits(1)} items for ${digits(3)}.99 in total.`,
  ];
  return Array.from({ length: count }, () => {
    const parts = [];
    let size = 0;
    let plain = Math.floor(next() * interval);
    while (size < length) {
      const isPlain = plain < interval;
      const part = isPlain ? pick(SENTENCES) : pick(sentences)();
      plain = isPlain ? plain + part.length : 0;
      parts.push(part);
      size += part.length + 1;
    }
    return parts.join(" ").slice(0, length);
  });
}

const PEOPLE = [
  "Maria Silva",
  "Tom Okafor",
  "Anna Berg",
  "Li Wei",
  "John Carter",
  "Elena Petrova",
  "Priya Nair",
  "Lucas Meyer",
];
const COMPANIES = ["Northwind Traders", "Contoso", "Fabrikam Bank", "Tailspin Toys", "Wingtip Energy"];

/**
 * Makes `count` texts of `length` characters with a person, a town or a company in every sentence. They are the worst case for a NER
 * model, because few tokens can exit it early.
 */
export function namedTexts(length, count) {
  const next = random(length);
  const pick = (list) => list[Math.floor(next() * list.length)];
  const sentences = [
    () => `${pick(PEOPLE)} joined ${pick(COMPANIES)} in ${pick(TOWNS)} last spring.`,
    () => `The contract was signed by ${pick(PEOPLE)} and ${pick(PEOPLE)} after a long meeting.`,
    () => `Please forward the minutes to ${pick(PEOPLE)} before the office in ${pick(TOWNS)} closes.`,
    () => `According to ${pick(PEOPLE)}, ${pick(COMPANIES)} will open a second warehouse near ${pick(TOWNS)}.`,
    () => `We asked ${pick(PEOPLE)} whether ${pick(COMPANIES)} had paid the invoice.`,
  ];
  return Array.from({ length: count }, () => {
    let text = "";
    while (text.length < length) text += `${pick(sentences)()} `;
    return text.slice(0, length);
  });
}

/** Appends the check digit of the Luhn algorithm (ISO/IEC 7812-1, annex B). */
function luhn(number) {
  const sum = [...number].reverse().reduce((total, digit, index) => {
    const value = Number(digit) * (index % 2 === 0 ? 2 : 1);
    return total + (value > 9 ? value - 9 : value);
  }, 0);
  return number + ((10 - (sum % 10)) % 10);
}

/** Makes a German IBAN with its check digits (ISO 13616-1). */
function iban(account) {
  const check = 98n - (BigInt(`${account}131400`) % 97n);
  return `DE${String(check).padStart(2, "0")}${account}`;
}
