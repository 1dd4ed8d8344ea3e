//! Patterns for names, paths and addresses, as Argo CD reads them: `*` is any text, `{a,b}` is either.

use regex::Regex;

/// The longest pattern that is read.
const MAX_BYTES: usize = 4_096;

/// A pattern ready to match.
#[derive(Clone, Debug)]
pub struct Glob(Matcher);

/// How a pattern matches. Most are one of the first two, and an expression takes long to make.
#[derive(Clone, Debug)]
enum Matcher {
    Anything,
    Text(Box<str>),
    Expression(Regex),
}

/// A pattern that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the pattern {pattern:?} cannot be read: {reason}")]
pub struct GlobError {
    /// The pattern.
    pub pattern: String,
    /// What is wrong with it.
    pub reason: &'static str,
}

impl Glob {
    /// Reads a pattern in which `*` crosses everything.
    pub fn new(pattern: &str) -> Result<Self, GlobError> {
        Glob::read(pattern, false)
    }

    /// Reads a pattern in which `*` stops at `/`, and `**` does not.
    pub fn with_separator(pattern: &str) -> Result<Self, GlobError> {
        Glob::read(pattern, true)
    }

    fn read(pattern: &str, separated: bool) -> Result<Self, GlobError> {
        let failed = |reason| GlobError { pattern: pattern.chars().take(200).collect(), reason };
        if pattern.len() > MAX_BYTES {
            return Err(failed("it is too long"));
        }
        if let Some(simple) = simple(pattern, separated) {
            return Ok(Glob(simple));
        }
        let expression = translate(pattern, separated).map_err(failed)?;
        // The engine runs in linear time, so that no pattern can make it hang.
        let expression = Regex::new(&expression).map_err(|_| failed("it is too large"))?;
        Ok(Glob(Matcher::Expression(expression)))
    }

    /// Whether a text matches as a whole.
    pub fn matches(&self, path: &str) -> bool {
        match &self.0 {
            Matcher::Anything => true,
            Matcher::Text(text) => **text == *path,
            Matcher::Expression(expression) => expression.is_match(path),
        }
    }
}

/// Whether a text fits one of several patterns, as namespaces are named: a pattern between slashes is a regular expression
/// that has to be found in it. One that cannot be read fits nothing.
pub fn fits_any<P: AsRef<str>>(patterns: &[P], text: &str) -> bool {
    patterns.iter().map(AsRef::as_ref).any(|pattern| {
        let expression = pattern.strip_prefix('/').and_then(|rest| rest.strip_suffix('/'));
        expression.is_some_and(|expression| {
            expression.len() <= MAX_BYTES && Regex::new(expression).is_ok_and(|found| found.is_match(text))
        }) || Glob::new(pattern).is_ok_and(|glob| glob.matches(text))
    })
}

/// A pattern that needs no expression.
fn simple(pattern: &str, separated: bool) -> Option<Matcher> {
    let stars = pattern.bytes().all(|byte| byte == b'*').then_some(pattern.len());
    match stars {
        Some(stars) if stars > usize::from(separated) => Some(Matcher::Anything),
        _ if pattern.contains(['*', '?', '{', '}', '[', '\\']) => None,
        _ => Some(Matcher::Text(pattern.into())),
    }
}

fn translate(pattern: &str, separated: bool) -> Result<String, &'static str> {
    let mut out = String::from(r"\A(?s:");
    let mut chars = pattern.chars().peekable();
    let mut alternatives = 0_usize;
    while let Some(c) = chars.next() {
        match c {
            '*' => {
                let mut stars = 1;
                while chars.next_if_eq(&'*').is_some() {
                    stars += 1;
                }
                out.push_str(if separated && stars == 1 { "[^/]*" } else { ".*" });
            }
            '?' => out.push_str(if separated { "[^/]" } else { "." }),
            '{' => {
                alternatives += 1;
                out.push_str("(?:");
            }
            '}' if alternatives > 0 => {
                alternatives -= 1;
                out.push(')');
            }
            ',' if alternatives > 0 => out.push('|'),
            '[' => class(&mut chars, &mut out)?,
            '\\' => {
                let next = chars.next().ok_or("it ends with a backslash")?;
                out.push_str(&regex::escape(&next.to_string()));
            }
            c => out.push_str(&regex::escape(&c.to_string())),
        }
    }
    if alternatives > 0 {
        return Err("a `{` is not closed");
    }
    out.push_str(r")\z");
    Ok(out)
}

