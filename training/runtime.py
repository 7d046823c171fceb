"""Running an exported model with onnxruntime, as the product does (one text at a time, no padding)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import onnxruntime
from tokenizers import Tokenizer

from .trainer import encode, pad


class Exported:
    def __init__(self, model: Path, tokenizer: Path, threads: int = 2):
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        # As the engine does: the fused kernel is slow on a CPU.
        options.add_session_config_entry("optimization.disable_specified_optimizers", "SkipLayerNormFusion")
        config = model.parent / "config.json"
        guard = json.loads(config.read_text("utf-8")).get("guard", {}) if config.exists() else {}
        source: str | bytes = str(model)
        if "external_data" in guard:
            folder = str(model.parent / guard["external_data"])
            options.add_session_config_entry("session.model_external_initializers_file_folder_path", folder)
            source = model.read_bytes()
        self.session = onnxruntime.InferenceSession(source, options, providers=["CPUExecutionProvider"])
        self.tokenizer = Tokenizer.from_file(str(tokenizer))

    def logits(self, texts: Sequence[str | tuple[str, str]], max_tokens: int, head: str = "logits") -> list[np.ndarray]:
        """Of each text: `[labels]`, or `[tokens, labels]` of a tagger."""
        ids = encode(self.tokenizer, texts, max_tokens)
        # One text a run: dynamic quantization scales by the whole input, so a batch would blur the figures.
        rows = []
        for row in ids:
            tokens, mask = pad([row], exactly=True)
            rows.append(self.session.run([head], {"input_ids": tokens, "attention_mask": mask})[0][0])
        return rows


def softmax(logits: np.ndarray) -> np.ndarray:
    shifted = np.exp(logits - logits.max(axis=-1, keepdims=True))
    return shifted / shifted.sum(axis=-1, keepdims=True)
