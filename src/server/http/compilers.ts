import type { FastifyServerOptions } from "fastify";
import { lazy } from "../../support/lazy.ts";
import { lazyPackage } from "../../support/lazy-package.ts";
import { buildSerializer } from "./serializers.ts";

/** What a schema is compiled to: a check of a body, or a writer of replies. */
interface Compiled {
  (data: unknown): unknown;
  /** What was wrong with the body that was checked last. */
  errors?: unknown;
}
type Compiler = (route: unknown) => Compiled;
type CompilerFactory = (...options: unknown[]) => Compiler;

const ajvCompiler = lazyPackage<() => CompilerFactory>("@fastify/ajv-compiler");

/**
 * Compiles the schema of a body or of a reply when there is the first one, and not before the server listens: most servers are asked
 * for few of their routes, and their schemas take longer to compile than the rest of the start.
 */
export const compilersFactory = {
  buildValidator: onFirstCall(() => ajvCompiler()()),
  buildSerializer: onFirstCall(() => buildSerializer as unknown as CompilerFactory),
} as unknown as NonNullable<NonNullable<FastifyServerOptions["schemaController"]>["compilersFactory"]>;

function onFirstCall(load: () => CompilerFactory): CompilerFactory {
  const factory = lazy(load);
  return (...options) => {
    const compiler = lazy(() => factory()(...options));
    return (route) => {
      const compiled = lazy(() => compiler()(route));
      const call: Compiled = (data) => {
        const result = compiled()(data);
        call.errors = compiled().errors;
        return result;
      };
      return call;
    };
  };
}
