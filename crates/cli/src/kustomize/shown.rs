//! Paths as the user would write them.

/// A text with the paths below a directory as they are from there.
pub(super) fn from(here: &str, text: &str) -> String {
    begun(here, text, "")
}

/// A text with the paths below a directory written out in full, where they stand without the slash that they begin with.
pub(super) fn in_full(directory: &str, text: &str) -> String {
    begun(directory, text, &format!("/{}/", directory.trim_matches('/')))
}

/// A text in which `instead` stands where paths begin with a directory. That may stand in the text with a slash before it or
/// without; what only ends with its name is another one.
fn begun(directory: &str, text: &str, instead: &str) -> String {
    let below = directory.trim_matches('/');
    if below.is_empty() {
        return text.to_owned();
    }
    let needle = format!("{below}/");
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(&needle) {
        let before = &rest[..at];
        let outer = before.strip_suffix('/').unwrap_or(before);
        let begins = match outer.chars().next_back() {
            Some(letter) => !is_of_path(letter),
            // What follows the directory at once is below it, whatever it is called.
            None => rest.len() == text.len(),
        };
        if begins {
            out.push_str(outer);
            out.push_str(instead);
        } else {
            out.push_str(&rest[..at + needle.len()]);
        }
        rest = &rest[at + needle.len()..];
    }
    out.push_str(rest);
    out
}

fn is_of_path(letter: char) -> bool {
    letter.is_alphanumeric() || matches!(letter, '/' | '.' | '-' | '_' | '~' | '+' | '@' | ':' | '%')
}

#[cfg(test)]
mod tests {
    use super::{from, in_full};

    #[test]
    fn only_what_begins_with_the_directory_is_below_it() {
        assert_eq!(from("/tmp", "in '/tmp/a/k.yaml' (tmp/a/k.yaml:1:2)"), "in 'a/k.yaml' (a/k.yaml:1:2)");
        assert_eq!(from("/tmp", "rvx/tmp/ov/k.yaml and /rvx/tmp/ov"), "rvx/tmp/ov/k.yaml and /rvx/tmp/ov");
        assert_eq!(from("/tmp", "tmp/rvx/tmp/ov/k.yaml"), "rvx/tmp/ov/k.yaml");
        assert_eq!(from("/a", "/a/a/x and my-a/y, https://a/b"), "a/x and my-a/y, https://a/b");
        assert_eq!(from("/", "/a/b"), "/a/b");
        assert_eq!(in_full("/t/a", "t/a/k.yaml: no /t/a/b, x/t/a/c"), "/t/a/k.yaml: no /t/a/b, x/t/a/c");
    }
}
