//! Names as Kubernetes takes them.

/// The longest name of an object.
const LONGEST: usize = 253;

/// A text as the name of an object: small letters, digits, dashes and dots, beginning and ending with neither of the two.
pub fn normalize(text: &str) -> String {
    let fits = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '-' | '.');
    let mut name: String = text.to_lowercase().chars().map(|c| if fits(c) { c } else { '-' }).collect();
    name.truncate(LONGEST);
    name.trim_matches(['-', '.']).to_owned()
}

/// What is wrong with the name of an Application, if anything is.
pub(crate) fn problem(name: &str) -> Option<&'static str> {
    let fits = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '-' | '.');
    let ends = |c: Option<char>| c.is_some_and(|c| c.is_ascii_lowercase() || c.is_ascii_digit());
    let part = |part: &str| ends(part.chars().next()) && ends(part.chars().next_back());
    match name {
        "" => Some("it is empty"),
        _ if name.contains("{{") => Some("a placeholder in it was not filled"),
        _ if name.len() > LONGEST => Some("it is longer than 253 characters"),
        _ if !name.chars().all(fits) => Some("only small letters, digits, '-' and '.' may stand in it"),
        _ if !name.split('.').all(part) => {
            Some("it and each of its parts must begin and end with a letter or a digit")
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_fit_becomes_a_dash() {
        assert_eq!(normalize("Team_A/Web App."), "team-a-web-app");
        assert_eq!(normalize("..a.b--"), "a.b");
        assert_eq!(normalize("Größe"), "gr--e");
        assert_eq!(normalize(&"a".repeat(300)).len(), 253);
    }

    #[test]
    fn a_name_says_what_is_wrong_with_it() {
        assert_eq!(problem("web-1.eu"), None);
        for (name, word) in
            [("", "empty"), ("a-{{x}}", "placeholder"), ("Web", "small letters"), ("a-", "begin and end")]
        {
            assert!(problem(name).is_some_and(|told| told.contains(word)), "{name}");
        }
    }
}
