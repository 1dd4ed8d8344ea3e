//! What a template gave, cut into objects as Kubernetes' reader of streams cuts it.
//!
//! A text that begins with a brace is read as JSON values one after the other. Where that fails, before there have been two of
//! them, the rest is read as YAML documents.

use lynceus_gotmpl::json;
use lynceus_object::{Value, yaml};

use crate::go::text;
use crate::values;

/// How far the reader looks for a brace.
const LOOK: usize = 4096;

/// An object as it was read.
pub(super) struct Read {
    pub(super) value: Value,
    /// Whether it was read as JSON.
    pub(super) is_json: bool,
}

/// The objects up to the first that cannot be read, for which there is a reason instead.
pub(super) fn objects(output: &str) -> Vec<Result<Read, String>> {
    let mut found = Vec::new();
    let ahead = &output.as_bytes()[..output.len().min(LOOK)];
    if !text::trim_start(&String::from_utf8_lossy(ahead)).starts_with('{') {
        documents(output, &mut found);
        return found;
    }
    let mut at = 0;
    let reason = loop {
        let rest = output.get(at..).unwrap_or_default();
        if rest.trim_matches([' ', '\t', '\r', '\n']).is_empty() {
            return found;
        }
        match json::decode_first(rest.as_bytes()) {
            Ok((value, length)) => {
                let value = values::from_template(&value).ok_or_else(|| "exceeded max depth".to_owned());
                found.push(value.map(|value| Read { value, is_json: true }));
                at += length;
            }
            Err((words, _)) if found.len() > 1 => {
                found.push(Err(words));
                return found;
            }
            Err((words, Some(offset))) => break format!("json: offset {}: {words}", at + offset),
            Err((words, None)) => break words,
        }
    };
    let before = found.len();
    documents(after_line(output.get(at..).unwrap_or_default()), &mut found);
    // Nobody knows which of the two was meant, and the first complaint is told.
    if let Some(Err(error)) = found.get_mut(before) {
        *error = reason;
    }
    found
}

/// The text after the spaces at its start, but not beyond the first line.
fn after_line(text: &str) -> &str {
    let spaces = text.len() - text::trim_start(text).len();
    match text[..spaces].find('\n') {
        Some(end) => &text[end + 1..],
        None => &text[spaces..],
    }
}

fn documents(output: &str, found: &mut Vec<Result<Read, String>>) {
    let documents = yaml::documents(output.as_bytes(), &yaml::Options::default());
    for (at, document) in documents.iter().enumerate() {
        // What is wrong with the line that ends a document is found before the document is read.
        let ended = documents.get(at + 1);
        let ended = ended.filter(|next| separator(next).is_some_and(|line| ends_document(output, line)));
        let wrong = ended.unwrap_or(document);
        match &wrong.result {
            Ok(value) => found.push(Ok(Read { value: value.clone(), is_json: false })),
            Err(error) if separator(wrong).is_some() => {
                found.push(Err(error.to_string()));
                return;
            }
            Err(error) => {
                found.push(Err(format!("error converting YAML to JSON: {error}")));
                return;
            }
        }
    }
}

/// The line of a document's separator, if that is what is wrong with it.
fn separator(document: &yaml::Document) -> Option<u32> {
    let error = document.result.as_ref().err()?;
    error.problem.starts_with("invalid Yaml document separator").then_some(error.line)
}

/// Whether a separator stands behind the text of a document, and not behind another separator.
fn ends_document(output: &str, line: u32) -> bool {
    let before = (line as usize).checked_sub(2).and_then(|before| output.lines().nth(before));
    before.is_some_and(|before| !before.starts_with("---"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(output: &str, expected: &str) {
        let told: Vec<String> = objects(output)
            .iter()
            .map(|object| match object {
                Ok(read) => lynceus_object::json::to_string(&read.value),
                Err(reason) => format!("!{reason}"),
            })
            .collect();
        assert_eq!(told.join(" "), expected, "{output:?}");
    }

    #[test]
    fn json_values_may_stand_one_after_the_other() {
        check("{\"a\":1}{\"b\":2}\n {\"c\":3}\n", r#"{"a":1} {"b":2} {"c":3}"#);
        check("{\"a\":1}\n---\nb: 2\n", r#"{"a":1} {"b":2}"#);
        check("{a: 1}\n", r#"{"a":1}"#);
    }

    #[test]
    fn what_is_neither_is_told_as_json() {
        check(
            "{\"a\":1}{\"b\":2} x: y\n",
            r#"{"a":1} {"b":2} !invalid character 'x' looking for beginning of value"#,
        );
        check(
            "{a: [1}\n",
            "!json: offset 2: invalid character 'a' looking for beginning of object key string",
        );
        check("{\"a\":", "!unexpected EOF");
    }

    #[test]
    fn a_wrong_separator_takes_the_document_that_it_ends() {
        check("a: 1\n---\nb: 2\n--- x\nc: 3\n", r#"{"a":1} !invalid Yaml document separator: x"#);
        check("--- x\nc: 3\n", "!invalid Yaml document separator: x");
        check("a: 1\n---\n--- x\nc: 3\n", r#"{"a":1} !invalid Yaml document separator: x"#);
        check(
            "a: 1\n---\nb: [\n",
            r#"{"a":1} !error converting YAML to JSON: yaml: line 1: did not find expected node content"#,
        );
    }
}
