import { createHash } from "node:crypto";
import type { Options, SerializerSelector } from "@fastify/fast-json-stringify-compiler";
import type { FastifyServerOptions } from "fastify";
import { lazy } from "../../support/lazy.ts";
import { lazyPackage } from "../../support/lazy-package.ts";

/** A compiled schema: validates a body or serializes a reply. */
interface CompiledSchema {
  (data: unknown): unknown;
  /** The errors of the last validation. */
  errors?: unknown;
}
type Compiler = (route: unknown) => CompiledSchema;
type CompilerFactory = (...options: unknown[]) => Compiler;
type SerializerCompiler = ReturnType<ReturnType<typeof SerializerSelector>>;

const validatorFactory = lazyPackage<() => CompilerFactory>("@fastify/ajv-compiler");
const serializerSelector = lazyPackage<typeof SerializerSelector>("@fastify/fast-json-stringify-compiler");
const serializerFactory = lazy(() => serializerSelector()());

/** Compiles each schema on first use. Compiling all of them would take longer than the rest of the start, and most routes stay unused. */
export const compilersFactory = {
  buildValidator: lazyFactory(() => validatorFactory()()),
  buildSerializer: lazyFactory(() => buildSerializer as unknown as CompilerFactory),
} as unknown as NonNullable<NonNullable<FastifyServerOptions["schemaController"]>["compilersFactory"]>;

function lazyFactory(load: () => CompilerFactory): CompilerFactory {
  const factory = lazy(load);
  return (...options) => {
    const compiler = lazy(() => factory()(...options));
    return (route) => {
      const compiled = lazy(() => compiler()(route));
      const call: CompiledSchema = (data) => {
        const result = compiled()(data);
        call.errors = compiled().errors;
        return result;
      };
      return call;
    };
  };
}

/** The serializers of this process. Only schemas of the program are compiled, so there are few. */
const serializers = new Map<string, ReturnType<SerializerCompiler>>();

/**
 * Compiles serializers like Fastify's own compiler, but each schema once in a process. Fastify numbers the schemas in the code that it
 * generates, so the same schema gives different code each time, and V8 keeps all code: half a megabyte for each reload.
 */
function buildSerializer(external: unknown, options?: Options): SerializerCompiler {
  const compile = serializerFactory()(external, options);
  const context = JSON.stringify([external, options]);
  return (route) => {
    const key = createHash("sha256").update(JSON.stringify(route.schema)).update(context).digest("base64");
    const existing = serializers.get(key);
    if (existing) return existing;
    const serialize = compile(route);
    serializers.set(key, serialize);
    return serialize;
  };
}
