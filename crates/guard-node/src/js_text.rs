//! Texts as they come from JavaScript.

use std::mem::MaybeUninit;
use std::panic::{AssertUnwindSafe, catch_unwind};

use napi::bindgen_prelude::check_status;
use napi::{JsString, JsValue, Result, sys};

use crate::error;

/// Bytes of a text of `SHORT_TEXT` code units (see `src/native.ts`) and of the zero behind it.
const SHORT: usize = 3 * 8192 + 1;
/// Code units of a text for which room is made at once. The text of a longer one is measured first, so that no memory is asked for
/// that it does not need.
const LONG: usize = 1 << 24;

/// Passes a text to `work`, of which a panic becomes an error. Costs one call of V8 and no memory for a short text.
pub fn with_text<T>(text: &JsString<'_>, work: impl FnOnce(&str) -> T) -> Result<T> {
    let caught = |text: &str| {
        catch_unwind(AssertUnwindSafe(|| work(text))).map_err(|_| error("GUARD_PANIC", "internal error in a scan"))
    };
    let mut room = [MaybeUninit::<u8>::uninit(); SHORT];
    let written = write(text, &mut room)?;
    // A character takes at most four bytes: with that much room left, nothing was cut off.
    if written + 4 < room.len() {
        // SAFETY: V8 has written that many bytes of UTF-8; what is no character becomes U+FFFD.
        caught(unsafe { utf8(&room[..written]) })
    } else {
        caught(&to_string(text)?)
    }
}

/// The text in memory of its own.
pub fn to_string(text: &JsString<'_>) -> Result<String> {
    let units = text.utf16_len()?;
    let bytes = if units < LONG { 3 * units } else { text.utf8_len()? };
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

/// Writes as much of a text as there is room for, but for a zero behind it, and returns how many bytes that is.
fn write(text: &JsString<'_>, room: &mut [MaybeUninit<u8>]) -> Result<usize> {
    let value = text.value();
    let mut written = 0;
    // SAFETY: the value lives as long as the call that it is an argument of, and the room is as long as V8 is told.
    check_status!(unsafe {
        sys::napi_get_value_string_utf8(
            value.env,
            value.value,
            room.as_mut_ptr().cast(),
            room.len(),
            &mut written,
        )
    })?;
    Ok(written)
}

/// # Safety
///
/// The bytes must be written, and UTF-8.
unsafe fn utf8(bytes: &[MaybeUninit<u8>]) -> &str {
    // SAFETY: the caller says so.
    unsafe { std::str::from_utf8_unchecked(&*(std::ptr::from_ref(bytes) as *const [u8])) }
}
