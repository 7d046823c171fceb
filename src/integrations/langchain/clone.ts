/**
 * Copies a message, runnable or document of LangChain with changed fields. It keeps the class without calling the constructor.
 */
export function cloneWith<Thing extends object>(thing: Thing, changes: { [Key in keyof Thing]?: Thing[Key] }): Thing {
  const copy = Object.assign(Object.create(Object.getPrototypeOf(thing)), thing, changes);
  // LangChain serializes lc_kwargs instead of the fields.
  const { lc_kwargs } = thing as { lc_kwargs?: object };
  return lc_kwargs ? Object.assign(copy, { lc_kwargs: { ...lc_kwargs, ...changes } }) : copy;
}
