"""The multi-task model and the losses of its tasks."""

from __future__ import annotations

import math
import random
from collections.abc import Mapping, Sequence
from typing import ClassVar, Self

import numpy as np
import torch
from tokenizers import Tokenizer
from torch import nn
from torch.nn import functional as F

from .. import trainer
from ..datasets import normalise
from ..encoder import Classifier, Shape
from . import EMOTIONS, HEADS, HEADS_OF_TASKS, UNIT_HEADS
from .sets import TASKS, UNKNOWN, Example

# Tasks that compare meaning vectors. Each has its own scale and offset of the cosine.
COMPARING = ("topics", "relevance")
# The maximum tokens of a text by task, in training and evaluation. For harm, toxicity and refusals, the product reads longer texts in windows.
LONGEST = {
    "harm": 256,
    "toxicity": 256,
    "emotion": 64,
    "bias": 128,
    "refusal": 256,
    "nli": 192,
    "topics": 64,
    "relevance": 80,
}
# The tokens of a batch by task. Difficult tasks learn more from many small batches than from few large ones.
STEP_TOKENS = {"harm": 1536, "toxicity": 1536, "emotion": 640, "bias": 1024, "refusal": 1536, "nli": 1024}
# The share of rows at which a label has the weight 1, and the maximum weight of rarer labels.
COMMON, HEAVIEST = 0.05, 5.0
# The number of topics of other texts of the batch that serve as negatives. Few of them apply by chance.
STRANGE = 6
# The shifts of answers: a question is compared with the answers to these other questions of the batch.
ROLLS = (1, 2, 3)
# The maximum tokens of a prompt with its answer, and the number of prompts of a batch that are read with another answer.
LONGEST_PAIR, STRANGERS = 160, 8


class MultiTask(Classifier):
    unshipped: ClassVar[tuple[str, ...]] = ("scale", "offset")

    def __init__(self, shape: Shape, tasks: Sequence[str] = TASKS):
        needed = {head for task in tasks for head in HEADS_OF_TASKS.get(task, (task,))}
        heads = {name: len(labels) for name, labels in HEADS.items() if name in needed}
        super().__init__(shape, heads, own_pools=True, unit_heads=UNIT_HEADS)
        self.scale = nn.Parameter(torch.full((len(COMPARING),), 10.0))
        self.offset = nn.Parameter(torch.full((len(COMPARING),), -3.0))

    def head_parameters(self) -> list[nn.Parameter]:
        return [*super().head_parameters(), self.scale, self.offset]

    @torch.no_grad()
    def initialize_meaning_head(self, tokenizer: Tokenizer, texts: Sequence[str]) -> Self:
        """Initializes the head "meaning" with the principal components of the base model's vectors, so that near texts stay near."""
        self.eval()
        ids = trainer.encode(tokenizer, texts, LONGEST["topics"])
        found = [
            self.pooled(*_padded([ids[i] for i in batch]))[:, self.pool_of("meaning")]
            for batch in trainer.batches([len(row) for row in ids], 4096)
        ]
        vectors = torch.cat(found)
        mean = vectors.mean(0)
        _, _, components = torch.linalg.svd(vectors - mean, full_matrices=False)
        indices = self.head_slices()["meaning"]
        self.head.weight[indices] = components[: self.heads["meaning"]]
        self.head.bias[indices] = -(self.head.weight[indices] @ mean)
        return self


# The texts of a batch of a comparing task, and the multiples to which rows and tokens are padded.
COMPARED, ROWS_STEP, TOKENS_STEP = 32, 16, 16


def _padded(ids: Sequence[Sequence[int]]) -> tuple[torch.Tensor, torch.Tensor]:
    tokens, mask = trainer.pad(ids)
    return torch.from_numpy(tokens), torch.from_numpy(mask)


