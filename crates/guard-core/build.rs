//! Lists the data files of the rules, so that a new file needs no registration, and lays out the vocabularies of
//! OpenAI's encodings.
//!
//! For every folder below, `$OUT_DIR/<name>.rs` is a slice of file names and texts in alphabetical order, for
//! `rules::data::embedded!`. For every encoding, `$OUT_DIR/<name>.vocabulary` has its tokens; see `tokens::openai`.

#[path = "src/tokens/openai/layout.rs"]
mod layout;

use std::error::Error;
use std::fmt::Write;
use std::path::{Path, PathBuf};

use tiktoken_rs::tokenizer::Tokenizer;

const FOLDERS: [(&str, &str); 5] = [
    ("secret_providers", "src/rules/secrets/providers"),
    ("pii_recognizers", "src/pii/recognizers"),
    ("refusals", "src/rules/phrases/refusals"),
    ("orders", "src/rules/phrases/orders"),
    ("hijacks", "src/rules/phrases/hijacks"),
];
/// The encodings and their numbers of ranks. In `p50k_base`, one rank belongs to a special token, and has no bytes.
const ENCODINGS: [(&str, Tokenizer, u32); 4] = [
    ("r50k_base", Tokenizer::R50kBase, 50_256),
    ("p50k_base", Tokenizer::P50kBase, 50_281),
    ("cl100k_base", Tokenizer::Cl100kBase, 100_256),
    ("o200k_base", Tokenizer::O200kBase, 199_998),
];
/// The rank of `<|endoftext|>` in `p50k_base`.
const GAP: (&str, u32) = ("p50k_base", 50_256);

fn main() -> Result<(), Box<dyn Error>> {
    let root = PathBuf::from(std::env::var("CARGO_MANIFEST_DIR")?);
    let out = PathBuf::from(std::env::var("OUT_DIR")?);
    for (name, folder) in FOLDERS {
        println!("cargo::rerun-if-changed={folder}");
        std::fs::write(out.join(format!("{name}.rs")), list(&root.join(folder))?)?;
    }
    println!("cargo::rerun-if-changed=src/tokens/openai/layout.rs");
    for (name, tokenizer, ranks) in ENCODINGS {
        let vocabulary = vocabulary(name, tokenizer, ranks)?;
        std::fs::write(out.join(format!("{name}.vocabulary")), vocabulary)?;
    }
    Ok(())
}

/// The tokens of an encoding in the format of `layout.rs`.
fn vocabulary(name: &str, tokenizer: Tokenizer, ranks: u32) -> Result<Vec<u8>, Box<dyn Error>> {
    let bpe = tiktoken_rs::bpe_for_tokenizer(tokenizer)?;
    // Half of the slots stay empty, so that a missing token is known after one or two slots.
    let log_slots = ranks.next_power_of_two().ilog2() + 1;
    let mut slots = vec![0_u32; 1 << log_slots];
    let mut head = [ranks.to_le_bytes(), log_slots.to_le_bytes()].concat();
    assert_eq!(head.len(), layout::HEAD);
    let mut bytes = Vec::new();
    let mut singles = 0;
    for rank in 0..ranks {
        if (name, rank) != GAP {
            let token = bpe
                .decode_bytes(&[rank])
                .map_err(|_| format!("{name} has no token {rank}"))?;
            let (mut slot, mark) = layout::place(&token, log_slots);
            while slots[slot] != 0 {
                slot = (slot + 1) % slots.len();
            }
            slots[slot] = mark | (rank + 1);
            singles += u32::from(token.len() == 1);
            bytes.extend(token);
        }
        head.extend(u32::try_from(bytes.len())?.to_le_bytes());
    }
    if singles != 256 || bpe.decode_bytes(&[ranks]).is_ok_and(|token| !token.starts_with(b"<|")) {
        return Err(format!("{name} has unexpected tokens").into());
    }
    head.extend(slots.iter().flat_map(|slot| slot.to_le_bytes()));
    head.extend(bytes);
    Ok(head)
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
