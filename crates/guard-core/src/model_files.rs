//! Errors of model files, and the labels of `config.json`.

use std::collections::BTreeMap;
use std::path::PathBuf;

/// An error in a file of a model folder.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ModelFileError {
    /// The file is missing.
    #[error("the model file {} is missing", path.display())]
    Missing {
        /// The file.
        path: PathBuf,
    },
    /// The file is invalid.
    #[error("the model file {} cannot be used: {message}", path.display())]
    Bad {
        /// The file.
        path: PathBuf,
        /// The reason, as the parser reports it.
        message: String,
    },
}

/// The labels of `id2label` in a Hugging Face `config.json`, in the order of their numbers.
///
/// # Errors
/// Returns an error unless the labels are numbered from 0 without gaps.
pub(crate) fn ordered_labels(id2label: BTreeMap<String, String>) -> Result<Vec<String>, String> {
    let mut labels: Vec<(usize, String)> = id2label
        .into_iter()
        .map(|(id, label)| {
            id.parse()
                .map(|id| (id, label))
                .map_err(|_| format!("id2label has the invalid id {id}"))
        })
        .collect::<Result<_, _>>()?;
    labels.sort_unstable();
    if labels.is_empty() || labels.iter().enumerate().any(|(at, (id, _))| at != *id) {
        return Err("id2label must number its labels from 0 without gaps".to_owned());
    }
    Ok(labels.into_iter().map(|(_, label)| label).collect())
}
