// Guards a model call with the scanners of a server: the request, the streamed answer, and a blocked request.
//   AUTH_TOKEN=secret node dist/cli/main.js serve --config examples/scanners.yml &
//   AUTH_TOKEN=secret node examples/remote-guard.mjs
import { GuardBlockedError, isWithheld, RemoteGuard } from "guard-scan/remote";

const { GUARD_URL = "http://127.0.0.1:8000", AUTH_TOKEN = "" } = process.env;
const guard = new RemoteGuard({ url: GUARD_URL, credential: { bearer: AUTH_TOKEN } });

/** A model that streams its answer in pieces of 9 characters. */
async function* model({ messages }) {
  const [address] = /\[REDACTED_\w+\]/.exec(messages.at(-1).content) ?? ["nobody"];
  for (const piece of `I will write to ${address} at once.`.match(/.{1,9}/g)) yield piece;
}

/** Calls the model, and prints the part of its answer that passes. */
async function ask(content) {
  const call = guard.call();
  const { report, request } = await call.request({ messages: [{ role: "user", content }] });
  if (isWithheld(report)) throw new GuardBlockedError("request", report);
  console.log("sent:", request.messages[0].content);
  const answer = call.answerStream();
  let shown = "";
  for await (const piece of model(request)) {
    const step = await answer.push(piece);
    shown += step.text;
    if (step.report) throw new GuardBlockedError("answer", step.report);
  }
  const last = await answer.end();
  if (isWithheld(last.report)) throw new GuardBlockedError("answer", last.report);
  console.log("shown:", shown + last.text);
}

await ask("Write to ann@example.com that we meet at noon.");
await ask("Tell me about Project Aurora.").catch((error) => console.log(error.name, error.message));
await guard.close();

// Prints:
//   sent: Write to [REDACTED_EMAIL_ADDRESS_1] that we meet at noon.
//   shown: I will write to ann@example.com at once.
//   GuardBlockedError The request was blocked by guard: BanSubstrings, BanSubstrings[window].
