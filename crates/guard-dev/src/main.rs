//! Commands for developers of guard.
//!
//! Run them with `cargo run --release -p guard-dev -- COMMAND`:
//!
//! * `check-rules KIND FILE...` checks rule files against their own examples. KIND is `secrets`, `recognizers`,
//!   `refusals`, `orders` or `hijacks`.
//! * `features SPEC.json OUT.bin < ROWS.jsonl` writes features of texts for training.
//! * `fit FEATURES.bin LABELS.bin OUT.bin LABEL_COUNT EPOCHS RATE DROPOUT SMOOTHING SEED` fits a linear model to
//!   features.
//! * `hostile SCANNER|all SIZE FILE...` prints the cost of scanners on texts that are made to be slow, the worst first.

mod check_rules;
mod features;
mod fit;
mod hostile_texts;

use std::error::Error;
use std::process::ExitCode;

/// The exit code of a command, or an error.
type Outcome = Result<ExitCode, Box<dyn Error>>;

/// A command, which receives the arguments after its name.
type Command = fn(&[String]) -> Outcome;

const COMMANDS: [(&str, Command); 4] = [
    ("check-rules", check_rules::run),
    ("features", features::run),
    ("fit", fit::run),
    ("hostile", hostile_texts::run),
];

fn main() -> Outcome {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (name, rest) = arguments
        .split_first()
        .map_or(("", &[][..]), |(name, rest)| (name, rest));
    let Some((_, run)) = COMMANDS.iter().find(|(command, _)| *command == name) else {
        let known: Vec<&str> = COMMANDS.iter().map(|(command, _)| *command).collect();
        return Err(format!("unknown command {name:?}; known are: {}", known.join(", ")).into());
    };
    run(rest)
}
