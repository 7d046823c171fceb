"""Fine-tunes the whole encoder: AdamW with warm-up and linear decay, in batches of similar length."""

from __future__ import annotations

import math
import random
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
import torch
from tokenizers import Tokenizer
from torch.nn import functional as F

from .datasets import NO_CATEGORY, Row
from .encoder import Classifier, Encoder


@dataclass(frozen=True)
class Settings:
    seed: int = 20240611
    epochs: int = 2
    max_tokens: int = 256
    batch_tokens: int = 2048
    rate: float = 6e-5
    frozen: int = 0  # number of lowest layers that are not trained
    head_rate: float = 1e-3
    weight_decay: float = 0.01
    warm_up: float = 0.06
    clip: float = 1.0
    label_smoothing: float = 0.01
    category_weight: float = 0.2
    threads: int = 2
    # Processors without bf16 instructions emulate it, and a step takes two and a half times as long.
    bf16: bool = field(default_factory=torch.cpu._is_avx512_bf16_supported)
    minutes: float = (
        0  # 0: no limit; otherwise the learning rate decays over this time, after which training ends
    )


def fix_seeds(seed: int, threads: int) -> None:
    random.seed(seed)
    np.random.seed(seed)
    torch.manual_seed(seed)
    torch.set_num_threads(threads)


def encode(tokenizer: Tokenizer, texts: Sequence[str | tuple[str, str]], max_tokens: int) -> list[list[int]]:
    """Token ids of texts or pairs with [CLS] and [SEP], truncated to `max_tokens`. The longer text of a pair is truncated."""
    tokenizer.enable_truncation(max_tokens, strategy="longest_first")
    try:
        return [item.ids for item in tokenizer.encode_batch(list(texts))]
    finally:
        tokenizer.no_truncation()


def cut(rows: Sequence[list[int]], max_tokens: int) -> list[list[int]]:
    """Truncates rows to `max_tokens` ids. The closing token stays."""
    return [ids if len(ids) <= max_tokens else [*ids[: max_tokens - 1], ids[-1]] for ids in rows]


