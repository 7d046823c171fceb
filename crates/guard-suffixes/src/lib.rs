//! The [Public Suffix List](https://publicsuffix.org/), under whose names anyone can register a name of their own.
//!
//! The crate `psl` holds the list as code that is generic over the labels of a name, and is compiled where it is used: it was a third
//! of what was compiled of guard-core, and again of its tests. These functions are generic over nothing, so that it is compiled here.

pub use psl::{Domain, Suffix, Type};

/// The public suffix of a name in lower case: `co.uk` of `www.example.co.uk`. The last label is one where the list has none.
#[inline(never)]
pub fn suffix(name: &str) -> Option<Suffix<'_>> {
    psl::suffix(name.as_bytes())
}

/// The registrable domain of a name in lower case: `example.co.uk` of `www.example.co.uk`.
#[inline(never)]
pub fn domain(name: &str) -> Option<Domain<'_>> {
    psl::domain(name.as_bytes())
}

/// The text of [`suffix`], without a dot at its end.
pub fn suffix_text(name: &str) -> Option<&str> {
    std::str::from_utf8(suffix(name)?.trim().as_bytes()).ok()
}

/// The text of [`domain`], without a dot at its end.
pub fn domain_text(name: &str) -> Option<&str> {
    std::str::from_utf8(domain(name)?.trim().as_bytes()).ok()
}