/// `[abc]`, `[a-z]`, `[!a]`.
fn class(chars: &mut std::iter::Peekable<std::str::Chars<'_>>, out: &mut String) -> Result<(), &'static str> {
    out.push('[');
    if chars.next_if(|c| matches!(c, '!' | '^')).is_some() {
        out.push('^');
    }
    let mut any = false;
    loop {
        match chars.next().ok_or("a `[` is not closed")? {
            ']' if any => break,
            '-' => out.push('-'),
            '\\' => {
                let next = chars.next().ok_or("it ends with a backslash")?;
                out.push_str(&regex::escape(&next.to_string()));
            }
            c => {
                out.push_str(&regex::escape(&c.to_string()));
            }
        }
        any = true;
    }
    out.push(']');
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(pattern: &str, matching: &[&str], others: &[&str]) {
        let glob = Glob::new(pattern).unwrap();
        for path in matching {
            assert!(glob.matches(path), "{pattern} should match {path}");
        }
        for path in others {
            assert!(!glob.matches(path), "{pattern} should not match {path}");
        }
    }

    #[test]
    fn a_star_crosses_folders() {
        check("*.yaml", &["a.yaml", "b/c.yaml"], &["a.yml"]);
        check("config/**", &["config/a", "config/a/b"], &["other/config"]);
    }

    #[test]
    fn plain_texts_and_lone_stars_match_as_expressions_do() {
        check("*", &["", "a", "a/b"], &[]);
        check("", &[""], &["a"]);
        check("a.b", &["a.b"], &["axb", "a.b.c"]);
        let star = Glob::with_separator("*").unwrap();
        assert!(star.matches("a") && !star.matches("a/b"));
        assert!(Glob::with_separator("**").unwrap().matches("a/b"));
    }

    #[test]
    fn a_star_can_be_made_to_stop_at_slashes() {
        let glob = Glob::with_separator("https://host/*/app").unwrap();
        assert!(glob.matches("https://host/team/app"));
        assert!(!glob.matches("https://host/team/more/app"));
        assert!(Glob::with_separator("https://host/**").unwrap().matches("https://host/team/more/app"));
    }

    #[test]
    fn braces_are_alternatives() {
        check("{a,b/*}.yaml", &["a.yaml", "b/x.yaml"], &["c.yaml"]);
        check("{*.yml,{x,y}.json}", &["k.yml", "x.json"], &["z.json"]);
    }

    #[test]
    fn classes_and_escapes_are_single_characters() {
        check("[a-c]?.yaml", &["b1.yaml"], &["d1.yaml", "b12.yaml"]);
        check("[!a].yaml", &["b.yaml"], &["a.yaml"]);
        check(r"\*.yaml", &["*.yaml"], &["a.yaml"]);
    }

    #[test]
    fn a_pattern_between_slashes_is_a_regular_expression() {
        let fits = |patterns: &[&str], text| fits_any(patterns, text);
        assert!(fits(&["team-*"], "team-a") && !fits(&["team-*"], "my-team-a"));
        assert!(fits(&["/^team-[ab]$/"], "team-a") && !fits(&["/^team-[ab]$/"], "team-c"));
        assert!(fits(&["/eam/"], "team-a") && fits(&["x", "*"], "y"));
        assert!(!fits(&["/(/", "{"], "(") && !fits(&[], "a"));
    }

    #[test]
    fn a_broken_pattern_says_what_is_wrong() {
        assert_eq!(
            Glob::new("{a").unwrap_err().to_string(),
            "the pattern \"{a\" cannot be read: a `{` is not closed"
        );
        assert_eq!(Glob::new("[a").unwrap_err().reason, "a `[` is not closed");
    }
}
