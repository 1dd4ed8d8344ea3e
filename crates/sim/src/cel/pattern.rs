//! Regular expressions in Go's dialect, run by the `regex` crate.
//!
//! The two agree on nearly everything. What differs is rewritten here: in Go `\d`, `\w`, `\s` and `\b`
//! are ASCII, a `[` inside a class and a lone `{` are themselves, and `\Q…\E` quotes.

use std::fmt;

/// A compiled pattern that remembers its source. A pattern that does not compile matches nothing.
#[derive(Clone)]
pub struct Pattern {
    source: Box<str>,
    regex: Result<regex::Regex, Box<str>>,
}

impl Pattern {
    /// Compiles a pattern.
    pub fn new(source: &str) -> Self {
        let regex = match nested_repetition(source) {
            Some(twice) => {
                Err(format!("error parsing regexp: invalid nested repetition operator: `{twice}`").into())
            }
            None => regex::RegexBuilder::new(&translate(source))
                .size_limit(1 << 20)
                .build()
                .map_err(|error| complaint(source, &error).into()),
        };
        Pattern { source: source.into(), regex }
    }

    /// The pattern as it was written.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// What is wrong with the pattern, if it does not compile.
    pub fn error(&self) -> Option<&str> {
        self.regex.as_ref().err().map(|text| &**text)
    }

    /// Whether it matches anywhere in the text.
    pub fn is_match(&self, text: &str) -> bool {
        self.regex.as_ref().is_ok_and(|regex| regex.is_match(text))
    }

    /// The first match.
    pub fn find<'t>(&self, text: &'t str) -> Option<&'t str> {
        self.regex.as_ref().ok()?.find(text).map(|found| found.as_str())
    }

    /// Up to `limit` matches, in order.
    pub fn find_all<'t>(&self, text: &'t str, limit: usize) -> Vec<&'t str> {
        match &self.regex {
            Ok(regex) => regex.find_iter(text).take(limit).map(|found| found.as_str()).collect(),
            Err(_) => Vec::new(),
        }
    }
}

impl fmt::Debug for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Pattern({:?})", self.source)
    }
}

/// Two operators in a row, such as `x++`, which Go refuses.
fn nested_repetition(source: &str) -> Option<&str> {
    let bytes = source.as_bytes();
    let (mut in_class, mut escaped) = (false, false);
    for (at, byte) in bytes.iter().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'[' if !in_class => in_class = true,
            b']' if in_class => in_class = false,
            b'*' | b'+' if !in_class && at > 0 && matches!(bytes[at - 1], b'*' | b'+' | b'?') => {
                let quoted = at > 1 && bytes[at - 2] == b'\\';
                let group = at > 1 && bytes[at - 2] == b'(';
                if !quoted && !group {
                    return source.get(at - 1..=at);
                }
            }
            _ => {}
        }
    }
    None
}

fn complaint(source: &str, error: &regex::Error) -> String {
    let text = error.to_string();
    let words = [
        ("unclosed group", "missing closing )"),
        ("unopened group", "unexpected )"),
        ("unclosed character class", "missing closing ]"),
        ("repetition operator missing expression", "missing argument to repetition operator"),
        ("look-around", "invalid or unsupported Perl syntax"),
        ("backreferences are not supported", "invalid escape sequence"),
        ("unrecognized escape", "invalid escape sequence"),
        ("invalid character class range", "invalid character class range"),
        ("exceeds size limit", "expression too large"),
    ];
    let reason =
        words.iter().find(|(theirs, _)| text.contains(theirs)).map_or("invalid syntax", |(_, go)| go);
    let shown = match reason {
        // The class that is not closed, not all that stands before it.
        "missing closing ]" => source.rfind('[').map_or(source, |at| &source[at..]),
        _ => source,
    };
    format!("error parsing regexp: {reason}: `{shown}`")
}

