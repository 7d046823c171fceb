/**
 * A copy of a message, runnable or document of LangChain with other fields. It has the same class, whatever the constructor of that
 * class asks for.
 */
export function cloneWith<Thing extends object>(thing: Thing, changes: { [Key in keyof Thing]?: Thing[Key] }): Thing {
  const copy = Object.assign(Object.create(Object.getPrototypeOf(thing)), thing, changes);
  // What LangChain serializes is kept apart from the fields.
  const { lc_kwargs } = thing as { lc_kwargs?: object };
  return lc_kwargs ? Object.assign(copy, { lc_kwargs: { ...lc_kwargs, ...changes } }) : copy;
}
