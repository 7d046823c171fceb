//! Reads texts from JavaScript with few calls of V8.

use std::mem::MaybeUninit;

use napi::bindgen_prelude::check_status;
use napi::{JsString, JsValue, Result, sys};

use crate::answer::SHORT_TEXT;

/// The buffer size for a short text: a UTF-16 code unit takes at most three bytes in UTF-8. V8 adds a zero after the
/// text, and the last bytes show that nothing was cut off.
const BUFFER_BYTES: usize = 3 * SHORT_TEXT + 1 + LONGEST_CHARACTER;
/// The most bytes of a character in UTF-8.
const LONGEST_CHARACTER: usize = 4;
/// A text of fewer code units gets a buffer for the most bytes that it can take. A longer text is measured first, to
/// avoid allocating too much.
const MEASURED: usize = 1 << 24;

/// A buffer on the stack for a short text.
pub struct StackBuffer([MaybeUninit<u8>; BUFFER_BYTES]);

impl StackBuffer {
    pub fn new() -> Self {
        Self([MaybeUninit::uninit(); BUFFER_BYTES])
    }
}

/// A text in UTF-8.
pub enum Text<'buffer> {
    /// A text of at most [`SHORT_TEXT`] UTF-16 code units.
    Short(&'buffer str),
    /// A longer text.
    Long(String),
}

/// Reads a text. A short text costs one call of V8 and no allocation, unless its characters take several bytes each.
pub fn read<'buffer>(text: &JsString<'_>, buffer: &'buffer mut StackBuffer) -> Result<Text<'buffer>> {
    let written = write(text, &mut buffer.0)?;
    // V8 never writes a part of a character: with space for one character left, nothing was cut off.
    if written + LONGEST_CHARACTER >= BUFFER_BYTES {
        return to_string(text).map(Text::Long);
    }
    // SAFETY: V8 has written that many bytes of UTF-8, in which a lone surrogate is U+FFFD.
    let read = unsafe { utf8(&buffer.0[..written]) };
    // A text has at most as many code units as bytes.
    if written <= SHORT_TEXT || text.utf16_len()? <= SHORT_TEXT {
        Ok(Text::Short(read))
    } else {
        Ok(Text::Long(read.to_owned()))
    }
}

/// Passes a text of any length to `work`, immediately.
pub fn with_text<T>(text: &JsString<'_>, work: impl FnOnce(&str) -> T) -> Result<T> {
    Ok(match read(text, &mut StackBuffer::new())? {
        Text::Short(text) => work(text),
        Text::Long(text) => work(&text),
    })
}

/// Copies the text to the heap.
fn to_string(text: &JsString<'_>) -> Result<String> {
    let units = text.utf16_len()?;
    let bytes = if units < MEASURED { 3 * units } else { text.utf8_len()? };
    let mut string = Vec::with_capacity(bytes + 1);
    let written = write(text, string.spare_capacity_mut())?;
    // SAFETY: V8 has written that many bytes of UTF-8.
    let mut string = unsafe {
        string.set_len(written);
        String::from_utf8_unchecked(string)
    };
    string.shrink_to_fit();
    Ok(string)
}

/// Writes as much of a text as fits before a zero, and returns its number of bytes.
fn write(text: &JsString<'_>, buffer: &mut [MaybeUninit<u8>]) -> Result<usize> {
    let value = text.value();
    let mut written = 0;
    // SAFETY: the value lives as long as the call that it is an argument of, and the length of the buffer is right.
    check_status!(unsafe {
        sys::napi_get_value_string_utf8(
            value.env,
            value.value,
            buffer.as_mut_ptr().cast(),
            buffer.len(),
            &mut written,
        )
    })?;
    Ok(written)
}

/// # Safety
///
/// The bytes must be initialized, and UTF-8.
unsafe fn utf8(bytes: &[MaybeUninit<u8>]) -> &str {
    // SAFETY: guaranteed by the caller.
    unsafe { std::str::from_utf8_unchecked(&*(std::ptr::from_ref(bytes) as *const [u8])) }
}
