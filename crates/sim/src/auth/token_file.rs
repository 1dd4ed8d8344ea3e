//! Tokens that are known beforehand, in the form of kube-apiserver's `--token-auth-file`.

use super::FixedToken;
use crate::attributes::User;

/// Tokens and whose they are, out of a file with a line for each: token, user, uid, and the groups in quotes with commas
/// between.
#[derive(Clone, Debug, Default)]
pub struct TokenFile(Vec<(FixedToken, User)>);

/// Why a file of tokens cannot be used. Tokens are not shown.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TokenFileError {
    /// A line has too few fields.
    #[error("line {line} has {found} fields: it has to have a token, a user and a uid, and may have groups")]
    Fields {
        /// The line, from 1.
        line: usize,
        /// How many fields it has.
        found: usize,
    },
    /// A field that begins with a quote has no other, or goes on behind it.
    #[error("line {line} has a quote that is not closed at the end of a field")]
    Quote {
        /// The line, from 1.
        line: usize,
    },
    /// There is nothing where the token should be.
    #[error("line {line} begins with an empty token")]
    Token {
        /// The line, from 1.
        line: usize,
    },
}

impl TokenFile {
    /// Reads a file's text. Empty lines do not count.
    pub fn read(text: &str) -> Result<Self, TokenFileError> {
        let mut known = Vec::new();
        for (line, text) in (1..).zip(text.lines()).filter(|(_, text)| !text.is_empty()) {
            let fields = fields(text).ok_or(TokenFileError::Quote { line })?;
            let [token, name, uid, rest @ ..] = fields.as_slice() else {
                return Err(TokenFileError::Fields { line, found: fields.len() });
            };
            if token.is_empty() {
                return Err(TokenFileError::Token { line });
            }
            let groups = rest.first().map(String::as_str).unwrap_or_default();
            let groups = groups.split(',').filter(|group| !group.is_empty());
            let groups = groups.chain(["system:authenticated"]).map(Into::into).collect();
            let user =
                User { name: name.as_str().into(), uid: uid.as_str().into(), groups, ..User::default() };
            known.push((FixedToken(token.clone()), user));
        }
        Ok(TokenFile(known))
    }

    /// Whose token it is.
    pub(super) fn user(&self, token: &str) -> Option<User> {
        // All are compared, so that the time it takes says nothing of where one stands.
        self.0
            .iter()
            .fold(None, |found, (known, user)| if known.is(token) { Some(user.clone()) } else { found })
    }
}

/// The fields of a line, which may stand in quotes; a quote in such a field is written twice.
fn fields(line: &str) -> Option<Vec<String>> {
    let mut fields = Vec::new();
    let mut rest = Some(line);
    while let Some(text) = rest {
        let (field, after) = match text.strip_prefix('"') {
            Some(quoted) => quoted_field(quoted)?,
            None => text
                .split_once(',')
                .map_or((text.to_owned(), None), |(field, rest)| (field.to_owned(), Some(rest))),
        };
        fields.push(field);
        rest = after;
    }
    Some(fields)
}

/// A field behind its first quote, and what follows the comma behind its last.
fn quoted_field(text: &str) -> Option<(String, Option<&str>)> {
    let mut field = String::new();
    let mut rest = text;
    loop {
        let (part, after) = rest.split_once('"')?;
        field.push_str(part);
        rest = match after.chars().next() {
            None => return Some((field, None)),
            Some(',') => return Some((field, Some(&after[1..]))),
            Some('"') => &after[1..],
            Some(_) => return None,
        };
        field.push('"');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn whose(text: &str, token: &str) -> String {
        match TokenFile::read(text) {
            Ok(file) => file.user(token).map_or("nobody".to_owned(), |user| {
                format!("{} {} {}", user.name, user.uid, user.groups.join("|"))
            }),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn a_token_leads_to_its_user_and_groups() {
        let file = "secret,alice,1\n\nother,\"bob \"\"b\"\"\",2,\"ops,system:masters\"\n";
        assert_eq!(whose(file, "secret"), "alice 1 system:authenticated");
        assert_eq!(whose(file, "other"), "bob \"b\" 2 ops|system:masters|system:authenticated");
        assert_eq!(whose(file, "third"), "nobody");
        assert_eq!(
            whose("admin-token,admin,,\"system:masters\"", "admin-token"),
            "admin  system:masters|system:authenticated"
        );
    }

    #[test]
    fn a_file_that_cannot_be_used_is_told_by_the_line() {
        assert_eq!(
            whose("a,b,c\nsecret,alice\n", "secret"),
            "line 2 has 2 fields: it has to have a token, a user and a uid, and may have groups"
        );
        assert_eq!(whose("a,\"b,c", "a"), "line 1 has a quote that is not closed at the end of a field");
        assert_eq!(whose(",alice,1", ""), "line 1 begins with an empty token");
    }

    #[test]
    fn tokens_are_not_shown() {
        let shown = format!("{:?}", TokenFile::read("secret,alice,1").unwrap_or_default());
        assert!(shown.contains("alice") && !shown.contains("secret"), "{shown}");
    }
}