def _in_few_shapes(ids: Sequence[Sequence[int]]) -> tuple[torch.Tensor, torch.Tensor]:
    """Ids and mask, padded to a few shapes, because compiling CPU kernels for a new shape takes seconds."""
    rows, longest = len(ids), max(map(len, ids))
    tokens = np.zeros((-(-rows // ROWS_STEP) * ROWS_STEP, -(-longest // TOKENS_STEP) * TOKENS_STEP), dtype=np.int64)
    mask = np.zeros_like(tokens)
    mask[:, 0] = 1  # a row of padding must attend to something too
    for index, row in enumerate(ids):
        tokens[index, : len(row)] = row
        mask[index, : len(row)] = 1
    return torch.from_numpy(tokens), torch.from_numpy(mask)


# The maximum words of a document in a pair. A longer document would be truncated and might lose the evidence for the claim.
WORDS_OF_A_PREMISE = 120


def relevant_excerpt(document: str, claim: str) -> str:
    """The excerpt of a long document that shares most words with a claim, from the start of a sentence.

    The scanner reads a document in windows and uses the best one for each claim.
    """
    words = document.split()
    if len(words) <= WORDS_OF_A_PREMISE:
        return document
    wanted = {normalise(word) for word in claim.split()}
    starts = [0] + [i + 1 for i, word in enumerate(words[:-1]) if word.endswith((".", "!", "?", '."', "…"))]

    def shared(start: int) -> int:
        return len(wanted & {normalise(word) for word in words[start : start + WORDS_OF_A_PREMISE]})

    best = max(starts, key=shared)
    return " ".join(words[best : best + WORDS_OF_A_PREMISE])


class Losses:
    """Computes the loss of a batch of one task."""

    def __init__(self, model: MultiTask, tokenizer: Tokenizer, examples: Sequence[Example]):
        self.model, self.tokenizer, self.examples = model, tokenizer, examples
        self.ids: list[list[int]] = [[]] * len(examples)
        self.pairs: list[list[int]] = [[]] * len(examples)
        self.words: dict[str, list[int]] = {}
        for task in TASKS:
            members = [index for index, example in enumerate(examples) if example.task == task]
            chosen = [examples[index] for index in members]
            if task == "nli":
                ids = trainer.encode(tokenizer, [(relevant_excerpt(e.text, e.pair), e.pair) for e in chosen], LONGEST[task])
            else:
                ids = trainer.encode(tokenizer, [e.text for e in chosen], LONGEST[task])
            for index, row in zip(members, ids, strict=True):
                self.ids[index] = row
            if task == "relevance":
                for index, row in zip(
                    members, trainer.encode(tokenizer, [e.pair for e in chosen], LONGEST[task]), strict=True
                ):
                    self.pairs[index] = row
            if task == "topics":
                words = sorted({word for e in chosen for word in (*e.yes, *e.no)})
                self.words |= dict(zip(words, trainer.encode(tokenizer, words, LONGEST[task]), strict=True))
        self.targets = [torch.tensor(e.target) for e in examples]
        # Only sets that label all emotions tell how rare each is.
        emotions = [e.target for e in examples if e.task == "emotion" and UNKNOWN not in e.target]
        shares = torch.tensor(emotions).mean(0) if emotions else torch.ones(len(EMOTIONS))
        self.rarity = (COMMON / shares.clamp(min=1e-6)).sqrt().clamp(1.0, HEAVIEST)
        # Topics of sets that state only the topics that apply.
        self.bystanders = sorted({word for e in examples if e.task == "topics" and not e.no for word in e.yes})
        self.rng = random.Random(0)

    def lengths(self) -> list[int]:
        topics = [sum(len(self.words[w]) for w in (*e.yes, *e.no)) if e.task == "topics" else 0 for e in self.examples]
        return [len(a) + len(b) + t for a, b, t in zip(self.ids, self.pairs, topics, strict=True)]

    def plan(self, settings: trainer.Settings, shares: Mapping[str, float]) -> list[list[int]]:
        """Shuffled batches of one task each. For a task in `shares`, each epoch samples that share of its batches."""
        rng, lengths, plan = random.Random(settings.seed), self.lengths(), []
        for _ in range(settings.epochs):
            epoch = []
            for task in TASKS:
                members = [index for index, example in enumerate(self.examples) if example.task == task]
                if task in COMPARING:
                    rng.shuffle(members)
                    batches = [members[at : at + COMPARED] for at in range(0, len(members) - COMPARED + 1, COMPARED)]
                else:
                    like = trainer.batches([lengths[index] for index in members], STEP_TOKENS[task], rng)
                    batches = [[members[index] for index in batch] for batch in like]
                epoch += batches[: math.ceil(shares.get(task, 1.0) * len(batches))]
            rng.shuffle(epoch)
            plan += epoch
        return plan

    def __call__(self, batch: list[int]) -> torch.Tensor:
        task = self.examples[batch[0]].task
        if task == "topics":
            return self.topics(batch)
        if task == "relevance":
            return self.vector_loss(batch) + self.cross_encoder_loss(batch)
        pooled = self.model.pooled(*_padded([self.ids[i] for i in batch])).float()
        logits, target = self.model.logits_of(task, pooled), torch.stack([self.targets[i] for i in batch])
        if task == "nli":
            return -torch.logsumexp(F.log_softmax(logits, 1).masked_fill(target == 0, -1e9), 1).mean()
        heavier = self.rarity if task == "emotion" else None
        losses = F.binary_cross_entropy_with_logits(logits, target.clamp(min=0), reduction="none", pos_weight=heavier)
        losses = losses.masked_fill(target == UNKNOWN, 0)
        if task in ("harm", "toxicity"):
            weights = torch.tensor([1.0] + [0.3] * (target.shape[1] - 1))
            return (losses * weights).sum(1).mean()
        return losses.sum(1).mean() * (0.5 if task == "emotion" else 1.0)

    def _meanings(self, ids: Sequence[Sequence[int]]) -> torch.Tensor:
        return self.model.logits_of("meaning", self.model.pooled(*_in_few_shapes(ids)).float())[: len(ids)]

    def _pair_loss(self, task: str, cosines: torch.Tensor, truth: torch.Tensor) -> torch.Tensor:
        """Sigmoid loss of pairs (Zhai et al., 2023, arXiv:2303.15343)."""
        index = COMPARING.index(task)
        return balanced(self.model.scale[index] * cosines + self.model.offset[index], truth)

    def topics(self, batch: list[int]) -> torch.Tensor:
        asked: list[tuple[int, str, float]] = []
        for row, index in enumerate(batch):
            example = self.examples[index]
            no = example.no or [w for w in self.rng.sample(self.bystanders, 4) if w not in example.yes]
            strange = [self.rng.choice(self.examples[self.rng.choice(batch)].yes) for _ in range(STRANGE)]
            no = {*no, *strange} - {*example.yes}
            asked += [(row, word, 1.0) for word in example.yes] + [(row, word, 0.0) for word in sorted(no)]
        words = sorted({word for _, word, _ in asked})
        vectors = self._meanings([self.words[w] for w in words])
        row_of = {word: index for index, word in enumerate(words)}
        texts = self._meanings([self.ids[i] for i in batch])[[row for row, *_ in asked]]
        cosines = (texts * vectors[[row_of[word] for _, word, _ in asked]]).sum(1)
        return self._pair_loss("topics", cosines, torch.tensor([truth for *_, truth in asked]))

    def vector_loss(self, batch: list[int]) -> torch.Tensor:
        """The relevance loss of vectors, which compares each prompt with many answers at no cost."""
        asked, given = (self._meanings([ids[i] for i in batch]) for ids in (self.ids, self.pairs))
        cosines, truth = [(asked * given).sum(1)], [torch.cat([self.targets[i] for i in batch])]
        for roll in ROLLS:
            other = np.roll(np.arange(len(batch)), roll)
            differs = [self.examples[i].text != self.examples[batch[j]].text for i, j in zip(batch, other, strict=True)]
            cosines.append((asked * given[other]).sum(1)[differs])
            truth.append(torch.zeros(sum(differs)))
        return self._pair_loss("relevance", torch.cat(cosines), torch.cat(truth))

    def cross_encoder_loss(self, batch: list[int]) -> torch.Tensor:
        """The relevance loss of the head that reads prompt and answer together, which separates near misses from answers."""
        pairs = [(self.examples[i].text, self.examples[i].pair) for i in batch]
        truth = [self.examples[i].target[0] for i in batch]
        for i, j in zip(self.rng.sample(batch, min(STRANGERS, len(batch))), self.rng.sample(batch, len(batch))):
            if self.examples[i].text != self.examples[j].text:
                pairs.append((self.examples[i].text, self.examples[j].pair))
                truth.append(0.0)
        ids = trainer.encode(self.tokenizer, pairs, LONGEST_PAIR)
        pooled = self.model.pooled(*_in_few_shapes(ids)).float()
        return balanced(self.model.logits_of("relevance", pooled)[: len(ids), 0], torch.tensor(truth))


def balanced(logits: torch.Tensor, truth: torch.Tensor) -> torch.Tensor:
    """Binary cross entropy with equal total weights of true and false rows."""
    losses = F.binary_cross_entropy_with_logits(logits, truth, reduction="none")
    return torch.stack([losses[truth == value].mean() for value in (0, 1) if bool((truth == value).any())]).mean()
