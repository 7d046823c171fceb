import { createHash } from "node:crypto";
import type { Options, SerializerSelector } from "@fastify/fast-json-stringify-compiler";
import { lazy } from "../../support/lazy.ts";
import { lazyPackage } from "../../support/lazy-package.ts";

type Compiler = ReturnType<ReturnType<typeof SerializerSelector>>;

const selector = lazyPackage<typeof SerializerSelector>("@fastify/fast-json-stringify-compiler");
const build = lazy(() => selector()());
/** What was compiled in this process, by the schemas that it was made of. Those are schemas of the program, so that there are few. */
const compiled = new Map<string, ReturnType<Compiler>>();

/**
 * Makes what compiles serializers of answers, as Fastify's own does, but each of them once in a process. Fastify's compiler writes a program
 * in which it numbers schemas on and on, so that the same schema never gives the same program twice, and V8 keeps every program that was
 * made from a text for as long as it has memory: half a megabyte for each reload of the configuration.
 */
export function buildSerializer(external: unknown, options?: Options): Compiler {
  const compile = build()(external, options);
  const surroundings = JSON.stringify([external, options]);
  return (route) => {
    const key = createHash("sha256").update(JSON.stringify(route.schema)).update(surroundings).digest("base64");
    const known = compiled.get(key);
    if (known) return known;
    const serialize = compile(route);
    compiled.set(key, serialize);
    return serialize;
  };
}
