"""Reads the weights of a published model to continue its training: `--start models/NAME`.

The weights are those of the int8 graph. They differ from the trained ones by rounding, which is less than a training changes them, and the
heads contain their calibration.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import onnx
import torch
from onnx import TensorProto, numpy_helper
from onnx.external_data_helper import load_external_data_for_model
from safetensors.torch import load_file

from .encoder import Encoder
from .export import BLOCK


def initializers(graphs: Sequence[Path], words: Path) -> dict[str, np.ndarray]:
    """All weights of graphs by name, dequantized."""
    found = {}
    for graph in graphs:
        model = onnx.load(str(graph), load_external_data=False)
        load_external_data_for_model(model, str(words))
        found |= {tensor.name: tensor for tensor in model.graph.initializer}
    arrays = {}
    for name, tensor in found.items():
        if tensor.data_type == TensorProto.INT4:
            halves = np.frombuffer(tensor.raw_data, np.uint8).reshape(tensor.dims[0], -1)
            values = np.stack([halves & 15, halves >> 4], -1).reshape(tensor.dims).astype(np.int8)
            arrays[name] = np.where(values > 7, values - 16, values)
        else:
            arrays[name] = numpy_helper.to_array(tensor)
    for name in [name for name in arrays if name.endswith("_quantized")]:
        plain = name.removesuffix("_quantized")
        zero, scale = arrays[f"{plain}_zero_point"].astype(np.float32), arrays[f"{plain}_scale"]
        arrays[plain] = (arrays[name].astype(np.float32) - zero) * scale
    return arrays


def weights_from_graph(arrays: dict[str, np.ndarray], layers: int, heads: list[str]) -> dict[str, np.ndarray]:
    """Maps the weights to the names of `encoder.Encoder`: the inverse of `export.build`."""
    values, scales = arrays["words.weight"], arrays["words.scales"]
    blocks = values.reshape(len(values), -1, BLOCK).astype(np.float32) * scales[..., None]
    state = {"words.weight": blocks.reshape(values.shape), "positions.weight": arrays["positions.weight"]}

    def norm(name: str) -> np.ndarray:
        """Adds the weights of a norm. Returns the factors by which the export divided the input of the next layer."""
        factors = arrays.get(f"{name}.factors", np.float32(1))
        source = f"{name}.even" if f"{name}.factors" in arrays else name
        for part in ("weight", "bias"):
            state[f"{name}.{part}"] = arrays[f"{source}.{part}"] * factors
        return factors

    factors = norm("norm")
    for n in (f"layers.{index}" for index in range(layers)):
        state[f"{n}.qkv.weight"] = arrays[f"{n}.qkv.weight"].T / factors
        state[f"{n}.qkv.bias"] = arrays[f"{n}.qkv.bias"]
        state[f"{n}.out.weight"] = arrays[f"{n}.out.weight"].T
        factors = norm(f"{n}.norm1")
        # The fp32 channels come last. The order of channels does not matter.
        parts = (n, f"{n}.outliers")
        state[f"{n}.up.weight"] = np.concatenate([arrays[f"{part}.up.weight"].T for part in parts]) / factors
        state[f"{n}.up.bias"] = np.concatenate([arrays[f"{part}.up.bias"] for part in parts])
        state[f"{n}.down.weight"] = np.concatenate([arrays[f"{part}.down.weight"] for part in parts]).T
        for part in ("out", "down"):
            state[f"{n}.{part}.bias"] = arrays[f"{n}.{part}.bias"]
        factors = norm(f"{n}.norm2")
    if "pool.weight" in arrays:
        state["pool.weight"] = arrays["pool.weight"].T
        state["head.weight"] = np.concatenate([arrays[f"{name}.weight"].T for name in heads])
        state["head.bias"] = np.concatenate([arrays[f"{name}.bias"] for name in heads])
    else:
        state["head.weight"], state["head.bias"] = arrays["logits.weight"].T, arrays["logits.bias"]
    return {name: np.array(value, np.float32, order="C") for name, value in state.items()}


def load_start_weights(model: Encoder, path: Path) -> None:
    """Loads the `weights.safetensors` of an earlier run, or the weights of a published model.

    Raises SystemExit if their vocabulary differs from that of the base, and RuntimeError if their shapes differ.
    """
    of_base = model.words.weight.clone()
    state = load_file(path) if path.is_file() else published_state(model, path)
    model.load_state_dict(with_added_heads(model, state))
    # Training does not change word vectors, so different vectors mean another vocabulary.
    if not torch.equal(of_base, model.words.weight):
        raise SystemExit(
            f"{path} has another vocabulary than the base: create the base with training.multilingual --like MODEL"
        )


def mix_start_weights(model: Encoder, args: argparse.Namespace) -> None:
    """Moves the weights back towards those that they started from, as --mix says: a weighted mean, which keeps more of what the start knew
    (Wortsman et al., Robust fine-tuning of zero-shot models, 2022, arXiv:2109.01903).

    --start has to be that of the training: an export reorders the feed-forward channels, so a mean with other weights of the same model is
    useless.
    """
    if args.mix == 1:
        return
    trained = {name: value.clone() for name, value in model.state_dict().items()}
    load_start_weights(model, args.start)
    # Weights that did not change stay exactly equal, as shared layers have to.
    mixed = {
        name: start if torch.equal(start, trained[name]) else start.lerp(trained[name], args.mix)
        for name, start in model.state_dict().items()
    }
    model.load_state_dict(mixed)


def published_state(model: Encoder, path: Path) -> dict[str, torch.Tensor]:
    config = json.loads((path / "config.json").read_text("utf-8"))
    guard = config["guard"]
    heads = [head["output"] for head in guard.get("heads", [{"output": "logits"}])]
    graphs = [path / file for file in (guard.get("shared_layers"), "model.onnx") if file]
    arrays = initializers(graphs, path / guard.get("external_data", "."))
    state = {name: model.state_dict()[name] for name in model.unshipped}
    for name, value in weights_from_graph(arrays, config["num_hidden_layers"], heads).items():
        state[name] = torch.from_numpy(value)
    return state


def with_added_heads(model: Encoder, state: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """Appends the initial weights of heads that the model has and the state lacks."""
    found = dict(state)
    for name, first in model.state_dict().items():
        if name.startswith(OF_HEADS) and name in state and len(first) > len(state[name]):
            found[name] = torch.cat([state[name], first[len(state[name]) :]])
    return found


# Parameters of the input to the layers, without the vocabulary, and parameters of the heads.
OF_INPUT, OF_HEADS = ("positions.", "norm."), ("pool.", "head.")


def load_layers(model: Encoder, path: Path, with_heads: bool = False, lowest: int | None = None) -> None:
    """Loads the layers of a published model, or only the `lowest` ones, and its heads if `with_heads`. The model may have another part of the
    base's vocabulary: word vectors are not trained, so the layers work with the vectors of all pieces."""
    published = with_added_heads(model, published_state(model, path))
    layers = ("layers.",) if lowest is None else tuple(f"layers.{index}." for index in range(lowest))
    parts = OF_INPUT + layers + (OF_HEADS if with_heads else ())
    model.load_state_dict({**model.state_dict(), **{k: v for k, v in published.items() if k.startswith(parts)}})


def load_initial_layers(model: Encoder, args: argparse.Namespace, with_heads: bool = False) -> None:
    """Loads the layers that --layers-of names, or the frozen ones of the model that --shared-layers-of names."""
    if args.layers_of:
        load_layers(model, args.layers_of, with_heads)
    elif args.shared_layers_of and not args.start:
        load_layers(model, args.shared_layers_of, lowest=args.frozen)
