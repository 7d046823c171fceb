import { GuardValidationError } from "../support/errors.ts";
import { type Command, parse, print, UsageError } from "./command.ts";
import { readText } from "./lines.ts";

const options = {
  file: { type: "string", value: "FILE", help: "hash the content of a file, or standard input for -" },
} as const;

/** `guard-scan hash-text`: prints the keyed hash of a text for an exception. */
export const hashText: Command = {
  name: "hash-text",
  summary: "Prints the keyed hash of a text, for an exception (text_hash).",
  usage: "guard-scan hash-text [TEXT | --file FILE]",
  options,
  notes:
    "The environment variable GUARD_EXCEPTIONS_KEY has the key, the same as that of the server. White space around the text does not count.\n" +
    "Without TEXT and --file, it reads standard input, which keeps the text out of the history of the shell.",
  async run(args) {
    const { values, positionals } = parse(options, args);
    const [given, more] = positionals;
    if (more !== undefined) throw new UsageError("expected one text: put it in quotes");
    if (given !== undefined && values.file !== undefined) throw new UsageError("give a text or --file");
    const [{ EXCEPTIONS_KEY, readExceptionsKey }, { hashOfText }] = await Promise.all([
      import("../config/exception-key.ts"),
      import("../scan/exceptions/exception.ts"),
    ]);
    const key = readExceptionsKey(process.env);
    if (!key) {
      throw new GuardValidationError([
        { path: EXCEPTIONS_KEY, message: "is not set; make one: openssl rand -base64 32" },
      ]);
    }
    const text = given ?? (await readText(values.file ?? "-"));
    if (text.trim() === "") throw new UsageError("the text is empty");
    await print(`${hashOfText(key, text)}\n`);
    return 0;
  },
};
