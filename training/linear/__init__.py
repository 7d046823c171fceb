"""Shared code for training linear models over hashed features, which run in `crates/guard-core/src/lang`."""
