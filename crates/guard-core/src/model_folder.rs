//! Reads the files of a model folder and verifies them against its manifest.
//!
//! The manifest is the file `manifest.json` of the folder. It records the size in bytes and the SHA-256 (FIPS 180-4,
//! hexadecimal) of each published file. Names are relative paths with `/`. Files that models share are next to the
//! folder, such as `../words/words.bin`.
//!
//! ```json
//! { "files": { "config.json": { "size": 1284, "sha256": "9f86d081..." } } }
//! ```
//!
//! The bytes that the caller gets are verified, so no file can change between check and use. A folder without a
//! manifest is not verified, except files in the cache of Hugging Face's tools. Large files there are links to contents
//! named by their SHA-256 (<https://huggingface.co/docs/huggingface_hub/guides/manage-cache>), which is verified.

use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::path::{Component, Path, PathBuf};

use data_encoding::HEXLOWER;
use serde::Deserialize;
use sha2::{Digest, Sha256};

use crate::model_files::ModelFileError;

/// The name of the manifest.
pub const MANIFEST: &str = "manifest.json";

/// A folder of model files, with or without a manifest.
#[derive(Debug)]
pub struct ModelFolder {
    path: PathBuf,
    /// `None` if the folder has no manifest.
    listed: Option<BTreeMap<String, ListedFile>>,
}

#[derive(Debug, Deserialize)]
struct Manifest {
    files: BTreeMap<String, ListedFile>,
}

/// The manifest's entry for a file.
#[derive(Debug, Deserialize)]
struct ListedFile {
    size: u64,
    sha256: String,
}

/// The content of a file.
pub struct Content {
    /// The path of the file.
    pub path: PathBuf,
    /// The bytes of the file.
    pub bytes: Vec<u8>,
    /// The SHA-256 of the bytes.
    pub digest: [u8; 32],
}

/// Leaves out the bytes, which may be millions.
impl std::fmt::Debug for Content {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{} ({} bytes)", self.path.display(), self.bytes.len())
    }
}

impl ModelFolder {
    /// Opens a folder and reads its manifest, if there is one. The folder need not exist; its files are missing then.
    ///
    /// # Errors
    /// [`ModelFileError::Bad`] for an invalid manifest.
    pub fn open(path: &Path) -> Result<Self, ModelFileError> {
        let manifest = path.join(MANIFEST);
        let listed = read_if_there(&manifest)?
            .map(|bytes| serde_json::from_slice::<Manifest>(&bytes))
            .transpose()
            .map_err(|error| bad(&manifest, error.to_string()))?
            .map(|manifest| manifest.files);
        Ok(Self {
            path: path.to_owned(),
            listed,
        })
    }

    /// The path of a file. The file need not exist.
    pub fn path_of(&self, file: &Path) -> PathBuf {
        self.path.join(file)
    }

    /// Whether the file exists.
    pub fn has(&self, file: &Path) -> bool {
        self.path_of(file).is_file()
    }

    /// Reads a file.
    ///
    /// # Errors
    /// [`ModelFileError::Missing`], or [`ModelFileError::Bad`] for a file that is unreadable or differs from the
    /// manifest.
    pub fn read(&self, file: &Path) -> Result<Content, ModelFileError> {
        self.read_optional(file)?.ok_or_else(|| ModelFileError::Missing {
            path: self.path_of(file),
        })
    }

    /// Reads a file that may be missing, unless the manifest lists it.
    ///
    /// # Errors
    /// Those of [`ModelFolder::read`], except for a missing file that the manifest does not list.
    pub fn read_optional(&self, file: &Path) -> Result<Option<Content>, ModelFileError> {
        let path = self.path_of(file);
        let name = name_of(file);
        let listed = self.listed.as_ref().map(|files| files.get(&name));
        let Some(bytes) = read_if_there(&path)? else {
            return match listed {
                Some(Some(_)) => Err(ModelFileError::Missing { path }),
                _ => Ok(None),
            };
        };
        let digest: [u8; 32] = Sha256::digest(&bytes).into();
        match listed {
            None if hash_in_cache(&path).is_some_and(|hash| hash != HEXLOWER.encode(&digest)) => {
                return Err(bad(
                    &path,
                    "its SHA-256 is not the one that it was downloaded with".to_owned(),
                ));
            }
            None => {}
            Some(None) => return Err(bad(&path, format!("{MANIFEST} does not list it"))),
            Some(Some(ListedFile { size, .. })) if *size != bytes.len() as u64 => {
                let message = format!("it has {} bytes where {MANIFEST} lists {size}", bytes.len());
                return Err(bad(&path, message));
            }
            Some(Some(ListedFile { sha256, .. })) if !sha256.eq_ignore_ascii_case(&HEXLOWER.encode(&digest)) => {
                let message = format!("its SHA-256 differs from {MANIFEST}: the file is damaged or of another version");
                return Err(bad(&path, message));
            }
            Some(Some(_)) => {}
        }
        Ok(Some(Content { path, bytes, digest }))
    }
}

