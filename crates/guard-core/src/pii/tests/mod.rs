//! Tests of the recognizers of personal data.

mod generated;
mod recognizers;
