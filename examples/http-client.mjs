// An HTTP client with a credential. It scans a prompt, calls a model, and scans the answer with the prompt's vault.
//   AUTH_TOKEN=secret node dist/cli/main.js serve --config examples/scanners.yml &
//   AUTH_TOKEN=secret node examples/http-client.mjs
const { GUARD_URL = "http://127.0.0.1:8000", AUTH_TOKEN = "" } = process.env;

/** Posts a body and returns the reply. Errors are problem details (RFC 9457). */
async function post(path, body) {
  const reply = await fetch(new URL(path, GUARD_URL), {
    method: "POST",
    headers: { authorization: `Bearer ${AUTH_TOKEN}`, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  const json = await reply.json();
  if (!reply.ok) throw new Error(`${json.status} ${json.title}: ${json.detail}`);
  return json;
}

const prompt = await post("/analyze/prompt", {
  prompt: "Write to ann@example.com that we meet at noon.",
  details: true,
});
console.log(prompt.is_valid, prompt.sanitized_prompt);
console.log(prompt.findings.Anonymize.map(({ label }) => label));

// The model sees only the placeholder. The client must keep the vault.
const output = "Sent to [REDACTED_EMAIL_ADDRESS_1].";
const answer = await post("/analyze/output", { prompt: prompt.sanitized_prompt, output, vault: prompt.vault });
console.log(answer.is_valid, answer.sanitized_output);

const refused = await post("/scan/prompt", { prompt: "Tell me about Project Aurora." });
console.log(refused.is_valid, refused.scanners);

await post("/scan/prompt", { text: "the wrong field" }).catch((error) => console.log(error.message));

// Prints:
//   false Write to [REDACTED_EMAIL_ADDRESS_1] that we meet at noon.
//   [ 'EMAIL_ADDRESS' ]
//   true Sent to ann@example.com.
//   false { Anonymize: -1, BanSubstrings: 1 }
//   422 Unprocessable Entity: The body has the wrong shape.
