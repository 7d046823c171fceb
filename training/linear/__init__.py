"""Linear models over hashed features, for `crates/guard-core/src/lang`: everything that their trainings have in common."""
