//! Lines that fit into a terminal.

/// How wide lines become. What has no blank in it stays whole, so that it can be copied.
const WIDTH: usize = 120;

/// Writes a text as lines: the first with one indent, those that follow with another.
pub(super) fn wrap(text: &str, first: &str, rest: &str, out: &mut String) {
    out.push_str(first);
    let mut width = first.chars().count();
    let mut is_begun = false;
    for word in text.split(' ') {
        let length = word.chars().count();
        if is_begun && width + 1 + length > WIDTH {
            out.push('\n');
            out.push_str(rest);
            width = rest.chars().count();
        } else if is_begun {
            out.push(' ');
            width += 1;
        }
        out.push_str(word);
        width += length;
        is_begun = true;
    }
    out.push('\n');
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wrapped(text: &str) -> String {
        let mut out = String::new();
        wrap(text, "- ", "  ", &mut out);
        out
    }

    #[test]
    fn what_fits_stays_on_its_line() {
        assert_eq!(wrapped("a b"), "- a b\n");
        assert_eq!(wrapped(""), "- \n");
    }

    #[test]
    fn what_is_too_long_goes_on_below_and_words_stay_whole() {
        let (long, short) = ("x".repeat(200), "y".repeat(100));
        assert_eq!(wrapped(&format!("{short} {short}")), format!("- {short}\n  {short}\n"));
        assert_eq!(wrapped(&format!("a {long} b")), format!("- a\n  {long}\n  b\n"));
    }
}
