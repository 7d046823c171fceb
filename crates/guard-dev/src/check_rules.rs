//! `check-rules KIND FILE...`: prints every example of a rule file that fails.

use std::path::Path;
use std::process::ExitCode;

use guard_core::pii;
use guard_core::rules::data::examples::Failure;
use guard_core::rules::{RuleErrorKind, phrases, secrets};

use crate::Outcome;

type Check = fn(&str, &str) -> Result<Vec<Failure>, RuleErrorKind>;

const KINDS: [(&str, Check); 5] = [
    ("secrets", secrets::check_examples),
    ("recognizers", pii::check_examples),
    ("refusals", phrases::check_examples),
    ("orders", phrases::check_examples),
    ("hijacks", phrases::check_examples),
];

pub fn run(arguments: &[String]) -> Outcome {
    let usage = "usage: guard-dev check-rules secrets|recognizers|refusals|orders|hijacks FILE...";
    let (kind, files) = arguments.split_first().ok_or(usage)?;
    let (_, check) = KINDS.iter().find(|(name, _)| name == kind).ok_or(usage)?;
    let mut failed = false;
    for path in files {
        let name = Path::new(path).file_name().unwrap_or_default().to_string_lossy();
        match check(&name, &std::fs::read_to_string(path)?) {
            Ok(failures) => {
                for Failure { rule, example, problem } in &failures {
                    println!("{path}: {rule}: {problem}\n    {example:?}");
                }
                failed |= !failures.is_empty();
            }
            Err(problem) => {
                println!("{path}: {problem}");
                failed = true;
            }
        }
    }
    Ok(if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}
