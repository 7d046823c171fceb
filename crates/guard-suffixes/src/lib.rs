//! The [Public Suffix List](https://publicsuffix.org/): suffixes under which anyone can register a name.
//!
//! The crate `psl` contains the list as generic code, which is compiled wherever it is used: it was a third of the
//! compile time of guard-core, and again of its tests. These functions are not generic, so the list is compiled once,
//! here.

pub use psl::{Domain, Suffix, Type};

/// The public suffix of a lower-case name: `co.uk` of `www.example.co.uk`. It is the last label if the list has none.
#[inline(never)]
pub fn suffix(name: &str) -> Option<Suffix<'_>> {
    psl::suffix(name.as_bytes())
}

/// The registrable domain of a lower-case name: `example.co.uk` of `www.example.co.uk`.
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
