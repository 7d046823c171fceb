"""Models of any size for llm-guard. Random weights cost the same time as trained ones; the last layer always returns the same logits."""

from __future__ import annotations

import json
import tempfile
from typing import Any


def random_model(kind: str, tokenizer: str, config: dict[str, Any], logits: dict[str, float]) -> str:
    """Writes a BERT model of the given shape to a temporary folder and returns its path.

    `kind` is a class of transformers, such as BertForSequenceClassification. `tokenizer` is the path of a tokenizer.json. `logits` maps
    the labels to the logits that the model returns for every text.
    """
    import torch
    import transformers

    folder = tempfile.mkdtemp(prefix="guard-bench-model-")
    with open(tokenizer, encoding="utf-8") as file:
        special = {token["content"] for token in json.load(file)["added_tokens"]}
    names = {"unk_token": ("[UNK]", "<unk>"), "pad_token": ("[PAD]", "<pad>"), "cls_token": ("[CLS]", "<s>"), "sep_token": ("[SEP]", "</s>")}
    tokens = {name: token for name, known in names.items() for token in known if token in special}
    fast = transformers.PreTrainedTokenizerFast(tokenizer_file=tokenizer, model_max_length=512, **tokens)
    fast.save_pretrained(folder)
    labels = dict(enumerate(logits))
    shape = transformers.BertConfig(
        vocab_size=len(fast), id2label=labels, label2id={label: index for index, label in labels.items()}, **config
    )
    model = getattr(transformers, kind)(shape)
    with torch.no_grad():
        model.classifier.weight.zero_()
        model.classifier.bias.copy_(torch.tensor([*logits.values()]))
    model.save_pretrained(folder)
    return folder
