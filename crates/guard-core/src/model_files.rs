//! What all kinds of models have in common: the files of a folder, and the errors of reading them.

use std::collections::BTreeMap;
use std::path::PathBuf;

/// A file of a model folder that is missing or cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ModelFileError {
    /// The file is missing.
    #[error("the model file {} is missing", path.display())]
    Missing {
        /// The file.
        path: PathBuf,
    },
    /// The file cannot be read as what it should be.
    #[error("the model file {} cannot be used: {message}", path.display())]
    Bad {
        /// The file.
        path: PathBuf,
        /// The reason, from the library that reads it.
        message: String,
    },
}

/// The labels of an `id2label` of Hugging Face's `config.json`, in the order of their numbers.
///
/// # Errors
/// Labels that are not numbered from 0 on.
pub(crate) fn ordered_labels(id2label: BTreeMap<String, String>) -> Result<Vec<String>, String> {
    let mut labels: Vec<(usize, String)> = id2label
        .into_iter()
        .map(|(id, label)| {
            id.parse()
                .map(|id| (id, label))
                .map_err(|_| format!("id2label has the id {id}"))
        })
        .collect::<Result<_, _>>()?;
    labels.sort_unstable();
    if labels.is_empty() || labels.iter().enumerate().any(|(at, (id, _))| at != *id) {
        return Err("id2label must name every label from 0 on".to_owned());
    }
    Ok(labels.into_iter().map(|(_, label)| label).collect())
}
