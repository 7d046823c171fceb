//! Views of any text: bounded in number and length, and every part of a view stands somewhere in the text.

#![no_main]

use guard_core::text::views::{self, LONGEST, MOST};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let views = views::views(text);
    assert!(views.len() <= MOST);
    for view in views {
        assert!(view.text().len() <= LONGEST * text.len().max(1));
        for (at, character) in view.text().char_indices() {
            let original = view.original(at..at + character.len_utf8());
            assert!(text.get(original).is_some());
        }
        assert!(text.get(view.original(0..view.text().len())).is_some());
    }
});
