//! `.helmignore`.

use crate::go::{path, pattern, text};

/// The rules of one `.helmignore`, and Helm's own.
#[derive(Clone, Debug, Default)]
pub(super) struct Rules {
    rules: Vec<Rule>,
}

#[derive(Clone, Debug)]
struct Rule {
    pattern: String,
    /// Whether a name that does not match is left out, instead of one that does.
    negated: bool,
    only_directories: bool,
    /// Whether the pattern is for the whole path, not only for the last part.
    whole: bool,
}

impl Rules {
    /// Reads the rules, and adds that hidden files in `templates/` are left out.
    pub(super) fn read(data: &[u8]) -> Result<Self, String> {
        let data = String::from_utf8_lossy(data);
        let mut rules = Rules::default();
        for line in data.trim_start_matches('\u{feff}').lines() {
            rules.add(line)?;
        }
        rules.add("templates/.?*")?;
        Ok(rules)
    }

    fn add(&mut self, line: &str) -> Result<(), String> {
        let line = text::trim(line);
        if line.is_empty() || line.starts_with('#') {
            return Ok(());
        }
        if line.contains("**") {
            return Err("double-star (**) syntax is not supported".to_owned());
        }
        if pattern::matches(line, "abc").is_err() {
            return Err("syntax error in pattern".to_owned());
        }
        let (negated, line) = line.strip_prefix('!').map_or((false, line), |rest| (true, rest));
        let (only_directories, line) = line.strip_suffix('/').map_or((false, line), |rest| (true, rest));
        let (whole, pattern) = match line.strip_prefix('/') {
            Some(rest) => (true, rest),
            None => (line.contains('/'), line),
        };
        self.rules.push(Rule { pattern: pattern.to_owned(), negated, only_directories, whole });
        Ok(())
    }

    /// Whether the file or directory is left out. The first rule that says something decides.
    pub(super) fn ignore(&self, name: &str, is_directory: bool) -> bool {
        for rule in &self.rules {
            let applies = !rule.only_directories || is_directory;
            let hit = applies && rule.matches(name);
            if hit != rule.negated {
                return true;
            }
        }
        false
    }
}

impl Rule {
    fn matches(&self, name: &str) -> bool {
        let name = if self.whole { name } else { path::base(name) };
        pattern::matches(&self.pattern, name).unwrap_or(false)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(rules: &str, name: &str, expected: bool) {
        let is_directory = name.ends_with('/');
        let rules = Rules::read(rules.as_bytes()).unwrap();
        assert_eq!(rules.ignore(name.trim_end_matches('/'), is_directory), expected, "{rules:?} {name}");
    }

    #[test]
    fn rules_match_as_helms_do() {
        check("# a comment\n\n*.txt\n", "a/b.txt", true);
        check("/*.txt", "a/b.txt", false);
        check("/*.txt", "b.txt", true);
        check("docs/", "docs", false);
        check("docs/", "docs/", true);
        check("a/*.md", "a/b.md", true);
        check("a/*.md", "x/a/b.md", false);
        check("  *.md  ", "b.md", true);
        check("\u{feff}*.md", "b.md", true);
        check("", "templates/.hidden", true);
        check("", ".hidden", false);
        check(".*", ".git/", true);
    }

    #[test]
    fn a_negated_rule_leaves_out_all_the_rest() {
        check("!keep.txt", "keep.txt", false);
        check("!keep.txt", "other.txt", true);
        check("!keep/", "keep", true);
        check("!*.txt\nb.txt", "b.txt", true);
    }

    #[test]
    fn what_git_would_take_is_refused() {
        assert_eq!(Rules::read(b"a/**/b").unwrap_err(), "double-star (**) syntax is not supported");
        assert_eq!(Rules::read(b"a[").unwrap_err(), "syntax error in pattern");
    }
}
