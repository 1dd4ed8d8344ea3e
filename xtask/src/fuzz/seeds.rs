//! What a target begins with: the charts, templates, flags, kustomizations and expressions that the tests have.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use crate::cases::{CHARTS, Case, KUSTOMIZATIONS, files, packed, words};

const FUNCTIONS: &str = "crates/gotmpl/tests/sprig";
const TEMPLATES: &str = "crates/gotmpl/tests/templates";
const EXPRESSIONS: &str = "crates/diff/tests/jq";

/// The flags of values, by the letter that the target `set` knows each by.
const FLAGS: [(&str, char); 5] =
    [("--set", 's'), ("--set-string", 't'), ("--set-json", 'j'), ("--set-file", 'f'), ("--set-literal", 'l')];

/// Writes what a target begins with into a directory, and gives how much that is.
pub(super) fn write(target: &str, directory: &Path) -> Result<usize, String> {
    let (charts, kustomizations) = (Case::all(CHARTS)?, Case::all(KUSTOMIZATIONS)?);
    let bodies = |case: &Case| case.files().map(|(_, body)| body).collect::<Vec<_>>();
    let seeds = match target {
        // One directory at a time: small inputs are changed more often.
        "kustomization" => kustomizations.iter().flat_map(directories).collect(),
        "patch" | "replacement" => texts(kustomizations.iter().flat_map(bodies).collect()),
        "chart" => charts.into_iter().map(|case| case.text.into_bytes()).collect(),
        "set" => texts(charts.iter().flat_map(flags).collect()),
        "manifest" => texts(charts.iter().flat_map(printed).collect()),
        "jq" => texts(expressions()?),
        "archive" => charts.iter().map(archive).collect::<Result<_, _>>()?,
        _ => texts(templates(&charts)?),
    };
    for (number, seed) in seeds.iter().enumerate() {
        let path = directory.join(format!("seed-{number:04}"));
        std::fs::write(&path, seed).map_err(|error| format!("cannot write {}: {error}", path.display()))?;
    }
    Ok(seeds.len())
}

/// Writes the words of the seeds for the fuzzer to build with.
pub(super) fn write_words(corpus: &Path, file: &Path) -> Result<(), String> {
    let mut words = BTreeSet::new();
    for entry in std::fs::read_dir(corpus).map_err(|error| error.to_string())? {
        let path = entry.map_err(|error| error.to_string())?.path();
        let is_seed = path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("seed-"));
        if is_seed && let Ok(text) = std::fs::read_to_string(&path) {
            words.extend(words_of(&text));
        }
    }
    let lines: String = words.iter().map(|word| format!("\"{word}\"\n")).collect();
    std::fs::write(file, lines).map_err(|error| format!("cannot write {}: {error}", file.display()))
}

/// Names of functions, fields and keys, and what actions are marked with.
fn words_of(text: &str) -> BTreeSet<String> {
    let names = text.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '.');
    let names = names.filter(|name| (2..=24).contains(&name.len()) && name.contains(char::is_alphabetic));
    let marks = ["{{", "}}", "{{-", "-}}", ":=", "/*", "*/"];
    names.chain(marks.into_iter().filter(|mark| text.contains(mark))).map(str::to_owned).collect()
}

fn texts(texts: BTreeSet<String>) -> Vec<Vec<u8>> {
    texts.into_iter().map(String::into_bytes).collect()
}

/// Every template of the tests: of charts, those that functions are tried with, and those in the tests' own code.
fn templates(charts: &[Case]) -> Result<BTreeSet<String>, String> {
    let of_charts = charts.iter().flat_map(Case::files).filter(|(name, _)| name.contains("templates/"));
    let mut found: BTreeSet<String> = of_charts.map(|(_, body)| body).collect();
    for (_, text) in files(FUNCTIONS, "txt")? {
        found.extend(text.lines().filter(|line| line.contains("{{")).map(str::to_owned));
    }
    for (_, text) in files(TEMPLATES, "rs")? {
        found.extend(text.split("(\"").skip(1).filter_map(literal).filter(|text| text.contains("{{")));
    }
    Ok(found)
}