/// The name of a file in a manifest: its normalized path, without `.` and `..`.
fn name_of(file: &Path) -> String {
    let mut parts: Vec<String> = Vec::new();
    for component in file.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir if parts.last().is_some_and(|last| last != "..") => {
                parts.pop();
            }
            other => parts.push(other.as_os_str().to_string_lossy().into_owned()),
        }
    }
    parts.join("/")
}

/// The SHA-256 in the name of a link's target in the cache of Hugging Face's tools. Small files have the shorter hash
/// of Git there.
fn hash_in_cache(path: &Path) -> Option<String> {
    let content = std::fs::canonicalize(path).ok()?;
    let name = content.file_name()?.to_str()?;
    let is_named_by_hash = name.len() == 64 && HEXLOWER.decode(name.as_bytes()).is_ok();
    (is_named_by_hash && content.parent()?.file_name()? == "blobs").then(|| name.to_owned())
}

fn read_if_there(path: &Path) -> Result<Option<Vec<u8>>, ModelFileError> {
    match std::fs::read(path) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => Ok(None),
        Err(error) => Err(bad(path, error.to_string())),
    }
}

fn bad(path: &Path, message: String) -> ModelFileError {
    ModelFileError::Bad {
        path: path.to_owned(),
        message,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn model_path(name: &str) -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models").join(name)
    }

    /// Copies the smallest embedded model into a new folder.
    fn copy_model(test: &str) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("guard-{}-{test}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        for entry in std::fs::read_dir(model_path("language")).unwrap() {
            let entry = entry.unwrap();
            std::fs::copy(entry.path(), folder.join(entry.file_name())).unwrap();
        }
        folder
    }

    #[test]
    fn a_file_is_what_the_manifest_says() {
        let folder = copy_model("fits");
        let files = ModelFolder::open(&folder).unwrap();
        let content = files.read(Path::new("./model.bin")).unwrap();
        assert_eq!(content.bytes, std::fs::read(folder.join("model.bin")).unwrap());
        assert!(files.read_optional(Path::new("none.json")).unwrap().is_none());
        std::fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn a_file_that_differs_is_named() {
        let folder = copy_model("differs");
        let weights = std::fs::read(folder.join("model.bin")).unwrap();
        let mut flipped = weights.clone();
        flipped[weights.len() / 2] ^= 1;
        let zeroed = vec![0; weights.len()];
        let files = ModelFolder::open(&folder).unwrap();
        for (content, reason) in [
            (&flipped[..], "SHA-256"),
            (&zeroed[..], "SHA-256"),
            (&weights[..100], "it has 100 bytes"),
            (b"", "it has 0 bytes"),
        ] {
            std::fs::write(folder.join("model.bin"), content).unwrap();
            let error = files.read(Path::new("model.bin")).unwrap_err().to_string();
            assert!(
                error.contains("model.bin cannot be used") && error.contains(reason),
                "{error}"
            );
        }
        std::fs::remove_file(folder.join("model.bin")).unwrap();
        let error = files.read_optional(Path::new("model.bin")).unwrap_err();
        assert!(matches!(error, ModelFileError::Missing { path } if path.ends_with("model.bin")));
        std::fs::write(folder.join("more.json"), "{}").unwrap();
        let error = files.read_optional(Path::new("more.json")).unwrap_err().to_string();
        assert!(error.contains("manifest.json does not list it"), "{error}");
        std::fs::write(folder.join(MANIFEST), "{").unwrap();
        let error = ModelFolder::open(&folder).unwrap_err();
        assert!(matches!(error, ModelFileError::Bad { path, .. } if path.ends_with(MANIFEST)));
        std::fs::remove_dir_all(folder).unwrap();
    }

    #[cfg(unix)]
    #[test]
    fn a_download_is_what_its_name_says() {
        let folder = std::env::temp_dir().join(format!("guard-{}-blobs", std::process::id()));
        std::fs::create_dir_all(folder.join("blobs")).unwrap();
        let blob = folder.join("blobs").join(HEXLOWER.encode(&Sha256::digest(b"weights")));
        std::os::unix::fs::symlink(&blob, folder.join("model.onnx")).unwrap();
        let files = ModelFolder::open(&folder).unwrap();
        let read = || files.read(Path::new("model.onnx"));
        assert!(matches!(read().unwrap_err(), ModelFileError::Missing { .. }));
        std::fs::write(&blob, "weights").unwrap();
        assert_eq!(read().unwrap().bytes, b"weights");
        std::fs::write(&blob, "weighty").unwrap();
        assert!(read().unwrap_err().to_string().contains("downloaded with"));
        std::fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn names_are_without_detours() {
        let named = |path: &str| name_of(Path::new(path));
        assert_eq!(named("onnx/model.onnx"), "onnx/model.onnx");
        assert_eq!(named("./onnx/../model.onnx"), "model.onnx");
        assert_eq!(named("../words/./words.bin"), "../words/words.bin");
        assert_eq!(named("../../words.bin"), "../../words.bin");
    }
}
