//! The result of a check of a value.

/// The result of a check of a value, such as its checksum.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CheckResult {
    /// The name of the check: `pl-pesel`.
    pub name: &'static str,
    /// Whether the value is valid.
    pub has_passed: bool,
}

impl CheckResult {
    /// Whether there is a check that failed.
    pub fn is_failure(result: Option<Self>) -> bool {
        result.is_some_and(|check| !check.has_passed)
    }
}
