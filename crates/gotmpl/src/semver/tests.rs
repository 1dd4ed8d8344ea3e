use super::{Constraints, Version};

fn version(text: &str) -> String {
    Version::parse(text).map_or_else(|error| error.to_string(), |version| version.to_string())
}

#[test]
fn versions_are_read_leniently() {
    for (text, answer) in [
        ("1", "1.0.0"),
        ("v1.2", "1.2.0"),
        ("01.002.3-beta.1+build.5", "1.2.3-beta.1+build.5"),
        ("1.2.3-01", "version segment starts with 0"),
        ("1.2.3.4", "invalid semantic version"),
        ("", "invalid semantic version"),
        ("1.2.beta", "invalid semantic version"),
        (
            "99999999999999999999",
            r#"error parsing version segment: strconv.ParseUint: parsing "99999999999999999999": value out of range"#,
        ),
    ] {
        assert_eq!(version(text), answer, "{text}");
    }
}

#[test]
fn strict_versions_have_all_numbers() {
    for (text, answer) in [
        ("1.2", "invalid semantic version"),
        ("v1.2.3", "invalid characters in version"),
        ("1.02.3", "version segment starts with 0"),
        ("1.2.", "strconv.ParseUint: parsing \"\": invalid syntax"),
        ("1.2.3-", "invalid prerelease string"),
        ("1.2.3+a..b", "invalid metadata string"),
    ] {
        assert_eq!(
            Version::strict(text).map_err(|error| error.to_string()),
            Err(answer.to_owned()),
            "{text}"
        );
    }
}

#[test]
fn constraints_hold_or_not() {
    for (constraint, holds, fails) in [
        (">=1.2, <2", &["1.2.0", "1.9.9"][..], &["2.0.0", "1.1.0", "1.3.0-beta"][..]),
        ("^1.2.3", &["1.2.3", "1.9.0"], &["2.0.0", "1.2.2"]),
        ("^0.2", &["0.2.9"], &["0.3.0", "1.2.0"]),
        ("~1.2", &["1.2.9"], &["1.3.0"]),
        ("1.x", &["1.9.9"], &["2.0.0"]),
        ("*", &["0.0.1", "9.9.9"], &["1.0.0-rc.1"]),
        (">1", &["2.0.0"], &["1.5.0"]),
        ("<=1.2", &["1.2.9"], &["1.3.0"]),
        ("1.0 - 1.4", &["1.0.0", "1.4.9"], &["1.5.0"]),
        (">=1.0.0-0", &["1.1.0-alpha"], &["1.0.0-"]),
        ("!=1.2.x || 3", &["1.3.0", "3.4.5"], &["1.2.7"]),
    ] {
        let parsed = Constraints::parse(constraint).unwrap();
        let check = |text: &&str| Version::parse(text).is_ok_and(|version| parsed.check(&version));
        assert!(holds.iter().all(check), "{constraint}");
        assert!(!fails.iter().any(check), "{constraint}");
    }
}

#[test]
fn what_is_no_constraint_is_told() {
    for (text, answer) in [
        ("", r#"improper constraint: """#),
        (">>1", r#"improper constraint: ">>1""#),
        ("1.2.3.4", r#"improper constraint: "1.2.3.4""#),
        (">=1.0 - 2.0", r#"improper constraint: ">=>= 1.0, <= 2.0 ""#),
        ("1|2", "constraint parser error"),
    ] {
        assert_eq!(
            Constraints::parse(text).map(|c| c.to_string()).map_err(|e| e.to_string()),
            Err(answer.to_owned())
        );
    }
}
