//! Targets of personal data.

use std::sync::LazyLock;

use guard_core::pii::{Detector, Options};
use guard_core::text::redact;

use crate::steps::{check, linear};

static DETECTOR: LazyLock<Detector> =
    LazyLock::new(|| Detector::new(&Options::default(), &["Project Aurora".to_owned()]).expect("the embedded rules"));

/// Findings are in order and have scores; a redacted text contains none of them.
pub fn detector(text: &str) {
    let found = linear(text, 4000, || DETECTOR.find(text, Vec::new(), &[]));
    let found = found.expect("the embedded rules search everything").findings;
    check(text, found.iter().map(|finding| &finding.range), true);
    assert!(found.iter().all(|finding| (0.0..=1.0).contains(&finding.score)));
    let spans: Vec<_> = found.iter().map(|finding| finding.range.clone()).collect();
    // Later findings may be new ones next to a replacement, but no e-mail address.
    let hidden = redact::redact(text, &spans, " [REDACTED] ");
    for finding in found.iter().filter(|finding| &*finding.entity == "EMAIL_ADDRESS") {
        let value = &text[finding.range.clone()];
        let again = DETECTOR.find(&hidden, Vec::new(), &[]).expect("the embedded rules");
        let left = again.findings.iter().any(|left| &hidden[left.range.clone()] == value);
        assert!(!left, "{value:?} is left in {hidden:?}");
    }
}
