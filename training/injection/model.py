"""The prompt-injection model and its training."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import torch
from torch import nn
from torch.nn import functional as F

from .. import encoder, trainer
from . import HEADS
from .windows import Window

# The weights of the auxiliary losses. The loss of each question has the weight 1.
CATEGORY_WEIGHT, ORDER_WEIGHT = 0.2, 0.5


class Detector(encoder.Classifier):
    """A classifier with a pool for each head, because heads depend on different parts of a text.

    In training it also predicts for each token whether it is part of an order to a model. This head is not exported: it teaches the encoder
    where to look.
    """

    unshipped: ClassVar[tuple[str, ...]] = ("order.weight", "order.bias")

    def __init__(self, shape: encoder.Shape):
        super().__init__(shape, {name: len(labels) for name, labels in HEADS.items()}, own_pools=True)
        self.order = nn.Linear(shape.hidden_size, 1)

    def forward_with_tokens(self, ids: torch.Tensor, mask: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """The logits of all heads, `[batch, labels]`, and of the tokens, `[batch, tokens]`."""
        bias = encoder.padding_bias(mask)
        x = self.hidden(ids, bias)
        weights = (x @ self.pool.weight.T + bias[:, 0, 0, :, None]).softmax(1)
        pooled = self.dropout(weights.transpose(1, 2) @ x)
        logits = torch.cat([self.logits_of(name, pooled) for name in self.heads], 1)
        return logits, self.order(self.dropout(x))[..., 0]

    def head_parameters(self) -> list[nn.Parameter]:
        return [*super().head_parameters(), *self.order.parameters()]

    def start_head(self) -> None:
        super().start_head()
        nn.init.normal_(self.order.weight, std=0.02)
        nn.init.zeros_(self.order.bias)


def train(model: Detector, windows: Sequence[Window], settings: trainer.Settings) -> None:
    targets = {
        "direct": torch.tensor([window.row.label for window in windows]),
        "indirect": torch.tensor([window.row.indirect for window in windows]),
        "category": torch.tensor([window.row.category for window in windows]),
    }
    weights = torch.tensor([window.row.weight for window in windows], dtype=torch.float32)
    mean_weight = weights.mean()
    slices = model.head_slices()

    def loss_of(batch: list[int]) -> torch.Tensor:
        ids, mask = trainer.pad([windows[i].ids for i in batch])
        logits, tokens = model.forward_with_tokens(torch.from_numpy(ids), torch.from_numpy(mask))
        losses = ORDER_WEIGHT * order_losses(tokens.float(), [windows[i] for i in batch])
        for head, of_head in targets.items():
            # Rows without an answer to a question have the target that cross entropy ignores.
            losses = losses + (CATEGORY_WEIGHT if head == "category" else 1) * F.cross_entropy(
                logits[:, slices[head]].float(),
                of_head[batch],
                reduction="none",
                label_smoothing=settings.label_smoothing,
            )
        return (losses * weights[batch]).sum() / (len(batch) * mean_weight)

    lengths = [len(window.ids) for window in windows]
    trainer.optimise(model, lengths, trainer.plan_batches(lengths, settings), loss_of, settings)


def order_losses(tokens: torch.Tensor, windows: Sequence[Window]) -> torch.Tensor:
    """The mean loss of each window over the tokens with a known label."""
    targets = torch.full(tokens.shape, -1.0)
    for index, window in enumerate(windows):
        targets[index, : len(window.orders)] = torch.from_numpy(window.orders.astype("float32"))
    known = (targets >= 0).float()
    losses = F.binary_cross_entropy_with_logits(tokens, targets.clamp(min=0), reduction="none") * known
    return losses.sum(1) / known.sum(1).clamp(min=1)
