//! A credential in a text.

use std::ops::Range;

/// A credential in a text.
#[derive(Debug, Clone, PartialEq)]
pub struct Secret<'a> {
    /// The UTF-8 byte range in the text, on character boundaries.
    pub range: Range<usize>,
    /// The id of the rule.
    pub rule: &'a str,
    /// The service, where the rule knows it.
    pub service: Option<&'a str>,
    /// Whether it can be a live credential: false where it has a checksum that does not fit.
    pub sound: bool,
    /// The view of the text in which it was found, such as `base64`; `None` where it stands there as it is.
    pub view: Option<String>,
}
