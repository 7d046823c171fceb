/** A piece of a text, in code points. */
interface Place {
  entity_type: string;
  start: number;
  end: number;
}

/** What replaced a piece, with its place in the new text. */
export interface Replaced extends Place {
  text: string;
  operator: string;
}

/**
 * Replaces pieces of a text, which are in order. Of a piece that overlaps the next one, only what is before that is replaced, by what replaces the whole
 * piece, as in Presidio.
 *
 * @param characters the code points of the text.
 */
export function replacePlaces(
  characters: readonly string[],
  places: readonly Place[],
  replacementOf: (place: Place) => { text: string; operator: string },
): { text: string; items: Replaced[] } {
  const pieces: string[] = [];
  const items: Replaced[] = [];
  let [read, written] = [0, 0];
  for (const [index, place] of places.entries()) {
    const { entity_type, start } = place;
    const end = Math.min(place.end, places[index + 1]?.start ?? place.end);
    const { text, operator } = replacementOf(place);
    pieces.push(characters.slice(read, start).join(""), text);
    const from = written + (start - read);
    written = from + Array.from(text).length;
    read = end;
    items.push({ start: from, end: written, entity_type, text, operator });
  }
  // Presidio lists the last item first.
  return { text: [...pieces, characters.slice(read).join("")].join(""), items: items.reverse() };
}
