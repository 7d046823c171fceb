"""What the trainings of all linear models over hashed features share. These run in `crates/guard-core/src/lang`."""
