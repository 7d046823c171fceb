//! Modules import downward only, and no files import each other in a circle.
//!
//! The tests read the sources of this crate: `use` declarations and paths in code, without comments, strings and
//! `#[cfg(test)]` modules. An import through a re-export counts as an import of the file that defines the item.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// The modules of the crate, lowest first. A module may import those before it.
const ORDER: [&str; 11] = [
    "stop",
    "random",
    "memory",
    "model_files",
    "model_folder",
    "text",
    "tokens",
    "rules",
    "pii",
    "lang",
    "engine",
];

/// The path of a module or an item below the root of the crate: `["pii", "options"]`.
type ItemPath = Vec<String>;

/// A source file without comments, strings and tests.
struct Source {
    /// The path below `src`, for messages.
    file: String,
    module: ItemPath,
    code: Vec<Token>,
    /// The names that `use` declarations import, with their paths.
    names: BTreeMap<String, ItemPath>,
    /// Every path of the crate in the code.
    paths: Vec<ItemPath>,
}

/// A word, or another character.
#[derive(Clone, PartialEq)]
enum Token {
    Word(String),
    Mark(char),
}

#[test]
fn modules_import_downward() {
    let sources = sources();
    let rank = |module: &ItemPath| {
        let top = module.first().expect("the root of the crate only declares modules");
        let found = ORDER.iter().position(|name| name == top);
        found.unwrap_or_else(|| panic!("module `{top}` is missing in ORDER of tests/imports.rs"))
    };
    let upward: Vec<String> = (imports(&sources).into_iter())
        .flat_map(|(from, targets)| targets.into_iter().map(move |to| (from, to)))
        .filter(|&(from, to)| !sources[from].module.is_empty() && !sources[to].module.is_empty())
        .filter(|&(from, to)| rank(&sources[from].module) < rank(&sources[to].module))
        .map(|(from, to)| format!("{} imports {}", sources[from].file, sources[to].file))
        .collect();
    assert!(
        upward.is_empty(),
        "imports against the order {ORDER:?}:\n{}",
        upward.join("\n")
    );
}

#[test]
fn files_do_not_import_in_a_circle() {
    let sources = sources();
    let imports = imports(&sources);
    let circles: Vec<String> = circles(&imports)
        .into_iter()
        .map(|circle| {
            let members: BTreeSet<usize> = circle.iter().copied().collect();
            let lines = circle.iter().flat_map(|&from| {
                let inside = imports[&from].iter().filter(|to| members.contains(to));
                inside.map(move |&to| (from, to)).collect::<Vec<_>>()
            });
            let lines: Vec<String> = lines
                .map(|(from, to)| format!("  {} imports {}", sources[from].file, sources[to].file))
                .collect();
            lines.join("\n")
        })
        .collect();
    assert!(
        circles.is_empty(),
        "{} circles:\n{}",
        circles.len(),
        circles.join("\n\n")
    );
}

