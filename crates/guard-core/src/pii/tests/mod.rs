//! Tests of the recognizers of personal data.

mod addresses;
mod generated;
mod recognizers;
