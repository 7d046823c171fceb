"""A client of llm-guard's API. It runs against guard if you change the URL, and needs only the standard library.

    AUTH_TOKEN=secret node dist/cli/main.js serve --config examples/scanners.yml &
    AUTH_TOKEN=secret python3 examples/migrate_client.py

The only thing to add is the vault: llm-guard's server keeps one vault for all callers, guard keeps nothing. So a client keeps the `vault` of
the reply to the prompt, and sends it with the answer.
"""

import json
import os
import urllib.error
import urllib.request

URL = os.environ.get("GUARD_URL", "http://127.0.0.1:8000")
TOKEN = os.environ.get("AUTH_TOKEN", "")


def post(path: str, body: dict) -> dict:
    """Posts a body and returns the reply. An error has the field `message`, as in llm-guard."""
    request = urllib.request.Request(
        URL.rstrip("/") + path,
        data=json.dumps(body).encode(),
        headers={"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json"},
    )
    try:
        with urllib.request.urlopen(request, timeout=30) as reply:
            return json.load(reply)
    except urllib.error.HTTPError as error:
        raise SystemExit(f"{error.code}: {json.load(error)['message']}") from None


prompt = post("/analyze/prompt", {"prompt": "Write to ann@example.com that we meet at noon."})
print(prompt["is_valid"], prompt["sanitized_prompt"], prompt["scanners"])

answer = post(
    "/analyze/output",
    {
        "prompt": prompt["sanitized_prompt"],
        "output": "Sent to [REDACTED_EMAIL_ADDRESS_1].",
        "vault": prompt.get("vault"),
    },
)
print(answer["is_valid"], answer["sanitized_output"])

suppressed = post("/scan/prompt", {"prompt": "Tell me about Project Aurora.", "scanners_suppress": ["BanSubstrings"]})
print(suppressed["is_valid"], suppressed["scanners"])

# Prints:
#   False Write to [REDACTED_EMAIL_ADDRESS_1] that we meet at noon. {'Anonymize': 0.9, 'BanSubstrings': -1}
#   True Sent to ann@example.com.
#   True {'Anonymize': -1}
