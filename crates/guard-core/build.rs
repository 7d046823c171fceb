//! Lists the data files of the rules, so that a new file is all that a new provider, country or language needs.
//!
//! For every folder below, `$OUT_DIR/<name>.rs` is a slice of file names and texts in alphabetical order, which
//! `rules::data::embedded!` includes.

use std::error::Error;
use std::fmt::Write;
use std::path::{Path, PathBuf};

const FOLDERS: [(&str, &str); 4] = [
    ("secret_providers", "src/rules/secrets/providers"),
    ("pii_recognizers", "src/pii/recognizers"),
    ("refusals", "src/rules/phrases/refusals"),
    ("orders", "src/rules/phrases/orders"),
];

fn main() -> Result<(), Box<dyn Error>> {
    let root = PathBuf::from(std::env::var("CARGO_MANIFEST_DIR")?);
    let out = PathBuf::from(std::env::var("OUT_DIR")?);
    for (name, folder) in FOLDERS {
        println!("cargo::rerun-if-changed={folder}");
        std::fs::write(out.join(format!("{name}.rs")), list(&root.join(folder))?)?;
    }
    Ok(())
}

/// The Rust expression for the names and the texts of the TOML files in `folder`.
fn list(folder: &Path) -> Result<String, Box<dyn Error>> {
    let mut paths = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "toml") {
            paths.push(path);
        }
    }
    paths.sort();
    let mut list = String::from("&[\n");
    for path in paths {
        let name = path.file_name().unwrap_or_default();
        writeln!(list, "    ({name:?}, include_str!({path:?})),")?;
    }
    list.push(']');
    Ok(list)
}
