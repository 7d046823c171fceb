"""python -m training.ner --data DIR --base DIR --out DIR: trains, exports and evaluates the NER model."""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import torch
from tokenizers import Tokenizer

from .. import encoder, export, trainer
from ..arguments import add_training_arguments, settings_of
from ..runtime import ExportedModel
from ..start_weights import load_initial_layers, load_start_weights, mix_start_weights
from . import LABELS, LANGUAGES, MAX_LENGTH, NAME, READ_LENGTH, VERSION, early_exit
from .evaluate import evaluate, table
from .rows import SpanRow, add_data_arguments, join_rows, rows_for
from .tags import cut_before_places, labels_of, tag_loss

# The learning rate. Token labels need a higher rate than text labels.
RATE = 1.2e-4


def train(model: encoder.Tagger, tokenizer: Tokenizer, rows: Sequence[SpanRow], settings: trainer.Settings) -> None:
    encodings = tokenizer.encode_batch([row.text for row in rows])
    ids = trainer.cut([encoding.ids for encoding in encodings], settings.max_tokens)
    labels = [labels_of(row.text, encoding.offsets, row.spans) for row, encoding in zip(rows, encodings, strict=True)]

    def loss_of(batch: list[int]) -> torch.Tensor:
        return tag_loss(model, [ids[i] for i in batch], [labels[i] for i in batch])

    lengths = [len(row) for row in ids]
    trainer.optimise(model, lengths, trainer.plan_batches(lengths, settings), loss_of, settings)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m training.ner", description=__doc__)
    add_data_arguments(parser)
    add_training_arguments(parser, epochs=2, rate=RATE)
    parser.add_argument("--rows", type=int, default=0, help="maximum number of rows of a set to evaluate; default: all")
    return parser.parse_args()


def main() -> None:
    args = arguments()
    work = args.out / "work"
    work.mkdir(parents=True, exist_ok=True)
    settings = replace(settings_of(args), max_tokens=MAX_LENGTH)
    trainer.fix_seeds(settings.seed, settings.threads)
    rows = rows_for(args)
    dev = [row for row in rows if row.split == "dev"]
    print(Counter((row.set, row.split) for row in rows), flush=True)
    if args.rows:
        kept: Counter[str] = Counter()
        kept_rows = []
        for row in dev:
            kept[row.set] += 1
            if kept[row.set] <= args.rows:
                kept_rows.append(row)
        dev = kept_rows

    base = encoder.Base(args.base, args.layers)
    tokenizer = cut_before_places(base.tokenizer())
    model = encoder.Tagger(base.shape, len(LABELS)).load_base(base)
    if args.start:
        load_start_weights(model, args.start)
    else:
        load_initial_layers(model, args, with_heads=True)
    if args.reuse:
        model.load(work / "weights.safetensors")
    else:
        train(model, tokenizer, join_rows([row for row in rows if row.split == "train"], settings.seed), settings)
        model.save(work / "weights.safetensors")
    mix_start_weights(model, args)

    held = [row.text for row in rows if row.split == "calibration"]
    ranges = export.measure_ranges(model, tokenizer, held, MAX_LENGTH)
    export.export(model, ranges, work / "model.fp32.onnx", args.out / "model.onnx", args.shared_layers_of, args.frozen)
    export.write_tokenizer(tokenizer, args.out / "tokenizer.json")
    guard = {
        "name": NAME,
        "version": VERSION,
        "max_length": READ_LENGTH,
        "license": "Apache-2.0",
        "training_data": args.licences.split(","),
        "languages": LANGUAGES,
    }
    export.write_tagger_config(model, LABELS, guard, args.out / "config.json")
    early_exit.add(args.out, *early_exit.texts_for(args, rows), settings.seed, settings.threads)

    found, spans = evaluate(dev, ExportedModel(args.out / "model.onnx", args.out / "tokenizer.json", args.threads))
    print(table(found), flush=True)
    exact, same = evaluate(dev, ExportedModel(work / "model.fp32.onnx", args.out / "tokenizer.json", args.threads))
    changed = sum(a != b for a, b in zip(spans, same, strict=True))
    print(f"texts with different spans in fp32: {changed} of {len(dev)}", flush=True)
    (work / "report.json").write_text(json.dumps({"int8": found, "fp32": exact, "changed": changed}, indent=2) + "\n")


if __name__ == "__main__":
    main()