/// Every jq expression that gojq answered; the answers stand between them, indented.
fn expressions() -> Result<BTreeSet<String>, String> {
    let is_expression = |line: &&str| !line.starts_with([' ', '#']);
    let found = files(EXPRESSIONS, "txt")?;
    Ok(found.iter().flat_map(|(_, text)| text.lines().filter(is_expression)).map(str::to_owned).collect())
}

/// What a literal of Rust holds whose opening mark was cut off.
fn literal(text: &str) -> Option<String> {
    let (mut found, mut letters) = (String::new(), text.chars());
    loop {
        match letters.next()? {
            '"' => return Some(found),
            '\\' => match letters.next()? {
                'n' => found.push('\n'),
                't' => found.push('\t'),
                other => found.push(other),
            },
            letter => found.push(letter),
        }
    }
}

/// The values on each command line, one flag to a line.
fn flags(case: &Case) -> BTreeSet<String> {
    case.commands().map(|(command, _)| flags_of(command)).filter(|text| !text.is_empty()).collect()
}

fn flags_of(command: &str) -> String {
    let words = words(command);
    let pairs = words.iter().zip(words.iter().skip(1));
    let named = pairs.filter_map(|(flag, text)| Some((FLAGS.iter().find(|(name, _)| name == flag)?.1, text)));
    named.map(|(letter, text)| format!("{letter}{text}\n")).collect()
}

/// The documents that Helm prints for a chart, and the files of values and other YAML in it.
fn printed(case: &Case) -> BTreeSet<String> {
    let outputs = case.commands().map(|(_, printed)| printed.to_owned());
    let documents = outputs.flat_map(|text| text.split("\n---\n").map(str::to_owned).collect::<Vec<_>>());
    let is_yaml = |name: &str| name.ends_with(".yaml") && !name.contains("templates/");
    let own = case.files().filter(|(name, _)| is_yaml(name)).map(|(_, body)| body);
    documents.chain(own).filter(|text| text.contains(':')).collect()
}

/// Each directory of a case by itself, as the only one there is.
fn directories(case: &Case) -> Vec<Vec<u8>> {
    let mut found: BTreeMap<String, String> = BTreeMap::new();
    for (name, body) in case.files() {
        let (directory, file) = name.split_once('/').unwrap_or(("", name));
        *found.entry(directory.to_owned()).or_default() += &format!("==> {file}\n{body}");
    }
    found.into_values().chain([case.text.clone()]).map(String::into_bytes).collect()
}

/// The archive that a chart would be packed into, before it is compressed.
fn archive(case: &Case) -> Result<Vec<u8>, String> {
    let members: Vec<(String, String)> =
        case.files().map(|(name, body)| (format!("c/{}", name.replace('!', "/")), body)).collect();
    packed(members.iter().map(|(name, body)| (name.as_str(), body.clone())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_are_taken_from_command_lines() {
        assert_eq!(flags_of("r . --set a=1,b=2 --set-json 'x={\"y\": 1}' -n z"), "sa=1,b=2\njx={\"y\": 1}\n");
        assert_eq!(flags_of("r ."), "");
    }

    #[test]
    fn literals_of_rust_are_read() {
        assert_eq!(literal(r#"{{ \"a\\n\" }}\n", "out")"#).as_deref(), Some("{{ \"a\\n\" }}\n"));
        assert_eq!(literal("open"), None);
    }

    #[test]
    fn words_are_names_and_marks() {
        let words: Vec<String> = words_of("{{ include \"c.name\" . | nindent 4 }}").into_iter().collect();
        assert_eq!(words, ["c.name", "include", "nindent", "{{", "}}"]);
    }

    #[test]
    fn every_target_has_something_to_begin_with() {
        let directory = std::env::temp_dir().join(format!("lynceus-seeds-{}", std::process::id()));
        for target in super::super::TARGETS {
            let own = directory.join(target);
            std::fs::create_dir_all(&own).unwrap_or_default();
            assert!(write(target, &own).is_ok_and(|count| count > 20), "{target}");
        }
        let _ = std::fs::remove_dir_all(&directory);
    }
}
