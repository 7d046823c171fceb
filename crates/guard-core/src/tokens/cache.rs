//! Shares tokenizers between models, and caches the tokens of current texts.
//!
//! Several models have byte-identical `tokenizer.json` files, and a scan asks most of them about the same texts. So a
//! file is loaded once, and a text is tokenized once.
//!
//! A text and its tokens are cached for [`KEPT_FOR`] after the first request, or for a shorter time if the cache exceeds
//! about [`MAX_BYTES`]. A thread deletes old entries, so that an idle process has no texts in memory.

use std::collections::{HashMap, VecDeque};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError, Weak};
use std::time::{Duration, Instant};

use super::error::TokenizeError;
use super::tokenizer::{TextTokenizer, Tokens};
use crate::memory;
use crate::model_folder::Content;

/// How long tokens are kept: long enough for the scanners of one call, which run one after the other.
const KEPT_FOR: Duration = Duration::from_secs(5);
/// The approximate most memory of the kept texts.
const MAX_BYTES: usize = 16 * 1024 * 1024;
/// Memory per byte of a text: the text itself, and 20 bytes per token of about four bytes.
const BYTES_PER_BYTE: usize = 6;
/// Memory per text, however short.
const BYTES_PER_TEXT: usize = 256;

/// The tokens of a text, once they are computed.
type Slot = Arc<OnceLock<Result<Arc<Tokens>, TokenizeError>>>;

/// The tokenizers of models: each file is loaded once, and concurrent texts are tokenized once for all models with the
/// same file.
///
/// See [the module](crate::tokens) for an example.
pub struct Tokenizers {
    /// The tokenizers by the SHA-256 of their files.
    files: Mutex<HashMap<[u8; 32], Weak<SharedTokenizer>>>,
    cache: Arc<Cache>,
}

/// A tokenizer that models with byte-identical files share.
pub struct SharedTokenizer {
    tokenizer: TextTokenizer,
    /// The id in the cache.
    id: u64,
    cache: Arc<Cache>,
}

struct Cache {
    kept: Mutex<Entries>,
    /// Notified when there is an entry to delete later, or when the cache closes.
    changed: Condvar,
    most_bytes: usize,
    kept_for: Duration,
    encoded: AtomicU64,
    next_id: AtomicU64,
}

#[derive(Default)]
struct Entries {
    /// The entries by tokenizer and text.
    slots: HashMap<(u64, Arc<str>), Slot>,
    /// The entries from old to new, with their memory.
    order: VecDeque<(Instant, (u64, Arc<str>), usize)>,
    bytes: usize,
    closing: bool,
}

impl Entries {
    fn forget_oldest(&mut self) {
        if let Some((_, key, bytes)) = self.order.pop_front() {
            self.slots.remove(&key);
            self.bytes -= bytes;
        }
    }

    fn forget_before(&mut self, time: Instant) {
        while self.order.front().is_some_and(|(since, ..)| *since <= time) {
            self.forget_oldest();
        }
    }
}

impl Cache {
    fn lock(&self) -> MutexGuard<'_, Entries> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The slot of a text's tokens; `None` for a text that is too long to keep.
    fn slot(&self, tokenizer: u64, text: &str) -> Option<Slot> {
        let bytes = BYTES_PER_BYTE * text.len() + BYTES_PER_TEXT;
        if bytes > self.most_bytes {
            return None;
        }
        let key = (tokenizer, Arc::from(text));
        let now = Instant::now();
        let mut kept = self.lock();
        if let Some(before) = now.checked_sub(self.kept_for) {
            kept.forget_before(before);
        }
        if let Some(slot) = kept.slots.get(&key) {
            return Some(Arc::clone(slot));
        }
        while kept.bytes + bytes > self.most_bytes {
            kept.forget_oldest();
        }
        let slot = Slot::default();
        let was_empty = kept.order.is_empty();
        kept.bytes += bytes;
        kept.slots.insert(key.clone(), Arc::clone(&slot));
        kept.order.push_back((now, key, bytes));
        drop(kept);
        if was_empty {
            self.changed.notify_one();
        }
        Some(slot)
    }

    /// Deletes expired texts until the cache closes.
    fn forget_forever(&self) {
        let mut kept = self.lock();
        while !kept.closing {
            let now = Instant::now();
            kept = match kept.order.front().map(|(since, ..)| *since + self.kept_for) {
                None => self.changed.wait(kept).unwrap_or_else(PoisonError::into_inner),
                Some(until) if until <= now => {
                    kept.forget_oldest();
                    if kept.order.is_empty() {
                        // The last text of a burst expires after the models released memory, so its memory is released
                        // here.
                        drop(kept);
                        memory::give_back();
                        kept = self.lock();
                    }
                    kept
                }
                Some(until) => {
                    let waited = self.changed.wait_timeout(kept, until - now);
                    waited.unwrap_or_else(PoisonError::into_inner).0
                }
            };
        }
    }
}

impl Tokenizers {
    /// Starts the thread that deletes old texts. It ends on drop.
    ///
    /// # Errors
    /// If the system can't start a thread.
    pub fn start() -> std::io::Result<Self> {
        Self::with_limits(KEPT_FOR, MAX_BYTES)
    }

    fn with_limits(kept_for: Duration, most_bytes: usize) -> std::io::Result<Self> {
        let cache = Arc::new(Cache {
            kept: Mutex::default(),
            changed: Condvar::new(),
            most_bytes,
            kept_for,
            encoded: AtomicU64::new(0),
            next_id: AtomicU64::new(0),
        });
        let of_thread = Arc::clone(&cache);
        std::thread::Builder::new()
            .name("guard-forget".to_owned())
            .spawn(move || of_thread.forget_forever())?;
        Ok(Self {
            files: Mutex::default(),
            cache,
        })
    }

