//! Targets of tokenizers.

use std::path::Path;
use std::sync::LazyLock;

use guard_core::tokens::{LongTextStrategy, TextReader, Tokenizers};

/// The most tokens of a row: few, so that short texts have many windows.
const MOST_TOKENS: usize = 16;

static READER: LazyLock<TextReader> = LazyLock::new(|| {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../models/words/tokenizer.json");
    let tokenizers = Tokenizers::start().expect("a thread");
    let tokenizer = tokenizers.open(&file).expect("the tokenizer of an embedded model");
    TextReader::new(tokenizer, MOST_TOKENS).expect("room for text")
});

/// No row is longer than the model allows, and every row is in the text.
pub fn windows(text: &str) {
    use LongTextStrategy::{Chunks, Head, HeadTail, HeadTailChars, Sentences, Windows};
    for strategy in [Windows, Head, Sentences, HeadTail, HeadTailChars, Chunks] {
        let rows = READER.rows(text, strategy).expect("every text can be read");
        for row in &rows.rows {
            assert!(row.ids.len() <= MOST_TOKENS);
            assert!(text.get(row.range.clone()).is_some());
        }
        if let Some(skipped) = rows.skipped {
            assert!(text.get(skipped).is_some());
        }
    }
}
