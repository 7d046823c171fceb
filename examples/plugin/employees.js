// A recognizer for personal data: employee numbers, such as EMP-004711.

/** @type {import("guard-scan").Recognizer} */
export function employees(text) {
  return [...text.matchAll(/\bEMP-\d{6}\b/g)].map(({ 0: number, index }) => ({
    start: index,
    end: index + number.length,
    type: "EMPLOYEE",
    score: 0.9,
  }));
}
