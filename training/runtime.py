"""Runs an exported model with onnxruntime like guard's engine: one text at a time, without padding."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
from onnx import helper
from tokenizers import Tokenizer

from .trainer import encode, pad


class ExportedModel:
    def __init__(self, model: Path, tokenizer: Path, threads: int = 2, watched: Sequence[str] = ()):
        """`watched` names inner values of the graph that become outputs too."""
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        # guard's engine disables this fusion too, because the fused kernel is slow on a CPU.
        options.add_session_config_entry("optimization.disable_specified_optimizers", "SkipLayerNormFusion")
        # As in guard's engine: without VNNI instructions, sums of int8 products would overflow.
        options.add_session_config_entry("session.x64quantprecision", "1")
        config = model.parent / "config.json"
        guard = json.loads(config.read_text("utf-8")).get("guard", {}) if config.exists() else {}
        folder = str(model.parent / guard.get("external_data", "."))
        options.add_session_config_entry("session.model_external_initializers_file_folder_path", folder)

        def session(path: Path, watched: Sequence[str] = ()) -> onnxruntime.InferenceSession:
            graph = onnx.load(str(path), load_external_data=False)
            graph.graph.output.extend(helper.make_empty_tensor_value_info(name) for name in watched)
            source = graph.SerializeToString()
            return onnxruntime.InferenceSession(source, options, providers=["CPUExecutionProvider"])

        self.session = session(model, watched)
        layers = guard.get("shared_layers")
        self.layers = session(model.parent / layers) if layers else None
        # Models with shared word vectors share the tokenizer too.
        file = tokenizer if tokenizer.exists() else Path(folder) / tokenizer.name
        self.tokenizer = Tokenizer.from_file(str(file))

    def logits(self, texts: Sequence[str | tuple[str, str]], max_tokens: int, head: str = "logits") -> list[np.ndarray]:
        """The logits of each text: `[labels]`, or `[tokens, labels]` for a tagger."""
        return [found for (found,) in self.outputs(texts, max_tokens, [head])]

    def outputs(
        self, texts: Sequence[str | tuple[str, str]], max_tokens: int, names: Sequence[str]
    ) -> list[list[np.ndarray]]:
        """These outputs of the graph for each text, without the batch dimension."""
        return self.outputs_of(encode(self.tokenizer, texts, max_tokens), names)

    def outputs_of(self, ids: Sequence[Sequence[int]], names: Sequence[str]) -> list[list[np.ndarray]]:
        """These outputs of the graph for each row of token ids, without the batch dimension."""
        # Dynamic quantization scales by the whole input, so a text in a batch would get a slightly different score.
        rows = []
        for row in ids:
            tokens, mask = pad([row], exactly=True)
            inputs = {"input_ids": tokens, "attention_mask": mask}
            if self.layers:
                [vectors] = self.layers.get_outputs()
                inputs[vectors.name] = self.layers.run([vectors.name], inputs)[0]
            found = self.session.run(list(names), {port.name: inputs[port.name] for port in self.session.get_inputs()})
            rows.append([values[0] for values in found])
        return rows


def softmax(logits: np.ndarray) -> np.ndarray:
    shifted = np.exp(logits - logits.max(axis=-1, keepdims=True))
    return shifted / shifted.sum(axis=-1, keepdims=True)
