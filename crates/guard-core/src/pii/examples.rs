//! Checks of recognizer files against their own examples.

use std::sync::Arc;

use super::merge::merge;
use super::options::Options;
use super::recognizer::{Source, read, shared_data};
use super::recognizers::Recognizers;
use crate::rules::RuleErrorKind;
use crate::rules::data::examples::{Examples, Failure};

/// Checks each recognizer of a file in the format of `recognizers/` against its own examples.
///
/// # Errors
///
/// The file is not a list of recognizers.
pub fn check_examples(file: &str, toml: &str) -> Result<Vec<Failure>, RuleErrorKind> {
    let sources = read(file, toml, &shared_data()?)?;
    Ok(sources.into_iter().flat_map(check_source).collect())
}

/// The invalid fields of a recognizer.
fn problems(source: &Source) -> Vec<&'static str> {
    let scores = [Some(source.score), source.context_score];
    let lists = [&source.context, &source.names, &source.not_after, &source.not_before];
    let mut words = lists.into_iter().flat_map(|list| list.values().flatten());
    let highest = source.context_score.unwrap_or(source.score).max(source.score);
    let has_words = !(source.context.is_empty() && source.names.is_empty());
    let checks = [
        (
            source.pattern.is_some() != source.finder.is_some(),
            "expected either a pattern or a finder",
        ),
        (source.source.len() > 5, "a recognizer needs a source"),
        (
            scores.iter().flatten().all(|score| (0.0..=1.0).contains(score)),
            "expected scores from 0 to 1",
        ),
        (
            source.context_score.is_some() || source.context.is_empty(),
            "context words need a context_score",
        ),
        (
            has_words || source.context_score.is_none(),
            "a context_score needs context words or names",
        ),
        (
            words.all(|word| word.to_lowercase() == **word),
            "words must be in lower case",
        ),
        (
            highest >= 0.5 || !source.names.is_empty(),
            "no score reaches the default threshold of 0.5, so it finds nothing",
        ),
    ];
    let failed = checks.into_iter().filter(|(holds, _)| !holds);
    failed.map(|(_, problem)| problem).collect()
}

fn check_source(source: Source) -> Vec<Failure> {
    let source = Arc::new(source);
    let fail = |problem: String| Failure {
        rule: source.id.clone(),
        example: String::new(),
        problem,
    };
    let mut failures: Vec<Failure> = problems(&source)
        .into_iter()
        .map(|problem| fail(problem.to_owned()))
        .collect();
    let options = Options {
        entities: Some(vec![source.entity.clone()]),
        languages: source.languages.first().cloned().into_iter().collect(),
        ..Options::default()
    };
    let recognizers = match Recognizers::from_sources(std::iter::once(Arc::clone(&source)), &options) {
        Ok(recognizers) => recognizers,
        Err(problem) => {
            failures.push(fail(problem.to_string()));
            return failures;
        }
    };
    let examples = Examples {
        id: &source.id,
        matches: &source.matches,
        misses: &source.misses,
    };
    // Merge overlapping findings, such as an address with and without its postcode, like a detector does.
    failures.extend(examples.check(|text| {
        let findings = merge(text, recognizers.find(text)?, options.threshold);
        Ok(findings.into_iter().map(|found| found.range).collect())
    }));
    failures
}