#[test]
fn a_scanned_source_has_paths_without_tests() {
    let code = r##"
        //! [`crate::comment`]
        use crate::pii::{self, Options as Settings, checks::{Check, phone}};
        pub use inner::Item;
        mod inner;
        pub(in crate::engine) fn call<'a>(x: &'a str) { let c = '"'; super::help(c, "crate::string", r#"crate::raw"#); }
        #[cfg(test)]
        mod tests { use crate::engine; }
    "##;
    let source = source("a/b.rs".into(), vec!["a".into(), "b".into()], code);
    let paths: Vec<String> = source.paths.iter().map(|path| path.join("::")).collect();
    assert_eq!(
        paths,
        [
            "pii",
            "pii::Options",
            "pii::checks::Check",
            "pii::checks::phone",
            "a::b::inner::Item",
            "a::help"
        ]
    );
    assert_eq!(source.names["Settings"].join("::"), "pii::Options");
}

/// Reads all sources of the crate except those of tests.
fn sources() -> Vec<Source> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    collect(&root, &mut files);
    let mut sources: Vec<Source> = files.iter().map(|path| read(&root, path)).collect();
    let tests: Vec<ItemPath> = sources.iter().flat_map(test_modules).collect();
    sources.retain(|source| !tests.iter().any(|test| source.module.starts_with(test)));
    assert!(sources.len() > 100, "only {} files were read", sources.len());
    sources
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a readable folder") {
        let path = entry.expect("a readable entry").path();
        if path.is_dir() {
            collect(&path, files);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
    files.sort();
}

fn read(root: &Path, path: &Path) -> Source {
    let file = path.strip_prefix(root).expect("a file of the crate");
    let mut module: ItemPath = file
        .with_extension("")
        .iter()
        .map(|part| part.to_str().expect("a plain file name").to_owned())
        .collect();
    if module.last().is_some_and(|last| last == "mod" || last == "lib") {
        module.pop();
    }
    source(
        file.display().to_string(),
        module,
        &fs::read_to_string(path).expect("a readable file"),
    )
}

fn source(file: String, module: ItemPath, text: &str) -> Source {
    let code = without_tests(tokens(text));
    let mut source = Source {
        file,
        module,
        code,
        names: BTreeMap::new(),
        paths: Vec::new(),
    };
    read_paths(&mut source);
    source
}

/// The modules that a file declares for tests only: `#[cfg(test)] mod tests;`.
fn test_modules(source: &Source) -> Vec<ItemPath> {
    let code = &source.code;
    let starts = (0..code.len()).filter(|&at| is_test_attribute(&code[at..]));
    let names = starts.filter_map(|at| match code.get(at + 7..) {
        Some([Token::Word(word), Token::Word(name), ..]) if word == "mod" => Some(name.clone()),
        _ => None,
    });
    names.map(|name| [source.module.clone(), vec![name]].concat()).collect()
}

fn is_word(token: Option<&Token>, word: &str) -> bool {
    matches!(token, Some(Token::Word(found)) if found == word)
}

fn is_mark(token: Option<&Token>, mark: char) -> bool {
    token == Some(&Token::Mark(mark))
}

fn is_test_attribute(code: &[Token]) -> bool {
    is_mark(code.first(), '#')
        && is_mark(code.get(1), '[')
        && is_word(code.get(2), "cfg")
        && is_mark(code.get(3), '(')
        && is_word(code.get(4), "test")
        && is_mark(code.get(5), ')')
        && is_mark(code.get(6), ']')
}

/// Removes `#[cfg(test)]` items, except declarations of modules in other files.
fn without_tests(code: Vec<Token>) -> Vec<Token> {
    let mut kept = Vec::new();
    let mut at = 0;
    while at < code.len() {
        if !is_test_attribute(&code[at..]) {
            kept.push(code[at].clone());
            at += 1;
            continue;
        }
        let end = item_end(&code, at + 7);
        if is_word(code.get(at + 7), "mod") && is_mark(code.get(end - 1), ';') {
            kept.extend_from_slice(&code[at..end]);
        }
        at = end;
    }
    kept
}

/// The end of the item at `start`: after its `;`, or after the block that it opens.
fn item_end(code: &[Token], start: usize) -> usize {
    let mut depth = 0;
    for (at, token) in code.iter().enumerate().skip(start) {
        match token {
            Token::Mark('{' | '(' | '[') => depth += 1,
            Token::Mark('}') if depth == 1 => return at + 1,
            Token::Mark('}' | ')' | ']') => depth -= 1,
            Token::Mark(';') if depth == 0 => return at + 1,
            _ => {}
        }
    }
    code.len()
}

/// Splits Rust into words and marks, without comments, strings and lifetimes.
fn tokens(text: &str) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let length = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("/*") {
            rest.find("*/").map_or(rest.len(), |end| end + 2)
        } else if let Some(length) = literal(rest) {
            length
        } else if first.is_alphanumeric() || first == '_' {
            let length = rest
                .find(|c: char| !c.is_alphanumeric() && c != '_')
                .unwrap_or(rest.len());
            tokens.push(Token::Word(rest[..length].to_owned()));
            length
        } else {
            if !first.is_whitespace() {
                tokens.push(Token::Mark(first));
            }
            first.len_utf8()
        };
        rest = &rest[length..];
    }
    tokens
}

/// The length of the string, character or lifetime that `text` begins with.
fn literal(text: &str) -> Option<usize> {
    let prefix = text.len() - text.trim_start_matches(['b', 'r', 'c']).len();
    let opened = &text[prefix.min(2)..];
    if prefix > 0 && prefix <= 2 && text[..prefix].contains('r') && opened.starts_with(['"', '#']) {
        let hashes = opened.len() - opened.trim_start_matches('#').len();
        if opened[hashes..].starts_with('"') {
            let close = format!("\"{}", "#".repeat(hashes));
            let body = prefix + hashes + 1;
            return Some(
                text[body..]
                    .find(&close)
                    .map_or(text.len(), |end| body + end + close.len()),
            );
        }
    }
    let start = usize::from(text.starts_with('b'));
    match text[start..].chars().next()? {
        '"' => Some(quoted(text, start, '"')),
        '\'' => {
            let mut after = text[start + 1..].chars();
            let (first, second) = (after.next()?, after.next());
            let is_lifetime = first != '\\' && second != Some('\'');
            Some(if is_lifetime {
                start + 1
            } else {
                quoted(text, start, '\'')
            })
        }
        _ => None,
    }
}

fn quoted(text: &str, start: usize, quote: char) -> usize {
    let mut is_escaped = false;
    for (at, c) in text[start + 1..].char_indices() {
        match c {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            c if c == quote => return start + 1 + at + 1,
            _ => {}
        }
    }
    text.len()
}

