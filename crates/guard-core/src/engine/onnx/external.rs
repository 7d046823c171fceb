//! Reads the tensor files of a graph.
//!
//! ONNX Runtime would memory-map these files, so that writing to one changes the tensors of a running process, and
//! truncating one ends the process. Instead they are read, and ONNX Runtime maps a private copy, which is deleted when
//! the model is loaded. If there is no place for the copy, each session gets its own copy in memory.

use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use tempfile::TempDir;

use crate::model_files::ModelFileError;
use crate::model_folder::{Content, ModelFolder};

/// A tensor file.
pub(super) struct ExternalFile {
    /// The name in the graph.
    pub name: String,
    /// The bytes of the file.
    pub content: Arc<[u8]>,
}

/// Writes files to a new folder that only the user may enter, and that is deleted on drop. ONNX Runtime keeps its
/// mappings.
///
/// Returns `None` if there is no such place: on Windows, where a mapped file can't be deleted, and in read-only
/// containers.
pub(super) fn private_copy(files: &[ExternalFile]) -> Option<TempDir> {
    if files.is_empty() || !cfg!(unix) {
        return None;
    }
    // Prefer memory to a disk.
    let places = [PathBuf::from("/dev/shm"), std::env::temp_dir()];
    places.iter().find_map(|place| {
        let mut builder = tempfile::Builder::new();
        builder.prefix("guard-");
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o700));
        let folder = builder.tempdir_in(place).ok()?;
        for ExternalFile { name, content } in files {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent()?).ok()?;
            std::fs::write(path, content).ok()?;
        }
        Some(folder)
    })
}

/// Reads the tensor files of a graph, each once.
///
/// # Errors
/// If a file is missing, differs from the manifest, or has a path outside of `place`.
pub(super) fn external_files(
    folder: &ModelFolder,
    place: &Path,
    graph: &Content,
) -> Result<Vec<ExternalFile>, ModelFileError> {
    let mut files: Vec<ExternalFile> = Vec::new();
    for name in locations(&graph.bytes) {
        if files.iter().any(|file| file.name == name) {
            continue;
        }
        let path = Path::new(name);
        let stays = |component: Component| matches!(component, Component::Normal(_) | Component::CurDir);
        if !path.components().all(stays) {
            return Err(ModelFileError::Bad {
                path: graph.path.clone(),
                message: format!("it names a tensor file outside its folder: {name}"),
            });
        }
        files.push(ExternalFile {
            name: name.to_owned(),
            content: folder.read(&place.join(path))?.bytes.into(),
        });
    }
    Ok(files)
}

/// The names of tensor files in a graph, in order, with repetitions.
///
/// A tensor in a file (`TensorProto` of onnx.proto3, <https://github.com/onnx/onnx/blob/main/onnx/onnx.proto3>) has
/// entries `StringStringEntryProto { key = 1, value = 2 }`, one with the key `location`. The function searches for such
/// entries in the protocol buffer wire format, without parsing the graph.
fn locations(graph: &[u8]) -> impl Iterator<Item = &str> {
    const KEY: &[u8] = b"\x0a\x08location\x12";
    memchr::memmem::find_iter(graph, KEY).filter_map(|at| {
        let rest = &graph[at + KEY.len()..];
        let (length, head) = match rest {
            [low, ..] if low & 0x80 == 0 => (usize::from(*low), 1),
            [low, high, ..] if high & 0x80 == 0 => (usize::from(low & 0x7f) | usize::from(*high) << 7, 2),
            _ => return None,
        };
        std::str::from_utf8(rest.get(head..head + length)?).ok()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn model_path(name: &str) -> std::path::PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models").join(name)
    }

    fn files_of(name: &str, place: &str) -> Result<Vec<ExternalFile>, ModelFileError> {
        let folder = ModelFolder::open(&model_path(name)).unwrap();
        external_files(
            &folder,
            Path::new(place),
            &folder.read(Path::new("model.onnx")).unwrap(),
        )
    }

    #[test]
    fn files_are_read_from_where_the_configuration_says() {
        let files = files_of("ner", "../words").unwrap();
        assert_eq!(files.len(), 1);
        assert_eq!(files[0].name, "words.bin");
        let error = files_of("ner", "").err().unwrap();
        assert!(matches!(error, ModelFileError::Missing { path } if path.ends_with("ner/words.bin")));
    }

    #[cfg(unix)]
    #[test]
    fn copies_are_private_and_do_not_stay() {
        let files = [ExternalFile {
            name: "onnx/words.bin".to_owned(),
            content: b"words".as_slice().into(),
        }];
        assert!(private_copy(&[]).is_none());
        let copy = private_copy(&files).unwrap();
        assert_eq!(std::fs::read(copy.path().join("onnx/words.bin")).unwrap(), b"words");
        let mode = std::os::unix::fs::PermissionsExt::mode(&std::fs::metadata(copy.path()).unwrap().permissions());
        assert_eq!(mode & 0o777, 0o700);
        let path = copy.path().to_owned();
        drop(copy);
        assert!(!path.exists());
    }

    #[test]
    fn names_may_be_long_and_must_stay_in_the_folder() {
        let named = |name: &str| {
            let mut graph = b"..\x0a\x08location\x12".to_vec();
            match name.len() {
                short @ 0..0x80 => graph.push(short as u8),
                long => graph.extend([0x80 | (long & 0x7f) as u8, (long >> 7) as u8]),
            }
            graph.extend(name.as_bytes());
            graph.extend(b"\x6a\x0b");
            graph
        };
        let long = "w".repeat(300);
        assert_eq!(locations(&named(&long)).collect::<Vec<_>>(), [long.as_str()]);
        assert_eq!(locations(&named("a/b.bin")).collect::<Vec<_>>(), ["a/b.bin"]);
        assert_eq!(locations(b"\x0a\x08location\x12\x7fshort").count(), 0);
        let folder = ModelFolder::open(&model_path("language")).unwrap();
        for name in ["../config.json", "/etc/hostname"] {
            let graph = Content {
                path: "g.onnx".into(),
                bytes: named(name),
                digest: [0; 32],
            };
            let error = external_files(&folder, Path::new(""), &graph)
                .err()
                .unwrap()
                .to_string();
            assert!(error.contains("outside its folder"), "{error}");
        }
    }
}
