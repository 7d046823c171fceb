"""Command-line options of all encoder trainings."""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path

from .trainer import Settings


def part(text: str) -> float:
    if not 0 < float(text) <= 1:
        raise argparse.ArgumentTypeError(f"{text}: expected a number above 0 and up to 1")
    return float(text)


def add_training_arguments(
    parser: argparse.ArgumentParser, epochs: int, rate: float = Settings.rate, frozen: int = 0
) -> None:
    parser.add_argument("--out", required=True, type=Path, help="folder for model.onnx, tokenizer.json, config.json")
    parser.add_argument(
        "--base",
        type=Path,
        help="folder of the encoder to start from (training.multilingual); default: the English one",
    )
    parser.add_argument("--layers", type=int, default=0, help="number of its layers to use; default: all")
    parser.add_argument("--epochs", type=int, default=epochs)
    parser.add_argument("--minutes", type=float, default=0, help="end the training after this many minutes")
    parser.add_argument("--rate", type=float, default=rate, help="learning rate of the encoder")
    parser.add_argument(
        "--fp32", action="store_true", help="train without bf16 autocast, even if the processor supports bf16"
    )
    parser.add_argument(
        "--start",
        type=Path,
        help="weights to continue from: those of an earlier run, or a model folder such as models/ner",
    )
    parser.add_argument(
        "--layers-of", type=Path, help="a published model whose layers to start from; its vocabulary may differ"
    )
    parser.add_argument(
        "--frozen",
        type=int,
        default=frozen,
        help="number of lowest layers that are not trained; four of them make a step a fifth faster",
    )
    parser.add_argument(
        "--shared-layers-of",
        type=Path,
        help="a published model whose lowest layers to use, as many as are frozen; the exported graph takes them over unchanged, so that "
        "training.publish --shared-layers can share them. Without --start and --layers-of, the layers above are those of the base",
    )
    parser.add_argument(
        "--mix",
        type=part,
        default=1,
        metavar="PART",
        help="export the weighted mean of the trained weights (this part) and those of --start (the rest), also with --reuse and the same "
        "--start; default: 1, the trained weights alone",
    )
    parser.add_argument("--reuse", action="store_true", help="use OUT/work/weights.safetensors instead of training")


def settings_of(args: argparse.Namespace) -> Settings:
    # Said before the training, not after it.
    if args.mix < 1 and not args.start:
        raise SystemExit("--mix needs --start")
    return replace(
        Settings(),
        seed=args.seed,
        epochs=args.epochs,
        threads=args.threads,
        minutes=args.minutes,
        rate=args.rate,
        frozen=args.frozen,
        bf16=Settings().bf16 and not args.fp32,
    )
