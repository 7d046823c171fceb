//! `features SPEC.json OUT.bin < ROWS.jsonl`: extracts features for training. A row is an object with `text`.
//!
//! OUT.bin is a sparse matrix, little-endian: u64 rows, u64 buckets, u64 values, then u64 starts (one more than rows),
//! u32 buckets and f32 values.

use std::fs::File;
use std::io::{BufRead, BufWriter, Write};
use std::process::ExitCode;

use guard_core::lang::features::{Extractor, Spec};
use serde::Deserialize;

use crate::Outcome;

#[derive(Deserialize)]
struct Row {
    text: String,
}

pub fn run(arguments: &[String]) -> Outcome {
    let [spec, out] = arguments else {
        return Err("usage: guard-dev features SPEC.json OUT.bin < ROWS.jsonl".into());
    };
    let spec: Spec = serde_json::from_reader(File::open(spec)?)?;
    let extractor = Extractor::new(spec)?;
    let mut starts = vec![0u64];
    let mut features = Vec::new();
    for line in std::io::stdin().lock().lines() {
        let row: Row = serde_json::from_str(&line?)?;
        features.extend(extractor.extract(&row.text));
        starts.push(features.len() as u64);
    }
    let mut file = BufWriter::new(File::create(out)?);
    let header = [
        starts.len() as u64 - 1,
        extractor.buckets() as u64,
        features.len() as u64,
    ];
    for number in header.iter().chain(&starts) {
        file.write_all(&number.to_le_bytes())?;
    }
    for (bucket, _) in &features {
        file.write_all(&bucket.to_le_bytes())?;
    }
    for (_, value) in &features {
        file.write_all(&value.to_le_bytes())?;
    }
    file.flush()?;
    Ok(ExitCode::SUCCESS)
}
