//! A credential in a text.

use std::ops::Range;

use crate::rules::CheckResult;

/// A credential in a text.
#[derive(Debug, Clone, PartialEq)]
pub struct Secret<'a> {
    /// The UTF-8 byte range in the text, on character boundaries.
    pub range: Range<usize>,
    /// The id of the rule.
    pub rule: &'a str,
    /// The service, if the rule has one.
    pub service: Option<&'a str>,
    /// The result of the rule's check. A failed one means a wrong checksum, so it can't be a live credential.
    pub check: Option<CheckResult>,
    /// The view in which it was found, such as `base64`; `None` for the text itself.
    pub view: Option<String>,
}
