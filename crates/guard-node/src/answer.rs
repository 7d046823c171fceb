//! Work on texts: at once where it takes microseconds, on a thread of Node's pool otherwise.
//!
//! A short text is worked on at once, since handing it to another thread would take longer than the work; the function
//! then returns its value. For a longer one it returns a promise, so that the event loop goes on. Each function of this
//! crate has one form, and TypeScript awaits what it returns.

use std::sync::{Arc, LazyLock};

use napi::bindgen_prelude::{Either, PromiseRaw, ToNapiValue, TypeName};
use napi::{Env, JsString, JsValue, Result, Task};
use napi_derive::napi;

use crate::error::{Code, Failure, at_once, caught};
use crate::js_text::{self, Room, Text};

/// What the addon says of a text: the value itself where the text is short, or a promise of it.
#[napi]
pub type Answer<'env, T> = Either<T, PromiseRaw<'env, T>>;

/// Texts up to this length, in UTF-16 code units, are worked on at once.
pub const SHORT_TEXT: usize = 8192;

/// Whether work on a short text may take long all the same.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Cost {
    /// The time depends on the length of the text alone.
    Length,
    /// A short text can take milliseconds, so that no text is worked on at once.
    High,
}

/// What work shares that needs nothing but the text.
pub static NOTHING: LazyLock<Arc<()>> = LazyLock::new(Arc::default);

/// Does `work` on a text: at once if it is short, else on a thread of the pool.
pub fn on_text<'env, T: ToNapiValue + TypeName + Send + 'static>(
    text: JsString<'env>,
    work: impl FnOnce(&str) -> std::result::Result<T, Failure> + Send + 'static,
) -> Result<Answer<'env, T>> {
    on_text_with(&NOTHING, Cost::Length, text, move |(), text| work(text))
}

/// Does `work`, of this cost, on a text, with rules or a model that it shares with other calls.
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
    let mut room = Room::new();
    let text = match js_text::read(&text, &mut room)? {
        Text::Short(text) if cost == Cost::Length => return at_once(&env, || work(shared, text)).map(Either::A),
        Text::Short(text) => text.to_owned(),
        Text::Long(text) => text,
    };
    let shared = Arc::clone(shared);
    off_thread(&env, move || work(&shared, &text)).map(Either::B)
}

/// Does `work` on texts: at once if all of them together are short, else on a thread of the pool.
pub fn on_texts<'env, T: ToNapiValue + TypeName + Send + 'static>(
    env: &'env Env,
    texts: Vec<String>,
    work: impl FnOnce(&[String]) -> std::result::Result<T, Failure> + Send + 'static,
) -> Result<Answer<'env, T>> {
    let units: usize = texts.iter().map(|text| text.encode_utf16().count()).sum();
    if units <= SHORT_TEXT {
        return at_once(env, || work(&texts)).map(Either::A);
    }
    off_thread(env, move || work(&texts)).map(Either::B)
}

/// Does `work` on a thread of the pool.
pub fn off_thread<'env, T: ToNapiValue + TypeName + Send + 'static>(
    env: &Env,
    work: impl FnOnce() -> std::result::Result<T, Failure> + Send + 'static,
) -> Result<PromiseRaw<'env, T>> {
    let task = env.spawn(OffThread(Some(Box::new(work))))?;
    Ok(task.promise_object())
}

type Work<T> = Box<dyn FnOnce() -> std::result::Result<T, Failure> + Send>;

/// Work for a thread of the pool. What it returns comes back to the thread of JavaScript, which alone can make an error.
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
