import { createHash } from "node:crypto";
import { setImmediate } from "node:timers/promises";
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
type Compiler = (route: { url: string }) => CompiledSchema;
type CompilerFactory = (...options: unknown[]) => Compiler;
type SerializerCompiler = ReturnType<ReturnType<typeof SerializerSelector>>;

const validatorFactory = lazyPackage<() => CompilerFactory>("@fastify/ajv-compiler");
const serializerSelector = lazyPackage<typeof SerializerSelector>("@fastify/fast-json-stringify-compiler");
const serializerFactory = lazy(() => serializerSelector()());

type CompilersFactory = NonNullable<NonNullable<FastifyServerOptions["schemaController"]>["compilersFactory"]>;

/** Compiles each schema on first use. Compiling all of them would take longer than the rest of the start, and most routes stay unused. */
export class SchemaCompilers {
  /** What compiles each schema, by the URL of its route. */
  readonly #schemas: { url: string; compile: () => unknown }[] = [];
  /** Fastify's option `schemaController.compilersFactory`. */
  readonly factory = {
    buildValidator: this.#lazyFactory(() => validatorFactory()()),
    buildSerializer: this.#lazyFactory(() => buildSerializer as unknown as CompilerFactory),
  } as unknown as CompilersFactory;

  /** Compiles the schemas of these URLs, one in each turn of the event loop, so that the first request does not wait for it. */
  async compile(urls: readonly string[]): Promise<void> {
    for (const { url, compile } of this.#schemas) {
      if (!urls.includes(url)) continue;
      await setImmediate();
      compile();
    }
  }

  /** Returns a factory like that of `load`, whose compilers compile a schema when it is first used, or by {@link compile}. */
  #lazyFactory(load: () => CompilerFactory): CompilerFactory {
    const factory = lazy(load);
    return (...options) => {
      const compiler = lazy(() => factory()(...options));
      return (route) => {
        const compiled = lazy(() => compiler()(route));
        this.#schemas.push({ url: route.url, compile: compiled });
        const call: CompiledSchema = (data) => {
          const result = compiled()(data);
          call.errors = compiled().errors;
          return result;
        };
        return call;
      };
    };
  }
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
