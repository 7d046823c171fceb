import type { z } from "zod";
import { type CodePiece, CodePieces, type codeOptions, type Judgement } from "./code-pieces.ts";

/** Both sides of BanCode: they differ in the default threshold, as in llm-guard 0.3.16. */
export abstract class BanCodeBase<
  Schema extends z.ZodObject<ReturnType<typeof codeOptions>>,
> extends CodePieces<Schema> {
  protected judge({ code, listedLabel }: CodePiece): Judgement {
    return { score: code, label: listedLabel ?? "" };
  }
}
