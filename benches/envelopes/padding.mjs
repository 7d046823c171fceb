// Harmless text without repeated sentences, since guard reads a repeated sentence once.
const PLACES = [
  "Delft",
  "Ghent",
  "Bergen",
  "Porto",
  "Tartu",
  "Graz",
  "Brno",
  "Turku",
  "Girona",
  "Vilnius",
  "Lublin",
  "Cork",
];
const THINGS = [
  "bicycles",
  "lamps",
  "chairs",
  "maps",
  "tents",
  "kettles",
  "ladders",
  "drums",
  "globes",
  "kites",
  "rugs",
  "clocks",
];
const PEOPLE = ["Marit", "Joost", "Ines", "Pavel", "Aino", "Luca", "Nadia", "Tomas", "Greta", "Oskar", "Rui", "Helmi"];
const MONTHS = ["January", "March", "April", "June", "August", "October"];
const SENTENCES = [
  "The shop in PLACE sold NUMBER THINGS in MONTH, NUMBER more than in the year before.",
  "PERSON from PLACE repaired NUMBER THINGS with the help of two volunteers.",
  "Rain fell on NUMBER days in MONTH, so the fair in PLACE was moved to the hall.",
  "The museum of PLACE lent NUMBER old THINGS to a school for its summer play.",
  "According to PERSON, about NUMBER visitors came to see the THINGS on the first weekend.",
  "A delivery of NUMBER THINGS reached PLACE on the 12th of MONTH.",
  "The report for MONTH counts NUMBER THINGS in the cellar and NUMBER in the attic.",
  "PERSON and PERSON walked NUMBER kilometres from the station to the river near PLACE.",
  "In PLACE, the price of THINGS rose by NUMBER cents between MONTH and the end of the year.",
  "The library of PLACE stays open until eight in MONTH, and NUMBER readers asked for that.",
  "Line NUMBER of the tram stops near the workshop where PERSON builds THINGS.",
  "Of the NUMBER THINGS on the list, most were found in a barn outside PLACE.",
];

/**
 * Harmless text of at least `length` bytes.
 *
 * @param {number} length
 * @param {() => number} random
 */
export function padding(length, random) {
  const pick = (list) => list[Math.floor(random() * list.length)];
  const words = { PLACE: PLACES, THINGS, PERSON: PEOPLE, MONTH: MONTHS };
  const fill = (word) => (word === "NUMBER" ? String(2 + Math.floor(random() * 9000)) : pick(words[word]));
  const sentences = [];
  for (let size = 0; size < length; size += sentences.at(-1).length + 1) {
    sentences.push(pick(SENTENCES).replace(/PLACE|THINGS|PERSON|MONTH|NUMBER/g, fill));
  }
  return sentences;
}
