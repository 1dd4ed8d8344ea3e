//! Names of branches as parts of names of objects.

/// The longest slug unless something else is asked for: a name has room for thirteen more characters then.
pub(crate) const USUAL: usize = 50;

/// Letters that are not ASCII's and how they are written there: one per line, the letter, a tab and the text.
const LETTERS: &str = include_str!("../data/letters.txt");

/// A text as part of a name: words of small letters and digits with dashes between them.
///
/// `whole` cuts a long text behind its last whole word, and otherwise in the middle of one. Letters of the Latin, Greek
/// and Cyrillic scripts are written in ASCII; those of others are left out.
pub fn slugify(text: &str, longest: usize, whole: bool) -> String {
    let mut text = ascii(text.trim()).to_lowercase();
    if !whole {
        text.truncate(longest);
    }
    let text = dashed(&text);
    let text = text.trim_matches(['-', '_']);
    if whole && longest > 0 { at_word(text, longest).to_owned() } else { text.to_owned() }
}

/// Anything that is no letter, digit or underscore as a dash, and one dash for several.
fn dashed(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        let fits = c.is_ascii_alphanumeric() || c == '_';
        if fits || !out.ends_with('-') {
            out.push(if fits { c } else { '-' });
        }
    }
    out
}

/// The text up to the last dash that leaves it short enough, or cut where there is none.
fn at_word(text: &str, longest: usize) -> &str {
    if text.len() <= longest {
        return text;
    }
    let cut = text.bytes().take(longest + 1).rposition(|byte| byte == b'-');
    &text[..cut.unwrap_or(longest)]
}

fn ascii(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("and"),
            '@' => out.push_str("at"),
            c if c.is_ascii() => out.push(c),
            c => out.push_str(letter(c)),
        }
    }
    out
}

fn letter(c: char) -> &'static str {
    let mut lines = LETTERS.lines().filter_map(|line| line.split_once('\t'));
    lines.find(|(letter, _)| letter.chars().eq([c])).map_or("", |(_, text)| text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn usual(text: &str) -> String {
        slugify(text, USUAL, true)
    }

    #[test]
    fn a_long_branch_is_cut_behind_a_word() {
        let branch = "feat/a_really+long_pull_request_name_to_test_argo_slugification_and_branch_name_shortening_feature";
        assert_eq!(usual(&branch.replace('_', "-")), "feat-a-really-long-pull-request-name-to-test-argo");
        let one = "areallylongpullrequestnametotestargoslugificationandbranchname";
        assert_eq!(slugify(one, 50, true), &one[..50]);
        assert_eq!(slugify("feat-areallylongpullrequestnametotestargoslugification", 49, false).len(), 49);
    }

    #[test]
    fn letters_of_other_scripts_are_written_in_ascii() {
        assert_eq!(usual("fix/Größe & Maß"), "fix-grosse-and-mass");
        assert_eq!(usual("ветка/тест"), "vetka-test");
    }
}