fn translate(source: &str) -> String {
    let mut out = String::with_capacity(source.len() + 8);
    let mut chars = source.char_indices().peekable();
    let mut in_class = false;
    let mut class_start = false;
    while let Some((at, c)) = chars.next() {
        let first = std::mem::take(&mut class_start);
        match c {
            '\\' => {
                let Some((_, escaped)) = chars.next() else {
                    out.push('\\');
                    break;
                };
                if escaped == 'Q' {
                    let rest = &source[at + 2..];
                    let quoted = rest.split("\\E").next().unwrap_or(rest);
                    out.push_str(&regex::escape(quoted));
                    let end = at + 2 + quoted.len() + if quoted.len() < rest.len() { 2 } else { 0 };
                    while chars.peek().is_some_and(|(next, _)| *next < end) {
                        chars.next();
                    }
                } else {
                    out.push_str(&escape(escaped, in_class));
                }
            }
            '[' if in_class && source[at..].starts_with("[:") => out.push('['),
            '[' if in_class => out.push_str("\\["),
            '[' => {
                in_class = true;
                class_start = true;
                out.push('[');
            }
            '^' if first => {
                class_start = true;
                out.push('^');
            }
            ']' if first => out.push_str("\\]"),
            ']' if in_class => {
                // The end of `[:alpha:]` does not end the class around it.
                in_class =
                    source[..at].ends_with(':') && source[..at].rfind("[:").is_some_and(|open| open + 2 < at);
                out.push(']');
            }
            '&' | '~' | '-' if in_class && chars.peek().is_some_and(|(_, next)| *next == c) => {
                out.push('\\');
                out.push(c);
            }
            '{' if !in_class && !is_repetition(&source[at..]) => out.push_str("\\{"),
            '}' if !in_class && !closes_repetition(&source[..at]) => out.push_str("\\}"),
            c => out.push(c),
        }
    }
    out
}

fn escape(c: char, in_class: bool) -> String {
    let (set, negated) = match c.to_ascii_lowercase() {
        'd' => ("0-9", c == 'D'),
        'w' => ("0-9A-Za-z_", c == 'W'),
        's' => ("\\t\\n\\x0C\\r ", c == 'S'),
        'b' if c == 'b' && !in_class => return "(?-u:\\b)".into(),
        _ => return format!("\\{c}"),
    };
    match (in_class, negated) {
        (true, false) => set.into(),
        (false, false) => format!("[{set}]"),
        (_, true) => format!("[^{set}]"),
    }
}

fn is_repetition(text: &str) -> bool {
    let Some((inside, _)) = text[1..].split_once('}') else { return false };
    let mut parts = inside.splitn(2, ',');
    let digits = |part: Option<&str>, empty: bool| {
        part.is_none_or(|part| (empty || !part.is_empty()) && part.bytes().all(|byte| byte.is_ascii_digit()))
    };
    digits(parts.next(), false) && digits(parts.next(), true)
}

fn closes_repetition(before: &str) -> bool {
    before.rfind('{').is_some_and(|open| {
        let inside = &before[open + 1..];
        !inside.is_empty() && inside.bytes().all(|byte| byte.is_ascii_digit() || byte == b',')
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn go_patterns_mean_what_go_means() {
        for (pattern, text, matches) in [
            (r"^\d+$", "٣", false),
            (r"^\w+$", "abc_1", true),
            (r"^\W$", "é", true),
            (r"^[\d.]+$", "1.2", true),
            (r"^[[a]+$", "[a[", true),
            (r"^a{$", "a{", true),
            (r"^a{2,3}$", "aaa", true),
            (r"^[[:alpha:]-]+$", "ab-c", true),
            (r"^\Qa.b\E$", "a.b", true),
            (r"^\Qa.b\E$", "axb", false),
            (r"^[]a]+$", "]a", true),
            (r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?$", "web-1", true),
            (r"^\$\{x\}$", "${x}", true),
        ] {
            let compiled = Pattern::new(pattern);
            assert_eq!(compiled.error(), None, "{pattern}");
            assert_eq!(compiled.is_match(text), matches, "{pattern} {text}");
        }
    }

    #[test]
    fn a_bad_pattern_says_so() {
        assert_eq!(Pattern::new("(").error(), Some("error parsing regexp: missing closing ): `(`"));
    }
}
