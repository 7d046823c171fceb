//! Runs work on texts: immediately if it takes microseconds, otherwise on a thread pool.
//!
//! For a short text, handing it to another thread takes longer than the work, so the function returns its value
//! directly. For more work it returns a promise, which keeps the event loop free. Each function has one form, and
//! TypeScript awaits its result.

use std::sync::{Arc, LazyLock};

use napi::bindgen_prelude::{Either, PromiseRaw, ToNapiValue, TypeName};
use napi::{Env, JsString, JsValue, Result, Task};
use napi_derive::napi;

use crate::error::{Code, Failure, at_once, caught};
use crate::js_text::{self, StackBuffer, Text};
use crate::pool::in_pool;

/// The result for a text: the value, or a promise of it.
#[napi]
pub type Answer<'env, T> = Either<T, PromiseRaw<'env, T>>;

/// The most UTF-16 code units of a text that is processed immediately.
pub const SHORT_TEXT: usize = 16_384;
/// The most expected nanoseconds of immediate work. Handing a text to another thread and back takes about a tenth of
/// that.
const AT_ONCE: usize = 200_000;

/// The approximate nanoseconds of work per byte of an unfavourable text, measured on texts of 4,000 characters: prose
/// in two scripts, repeated keywords, numbers, addresses, disguises. It decides whether a text is processed
/// immediately, so a factor of two does not matter.
#[derive(Clone, Copy)]
pub struct Cost(pub usize);

impl Cost {
    /// Even a short text can take milliseconds, so no text is processed immediately.
    pub const HIGH: Self = Self(usize::MAX);

    /// Whether work on this many bytes may run immediately.
    pub fn is_low(self, bytes: usize) -> bool {
        bytes.saturating_mul(self.0) <= AT_ONCE
    }
}

/// The shared state of work that needs only the text.
pub static NOTHING: LazyLock<Arc<()>> = LazyLock::new(Arc::default);

/// Runs `work` on a text: immediately if it is cheap, otherwise on the pool.
pub fn on_text<'env, T: ToNapiValue + TypeName + Send + 'static>(
    cost: Cost,
    text: JsString<'env>,
    work: impl FnOnce(&str) -> std::result::Result<T, Failure> + Send + 'static,
) -> Result<Answer<'env, T>> {
    on_text_with(&NOTHING, cost, text, move |(), text| work(text))
}

/// Runs `work` on a text, with rules or a model that it shares with other calls.
pub fn on_text_with<'env, S, T>(
    shared: &Arc<S>,
    cost: Cost,
    text: JsString<'env>,
    work: impl FnOnce(&S, &str) -> std::result::Result<T, Failure> + Send + 'static,
) -> Result<Answer<'env, T>>
where
    S: Send + Sync + 'static,
    T: ToNapiValue + TypeName + Send + 'static,
{
    let env = Env::from_raw(text.value().env);
    let mut buffer = StackBuffer::new();
    let text = match js_text::read(&text, &mut buffer)? {
        Text::Short(text) if cost.is_low(text.len()) => return at_once(&env, || work(shared, text)).map(Either::A),
        Text::Short(text) => text.to_owned(),
        Text::Long(text) => text,
    };
    let shared = Arc::clone(shared);
    in_pool(&env, move || work(&shared, &text)).map(Either::B)
}

/// Runs `now` on a text if it is cheap. Runs `work` otherwise, or if `now` returns `None` because the text takes
/// longer.
pub fn on_text_if_ready<'env, T: ToNapiValue + TypeName + Send + 'static>(
    cost: Cost,
    text: JsString<'env>,
    now: impl FnOnce(&str) -> std::result::Result<Option<T>, Failure>,
    work: impl FnOnce(&str) -> std::result::Result<T, Failure> + Send + 'static,
) -> Result<Answer<'env, T>> {
    let env = Env::from_raw(text.value().env);
    let mut buffer = StackBuffer::new();
    let text = match js_text::read(&text, &mut buffer)? {
        Text::Short(text) if cost.is_low(text.len()) => match at_once(&env, || now(text))? {
            Some(done) => return Ok(Either::A(done)),
            None => text.to_owned(),
        },
        Text::Short(text) => text.to_owned(),
        Text::Long(text) => text,
    };
    in_pool(&env, move || work(&text)).map(Either::B)
}

/// Runs `work` on texts: immediately if all together are cheap, otherwise on the pool.
pub fn on_texts<'env, T: ToNapiValue + TypeName + Send + 'static>(
    env: &'env Env,
    cost: Cost,
    texts: Vec<String>,
    work: impl FnOnce(&[String]) -> std::result::Result<T, Failure> + Send + 'static,
) -> Result<Answer<'env, T>> {
    let bytes: usize = texts.iter().map(String::len).sum();
    if bytes <= SHORT_TEXT && cost.is_low(bytes) {
        return at_once(env, || work(&texts)).map(Either::A);
    }
    in_pool(env, move || work(&texts)).map(Either::B)
}

/// Loads something on a thread of Node's pool, where it does not wait for texts.
pub fn off_thread<'env, T: ToNapiValue + TypeName + Send + 'static>(
    env: &Env,
    load: impl FnOnce() -> std::result::Result<T, Failure> + Send + 'static,
) -> Result<PromiseRaw<'env, T>> {
    let task = env.spawn(OffThread(Some(Box::new(load))))?;
    Ok(task.promise_object())
}

type Work<T> = Box<dyn FnOnce() -> std::result::Result<T, Failure> + Send>;

/// Work on a thread of Node's pool. Its result returns to the JavaScript thread, which alone can create an error.
struct OffThread<T>(Option<Work<T>>);

impl<T: ToNapiValue + TypeName + Send + 'static> Task for OffThread<T> {
    type Output = std::result::Result<T, Failure>;
    type JsValue = T;

    fn compute(&mut self) -> Result<Self::Output> {
        Ok(caught(|| match self.0.take() {
            Some(work) => work(),
            None => Err(Failure::new(Code::Panic, "the task ran twice")),
        }))
    }

    fn resolve(&mut self, env: Env, output: Self::Output) -> Result<T> {
        output.map_err(|failure| failure.into_js(&env))
    }
}
