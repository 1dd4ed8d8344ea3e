//! The lines of a policy: `p, subject, resource, action, object, effect` and `g, subject, role`, with the rules of CSV.

/// A line that says something.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Line {
    /// Somebody may do something, or may not.
    Permission {
        /// Who.
        subject: String,
        /// To what sort of thing.
        resource: String,
        /// What.
        action: String,
        /// To which thing.
        object: String,
        /// `allow` or `deny`.
        effect: String,
    },
    /// Somebody has a role.
    Role(String, String),
}

/// A line that cannot be read.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct BadLine(pub(super) String);

/// Reads a policy. One line that cannot be read spoils all of it: it may be one that forbids.
pub(super) fn read(text: &str) -> Result<Vec<Line>, BadLine> {
    let mut lines = Vec::new();
    for line in text.split('\n').map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#')) {
        let bad = || BadLine(line.chars().take(200).collect());
        let fields = fields(line).ok_or_else(bad)?;
        let mut fields = fields.into_iter();
        let sort = fields.next().unwrap_or_default();
        let rest: Vec<String> = fields.collect();
        match (sort.as_str(), <[String; 5]>::try_from(rest)) {
            ("p", Ok([subject, resource, action, object, effect])) => {
                lines.push(Line::Permission { subject, resource, action, object, effect });
            }
            ("g", Err(rest)) => match <[String; 2]>::try_from(rest) {
                Ok([subject, role]) => lines.push(Line::Role(subject, role)),
                Err(_) => return Err(bad()),
            },
            // The other parts of the model have no lines, and the original does not mind them.
            ("r" | "e" | "m", _) => {}
            _ => return Err(bad()),
        }
    }
    Ok(lines)
}

/// The fields of a line. Space before a field does not count, space behind it does.
fn fields(line: &str) -> Option<Vec<String>> {
    let mut fields = Vec::new();
    let mut rest = line;
    loop {
        rest = rest.trim_start();
        let (field, behind) = match rest.strip_prefix('"') {
            Some(quoted) => quoted_field(quoted)?,
            None => {
                let (field, behind) = match rest.split_once(',') {
                    Some((field, behind)) => (field, Some(behind)),
                    None => (rest, None),
                };
                if field.contains('"') {
                    return None;
                }
                (field.to_owned(), behind)
            }
        };
        fields.push(field);
        match behind {
            Some(behind) => rest = behind,
            None => return Some(fields),
        }
    }
}

/// The text up to the closing quote, in which two quotes are one; and what is behind the comma.
fn quoted_field(text: &str) -> Option<(String, Option<&str>)> {
    let mut field = String::new();
    let mut rest = text;
    loop {
        let (before, behind) = rest.split_once('"')?;
        field.push_str(before);
        if let Some(more) = behind.strip_prefix('"') {
            field.push('"');
            rest = more;
        } else if behind.is_empty() {
            return Some((field, None));
        } else {
            return Some((field, Some(behind.strip_prefix(',')?)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_read_with_the_rules_of_csv() {
        let lines =
            read("# who\n\n p, a, applications, get, \"{x,y}/*\", allow \ng, \"a \"\"b\"\"\", role:c\n")
                .unwrap();
        assert_eq!(
            lines,
            [
                Line::Permission {
                    subject: "a".into(),
                    resource: "applications".into(),
                    action: "get".into(),
                    object: "{x,y}/*".into(),
                    effect: "allow".into()
                },
                Line::Role("a \"b\"".into(), "role:c".into()),
            ]
        );
    }

    #[test]
    fn a_line_that_cannot_be_read_spoils_the_policy() {
        for line in [
            "p, a, b, c, d",
            "g, a",
            "g, a, b, c",
            "x, a",
            "p",
            "p, a\"b, c, d, e, allow",
            "g, \"a\" , b",
            "g, \"a, b",
        ] {
            assert!(read(line).is_err(), "{line}");
        }
    }
}
