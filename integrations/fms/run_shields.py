"""Runs texts through shields of TrustyAI's provider for Llama Stack, which calls detectors, and prints what became of them.

Arguments: the address of the detectors, and a list in JSON of pairs [name of the shield, text]. A shield whose name has "chat" in it
calls the endpoint for chats, the others that for texts.
"""

import asyncio
import json
import logging
import sys

from llama_stack.apis.inference import UserMessage
from llama_stack_provider_trustyai_fms import FMSSafetyProviderConfig, get_adapter_impl


async def main(address: str, cases: list[list[str]]) -> None:
    shields = {
        name: {
            "type": "chat" if "chat" in name else "content",
            "detector_url": address,
            "confidence_threshold": 0.01,
            "message_types": ["user"],
            "detector_params": {},
            "max_retries": 1,
        }
        for name, _ in cases
    }
    provider = await get_adapter_impl(FMSSafetyProviderConfig(shields=shields), {})
    await provider.initialize()
    answers = []
    for name, text in cases:
        violation = (await provider.run_shield(name, [UserMessage(role="user", content=text)], {})).violation
        result = violation.metadata["results"][0]
        answers.append({key: result.get(key) for key in ("status", "detection_type", "error")})
    await provider.shutdown()
    json.dump(answers, sys.stdout)


logging.disable(logging.CRITICAL)
asyncio.run(main(sys.argv[1], json.loads(sys.argv[2])))