    /// Loads a `tokenizer.json`, or shares a loaded one with the same content, whatever its path.
    ///
    /// # Errors
    /// As [`TextTokenizer::from_file`].
    pub fn open(&self, path: &Path) -> Result<Arc<SharedTokenizer>, TokenizeError> {
        self.share(&TextTokenizer::read(path)?)
    }

    /// Like [`Tokenizers::open`], from the content of the file.
    ///
    /// # Errors
    /// As [`TextTokenizer::from_file`], except for an unreadable file.
    pub fn share(&self, Content { path, bytes, digest }: &Content) -> Result<Arc<SharedTokenizer>, TokenizeError> {
        let mut files = self.files.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(tokenizer) = files.get(digest).and_then(Weak::upgrade) {
            return Ok(tokenizer);
        }
        let tokenizer = Arc::new(SharedTokenizer {
            tokenizer: TextTokenizer::from_bytes(path, bytes)?,
            id: self.cache.next_id.fetch_add(1, Ordering::Relaxed),
            cache: Arc::clone(&self.cache),
        });
        files.retain(|_, other| other.strong_count() > 0);
        files.insert(*digest, Arc::downgrade(&tokenizer));
        Ok(tokenizer)
    }

    /// The number of texts tokenized so far, not counting cache hits.
    pub fn tokenized_texts(&self) -> u64 {
        self.cache.encoded.load(Ordering::Relaxed)
    }
}

impl Drop for Tokenizers {
    fn drop(&mut self) {
        self.cache.lock().closing = true;
        self.cache.changed.notify_all();
    }
}

impl SharedTokenizer {
    /// The tokenizer.
    pub fn tokenizer(&self) -> &TextTokenizer {
        &self.tokenizer
    }

    /// The tokens of a text: cached, from another thread that computes them now, or new.
    ///
    /// # Errors
    /// As [`TextTokenizer::encode`].
    pub fn encode(&self, text: &str) -> Result<Arc<Tokens>, TokenizeError> {
        let make = || {
            self.cache.encoded.fetch_add(1, Ordering::Relaxed);
            self.tokenizer.encode(text).map(Arc::new)
        };
        match self.cache.slot(self.id, text) {
            Some(slot) => slot.get_or_init(make).clone(),
            None => make(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokenizer_file() -> std::path::PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models/words/tokenizer.json")
    }

    fn kept(tokenizers: &Tokenizers) -> usize {
        tokenizers.cache.lock().slots.len()
    }

    #[test]
    fn models_with_the_same_file_share_the_tokens_of_a_text() {
        let tokenizers = Tokenizers::start().unwrap();
        let folder = tempfile::tempdir().unwrap();
        let copy = folder.path().join("tokenizer.json");
        std::fs::copy(tokenizer_file(), &copy).unwrap();
        let one = tokenizers.open(&tokenizer_file()).unwrap();
        let other = tokenizers.open(&copy).unwrap();
        assert!(Arc::ptr_eq(&one, &other));
        let tokens = one.encode("the same text").unwrap();
        assert!(Arc::ptr_eq(&tokens, &other.encode("the same text").unwrap()));
        assert_eq!(tokenizers.tokenized_texts(), 1);
        other.encode("another text").unwrap();
        assert_eq!(tokenizers.tokenized_texts(), 2);
    }

    #[test]
    fn threads_that_ask_at_the_same_time_share_the_tokens() {
        let tokenizers = Tokenizers::start().unwrap();
        let tokenizer = tokenizers.open(&tokenizer_file()).unwrap();
        let text = "many words of one text ".repeat(2000);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| tokenizer.encode(&text).unwrap());
            }
        });
        assert_eq!(tokenizers.tokenized_texts(), 1);
    }

    #[test]
    fn texts_are_deleted_when_their_time_is_over() {
        let tokenizers = Tokenizers::with_limits(Duration::from_millis(20), MAX_BYTES).unwrap();
        let tokenizer = tokenizers.open(&tokenizer_file()).unwrap();
        tokenizer.encode("a secret").unwrap();
        let deadline = Instant::now() + Duration::from_secs(20);
        while kept(&tokenizers) > 0 {
            assert!(Instant::now() < deadline, "nobody deleted the text");
            std::thread::sleep(Duration::from_millis(5));
        }
        assert_eq!(tokenizers.cache.lock().bytes, 0);
        tokenizer.encode("a secret").unwrap();
        assert_eq!(tokenizers.tokenized_texts(), 2);
    }

    #[test]
    fn the_oldest_texts_make_room() {
        let tokenizers = Tokenizers::with_limits(KEPT_FOR, 3 * (BYTES_PER_TEXT + 5 * BYTES_PER_BYTE)).unwrap();
        let tokenizer = tokenizers.open(&tokenizer_file()).unwrap();
        for text in ["one 1", "two 2", "three", "four4"] {
            tokenizer.encode(text).unwrap();
        }
        assert_eq!(kept(&tokenizers), 3);
        tokenizer.encode("two 2").unwrap();
        assert_eq!(tokenizers.tokenized_texts(), 4);
        tokenizer.encode("one 1").unwrap();
        assert_eq!(tokenizers.tokenized_texts(), 5);
        // A text that exceeds the cache is not kept.
        tokenizer.encode(&"long ".repeat(200)).unwrap();
        assert_eq!((kept(&tokenizers), tokenizers.tokenized_texts()), (3, 6));
    }
}