def padded_length(length: int) -> int:
    """The length to which a row is padded. There are only a few lengths, because compiling CPU kernels for a new shape costs more than
    padding."""
    step = 8 if length <= 64 else 32
    return -(-length // step) * step


def batches(lengths: Sequence[int], limit: int, rng: random.Random | None = None) -> list[list[int]]:
    """Batches of row indices of similar length, with `limit // padded_length(longest)` rows each. An `rng` shuffles them."""
    order = list(range(len(lengths)))
    if rng:
        rng.shuffle(order)
    order.sort(key=lambda i: padded_length(lengths[i]), reverse=True)  # sorting is stable, so rows of equal length stay shuffled
    result: list[list[int]] = []
    for index in order:
        if not result or len(result[-1]) >= max(1, limit // padded_length(lengths[result[-1][0]])):
            result.append([])
        result[-1].append(index)
    if rng:
        rng.shuffle(result)
    return result


def pad(ids: Sequence[Sequence[int]], exactly: bool = False) -> tuple[np.ndarray, np.ndarray]:
    """Ids and mask, padded to `padded_length` of the longest row, or to exactly its length."""
    longest = max(map(len, ids))
    longest = longest if exactly else padded_length(longest)
    tokens = np.zeros((len(ids), longest), dtype=np.int64)
    mask = np.zeros_like(tokens)
    for index, row in enumerate(ids):
        tokens[index, : len(row)] = row
        mask[index, : len(row)] = 1
    return tokens, mask


def plan_batches(lengths: Sequence[int], settings: Settings) -> list[list[int]]:
    """The batches of all epochs."""
    rng = random.Random(settings.seed)
    return [b for _ in range(settings.epochs) for b in batches(lengths, settings.batch_tokens, rng)]


def optimise(
    model: Encoder,
    lengths: Sequence[int],
    plan: Sequence[list[int]],
    loss_of: Callable[[list[int]], torch.Tensor],
    settings: Settings,
) -> None:
    """Trains on the batches of a plan.

    `lengths` has the number of tokens of each row. `loss_of` computes the loss of the rows with the given indices.
    """
    print(f"{len(lengths)} rows, {sum(lengths)} tokens, {len(plan)} steps", flush=True)

    model.freeze(settings.frozen)
    head = set(model.head_parameters())
    body = [p for p in model.parameters() if p.requires_grad and p not in head]
    optimizer = torch.optim.AdamW(
        [
            {"params": [p for p in body if p.dim() > 1], "lr": settings.rate},
            {"params": [p for p in body if p.dim() == 1], "lr": settings.rate, "weight_decay": 0.0},
            {"params": list(head), "lr": settings.head_rate},
        ],
        weight_decay=settings.weight_decay,
        fused=True,
    )
    peaks = [group["lr"] for group in optimizer.param_groups]
    start = time.monotonic()
    running, done = 0.0, 0
    model.train()
    for step, batch in enumerate(plan):
        progress = step / len(plan)
        if settings.minutes:
            progress = max(progress, (time.monotonic() - start) / 60 / settings.minutes)
            if progress >= 1:
                print(f"time limit reached at step {step}", flush=True)
                break
        factor = min(1.0, progress / settings.warm_up) * (1 - progress)
        for group, peak in zip(optimizer.param_groups, peaks, strict=True):
            group["lr"] = peak * max(factor, 1e-3)
        with torch.autocast("cpu", torch.bfloat16, enabled=settings.bf16):
            loss = loss_of(batch)
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), settings.clip)
        optimizer.step()
        running = loss.item() if math.isclose(running, 0.0) else 0.98 * running + 0.02 * loss.item()
        done += sum(lengths[index] for index in batch)
        if step % 25 == 0:
            seconds = time.monotonic() - start
            print(
                f"step {step}/{len(plan)} loss {running:.4f} {done / max(seconds, 1):.0f} tokens/s {seconds:.0f} s",
                flush=True,
            )
    model.eval()


def train(model: Classifier, tokenizer: Tokenizer, rows: Sequence[Row], settings: Settings) -> None:
    ids = encode(tokenizer, [row.text for row in rows], settings.max_tokens)
    first, *others = model.head_slices().values()
    labels = torch.tensor([row.label for row in rows])
    categories = torch.tensor([row.category for row in rows])
    weights = torch.tensor([row.weight for row in rows], dtype=torch.float32)
    mean_weight = weights.mean()

    def loss_of(batch: list[int]) -> torch.Tensor:
        tokens, mask = pad([ids[i] for i in batch])
        logits = model(torch.from_numpy(tokens), torch.from_numpy(mask)).float()
        losses = F.cross_entropy(
            logits[:, first], labels[batch], reduction="none", label_smoothing=settings.label_smoothing
        )
        for other in others:  # the category of the rows that have one
            losses = losses + settings.category_weight * F.cross_entropy(
                logits[:, other], categories[batch], reduction="none", ignore_index=NO_CATEGORY
            )
        # Dividing by the batch size and the mean weight gives a row the same weight in every batch.
        return (losses * weights[batch]).sum() / (len(batch) * mean_weight)

    lengths = [len(row) for row in ids]
    optimise(model, lengths, plan_batches(lengths, settings), loss_of, settings)


@torch.no_grad()
def predict(model: Encoder, tokenizer: Tokenizer, texts: Sequence[str], max_tokens: int) -> list[np.ndarray]:
    """The logits of the torch model in the order of the texts. Those of a tagger include padding."""
    model.eval()
    ids = encode(tokenizer, texts, max_tokens)
    logits: list[np.ndarray] = [np.empty(0)] * len(ids)
    for batch in batches([len(row) for row in ids], 4096):
        tokens, mask = pad([ids[i] for i in batch])
        found = model(torch.from_numpy(tokens), torch.from_numpy(mask)).numpy()
        for index, row in zip(batch, found, strict=True):
            logits[index] = row
    return logits
