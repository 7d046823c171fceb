import type { Subject } from "../suite.ts";

/** Prompts and answers without anything that a scanner should find, for measuring scan times. */
const EXCHANGES: readonly (readonly [prompt: string, answer: string])[] = [
  [
    "Could you explain how a heat pump works? I would like to understand why it needs less electricity than an electric heater.",
    "A heat pump moves heat instead of making it. A liquid evaporates outside, where it takes up heat, and condenses inside, where it gives the heat off.",
  ],
  [
    "What should I look at first when I visit Lisbon for three days in spring?",
    "Walk through the old quarter on the first day, take the train to the palaces in the hills on the second, and keep the third for the river.",
  ],
  [
    "Please summarise these notes: the release moves to Thursday, the tests of the new page are green, and the translation is still missing two chapters.",
    "The release is on Thursday. The tests pass. Two chapters still have to be translated.",
  ],
  [
    "Wie lange muss ein Brotteig im Kühlschrank gehen, wenn ich morgens früh backen möchte?",
    "Zwölf bis sechzehn Stunden sind üblich. Nimm den Teig eine Stunde vor dem Backen heraus, damit er wieder warm wird.",
  ],
  [
    "How do I split a list into chunks of equal size without copying it more often than necessary?",
    "Keep the list as it is and hand out pairs of positions. Only the last pair may be shorter than the others.",
  ],
  [
    "¿Qué diferencia hay entre el clima de la costa y el del interior en verano?",
    "En la costa el mar suaviza el calor. En el interior los días son más calurosos y las noches más frescas.",
  ],
  [
    "I have flour, eggs, milk and two ripe bananas. What can I cook in half an hour?",
    "Banana pancakes: mash the bananas, stir in eggs and milk, add the flour and fry small ones over medium heat.",
  ],
  [
    "Write a friendly reminder for my team that the meeting room is booked on Monday from nine to eleven.",
    "Hello everyone, a short reminder: our room is booked on Monday from nine to eleven. See you there!",
  ],
];

export const ORDINARY_PROMPTS: readonly Subject[] = EXCHANGES.map(([text]) => ({ kind: "prompt", text }));

export const ORDINARY_OUTPUTS: readonly Subject[] = EXCHANGES.map(([prompt, text]) => ({
  kind: "output",
  prompt,
  text,
}));

/** Different texts of 1,000 characters. */
export const LONG_TEXTS: readonly string[] = EXCHANGES.map((_, first) =>
  [...EXCHANGES.slice(first), ...EXCHANGES.slice(0, first)].flat().join(" ").slice(0, 1000),
);