/// Reads the paths of a source: those that begin with `crate`, `super`, `self` or a module that the file declares.
fn read_paths(source: &mut Source) {
    let code = std::mem::take(&mut source.code);
    let children: BTreeSet<String> = (code.windows(3))
        .filter_map(|window| match window {
            [Token::Word(word), Token::Word(name), Token::Mark(';')] if word == "mod" => Some(name.clone()),
            _ => None,
        })
        .collect();
    let mut at = 0;
    while at < code.len() {
        let is_use = is_word(code.get(at), "use");
        let start = at + usize::from(is_use);
        // A path that continues another one, or the scope of `pub(in path)`.
        let is_inside = start > 0 && (is_mark(code.get(start - 1), ':') || is_word(code.get(start - 1), "in"));
        let Some(Token::Word(first)) = code.get(start).filter(|_| !is_inside) else {
            at += 1;
            continue;
        };
        let is_path = is_mark(code.get(start + 1), ':') && is_mark(code.get(start + 2), ':');
        let base = match first.as_str() {
            "crate" => Some(Vec::new()),
            "super" => Some(source.module[..source.module.len().saturating_sub(1)].to_vec()),
            "self" => Some(source.module.clone()),
            name if children.contains(name) => Some([source.module.clone(), vec![name.to_owned()]].concat()),
            _ => None,
        };
        match base.filter(|_| is_path) {
            Some(base) => at = read_tree(source, &code, start + 3, base, is_use),
            None => at = start + 1,
        }
    }
    source.code = code;
}

/// Reads the rest of a path after `base::`, which may be a tree in braces. Returns its end.
fn read_tree(source: &mut Source, code: &[Token], start: usize, base: ItemPath, is_use: bool) -> usize {
    let mut at = start;
    let mut path = base;
    loop {
        match code.get(at) {
            Some(Token::Mark('{')) => {
                at += 1;
                while !is_mark(code.get(at), '}') {
                    at = read_tree(source, code, at, path.clone(), is_use);
                    at += usize::from(is_mark(code.get(at), ','));
                }
                return at + 1;
            }
            Some(Token::Word(word)) if word == "super" => drop(path.pop()),
            Some(Token::Word(word)) if word == "self" => {}
            Some(Token::Word(word)) => path.push(word.clone()),
            // A glob, or the type parameters of a path.
            _ => break,
        }
        at += 1;
        if !(is_mark(code.get(at), ':') && is_mark(code.get(at + 1), ':')) {
            break;
        }
        at += 2;
    }
    if is_use {
        let alias = match (code.get(at), code.get(at + 1)) {
            (Some(Token::Word(word)), Some(Token::Word(alias))) if word == "as" => Some(alias.clone()),
            _ => None,
        };
        at += if alias.is_some() {
            2
        } else {
            usize::from(is_mark(code.get(at), '*'))
        };
        if let Some(name) = alias.or_else(|| path.last().cloned()) {
            source.names.insert(name, path.clone());
        }
    }
    source.paths.push(path);
    at
}

/// The files that each file imports.
fn imports(sources: &[Source]) -> BTreeMap<usize, BTreeSet<usize>> {
    let files: BTreeMap<&[String], usize> = sources
        .iter()
        .enumerate()
        .map(|(index, source)| (source.module.as_slice(), index))
        .collect();
    let targets = |from: usize| {
        let paths = sources[from].paths.iter();
        paths
            .map(|path| definition(sources, &files, path))
            .filter(|&to| to != from)
            .collect()
    };
    (0..sources.len()).map(|from| (from, targets(from))).collect()
}

/// The file that defines the item at `path`, following re-exports.
fn definition(sources: &[Source], files: &BTreeMap<&[String], usize>, path: &[String]) -> usize {
    let mut path = path.to_vec();
    loop {
        let depth = (0..=path.len()).rev().find(|&depth| files.contains_key(&path[..depth]));
        let depth = depth.expect("every path begins at the root");
        let file = files[&path[..depth]];
        match path.get(depth).and_then(|name| sources[file].names.get(name)) {
            Some(target) if *target != path => path = [target.as_slice(), &path[depth + 1..]].concat(),
            _ => return file,
        }
    }
}

/// Groups of files that reach each other.
fn circles(imports: &BTreeMap<usize, BTreeSet<usize>>) -> Vec<Vec<usize>> {
    let reached: BTreeMap<usize, BTreeSet<usize>> =
        imports.keys().map(|&from| (from, reachable(imports, from))).collect();
    let mut seen = BTreeSet::new();
    let mut circles = Vec::new();
    for (&from, targets) in &reached {
        if targets.contains(&from) && !seen.contains(&from) {
            let circle: Vec<usize> = targets
                .iter()
                .copied()
                .filter(|to| reached[to].contains(&from))
                .collect();
            seen.extend(circle.iter().copied());
            circles.push(circle);
        }
    }
    circles
}

fn reachable(imports: &BTreeMap<usize, BTreeSet<usize>>, from: usize) -> BTreeSet<usize> {
    let mut reached = BTreeSet::new();
    let mut pending: Vec<usize> = imports[&from].iter().copied().collect();
    while let Some(file) = pending.pop() {
        if reached.insert(file) {
            pending.extend(&imports[&file]);
        }
    }
    reached
}
