//! Options of syncs that a fix sets: one that is misspelt makes room for the one that was meant.

use lynceus_object::{FieldPath, Value};

use super::near;
use crate::case::App;
use crate::fix::{Fix, Place};

/// Has an Application's syncs have an option, in the place of what stands for it now.
pub(super) fn set(fix: Fix, app: &App<'_>, option: &str) -> Fix {
    let path = FieldPath::fields(["spec", "syncPolicy", "syncOptions"]);
    let value = Value::from(option);
    let place = match standing(app, option) {
        Some((place, _)) => Place::Application { path: path.index(place), value: Some(value) },
        None => Place::ApplicationItem { path, value },
    };
    fix.git(&app.name, place)
}

/// What an Application has for an option and that nobody understands: `CreateNamespace=ture`, `CreateNamspace=true`.
pub(super) fn misspelt<'a>(app: &App<'a>, option: &str) -> Option<&'a str> {
    let (key, _) = split(option);
    let (_, word) = standing(app, option)?;
    let is_said = split(word).0 == key && matches!(split(word).1, "true" | "false");
    (!is_said).then_some(word)
}

/// The words of an annotation with an option among them, in the place of what stands for it now.
pub(super) fn annotation(words: &str, option: &str) -> String {
    let mut words: Vec<&str> = words.split(',').map(str::trim).filter(|word| !word.is_empty()).collect();
    match words.iter().position(|word| stands_for(word, option)) {
        Some(place) => words[place] = option,
        None => words.push(option),
    }
    words.join(",")
}

/// What an Application has in the place of an option, by its place in the list.
fn standing<'a>(app: &App<'a>, option: &str) -> Option<(usize, &'a str)> {
    let words = app.application().spec.sync_policy.as_ref().map(|policy| policy.sync_options.as_slice());
    let mut words = words.unwrap_or_default().iter().map(|word| word.as_str()).enumerate();
    words.find(|(_, word)| stands_for(word, option))
}

fn stands_for(word: &str, option: &str) -> bool {
    let (key, _) = split(option);
    let (own, _) = split(word);
    own == key || near::nearest(own, [key]).is_some()
}

/// The key and the value of an option.
fn split(word: &str) -> (&str, &str) {
    let (key, value) = word.split_once('=').unwrap_or((word, ""));
    (key.trim(), value.trim())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case::Case;
    use crate::tests::{check, roots_with_fixes, snapshot};

    fn lacking(words: &str) -> String {
        format!(
            "@app shop OutOfSync Missing\n@spec {{destination: {{namespace: shop}}, syncPolicy: {{syncOptions: [{words}]}}}}\napiVersion: \
             v1\nkind: ConfigMap\nmetadata: {{name: a, namespace: shop}}\n@live\napiVersion: v1\nkind: Namespace\nmetadata: {{name: \
             default}}\n"
        )
    }

    #[test]
    fn an_option_that_is_misspelt_is_told_and_replaced() {
        for word in ["CreateNamespace=ture", "CreateNamspace=true", "CreateNamespace"] {
            let text = lacking(&format!("PruneLast=true, {word}"));
            let found = check("LYN0203", &text);
            assert!(
                found.contains(&format!("nobody makes it: its sync option {word} is none that there is\n")),
                "{found}"
            );
            let fixes = roots_with_fixes(&text);
            assert!(
                fixes.contains(
                    "set spec.syncPolicy.syncOptions[1] of the Application to \"CreateNamespace=true\""
                ),
                "{fixes}"
            );
        }
        assert_eq!(check("LYN0203", &lacking("CreateNamespace=true")), "");
    }

    #[test]
    fn an_option_that_says_no_is_replaced_and_others_are_left_alone() {
        let no = lacking("CreateNamespace=false");
        assert!(!check("LYN0203", &no).contains("is none that there is"));
        assert!(roots_with_fixes(&no).contains("set spec.syncPolicy.syncOptions[0] of the Application to"));
        let other = roots_with_fixes(&lacking("PruneLast=true"));
        assert!(other.contains("add to spec.syncPolicy.syncOptions of the Application"), "{other}");
        let snapshot = snapshot(&lacking("PruneLast=ture"));
        assert_eq!(misspelt(Case::new(&snapshot).apps().next().unwrap(), "CreateNamespace=true"), None);
    }

    #[test]
    fn the_options_of_an_object_are_kept_beside_it() {
        assert_eq!(annotation("", "Replace=true"), "Replace=true");
        assert_eq!(annotation("Prune=false, Replace=ture", "Replace=true"), "Prune=false,Replace=true");
    }
}
