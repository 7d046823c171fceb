//! Offsets of any text: there and back again leads to the start of the same character.

#![no_main]

use guard_core::text::offsets::{Unit, convert, convert_back};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (&str, Vec<usize>)| {
    let (text, offsets) = input;
    for unit in [Unit::Utf16, Unit::CodePoint] {
        let mut there = offsets.clone();
        convert(text, unit, &mut there);
        let mut back = there;
        convert_back(text, unit, &mut back);
        for (offset, back) in offsets.iter().zip(back) {
            assert_eq!(back, text.floor_char_boundary((*offset).min(text.len())));
        }
    }
});
