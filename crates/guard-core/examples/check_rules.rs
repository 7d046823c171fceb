//! Checks files of rules in the format of `src/rules/secrets/rules.toml`: `cargo run --example check_rules -- FILE...`
//! prints every example that fails. For those who write rules.

use std::process::ExitCode;

use guard_core::rules::secrets::examples;

fn main() -> ExitCode {
    let mut failed = false;
    for path in std::env::args().skip(1) {
        let checked = std::fs::read_to_string(&path)
            .map_err(|error| error.to_string())
            .and_then(|toml| examples::check(&toml));
        match checked {
            Ok(failures) => {
                for failure in &failures {
                    println!("{}: {}\n    {:?}", failure.rule, failure.problem, failure.example);
                }
                println!("{path}: {} failures", failures.len());
                failed |= !failures.is_empty();
            }
            Err(problem) => {
                println!("{path}: {problem}");
                failed = true;
            }
        }
    }
    if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}
