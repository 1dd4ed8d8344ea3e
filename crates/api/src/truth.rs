//! `true` and `false` as Go reads them.

/// Reads a truth in any of the ways that Go takes; none if the text is something else.
pub fn parse_bool(text: &str) -> Option<bool> {
    match text {
        "1" | "t" | "T" | "true" | "TRUE" | "True" => Some(true),
        "0" | "f" | "F" | "false" | "FALSE" | "False" => Some(false),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::parse_bool;

    #[test]
    fn a_truth_is_written_in_gos_ways_and_no_others() {
        for (words, expect) in [
            (["1", "t", "T", "true", "TRUE", "True"], Some(true)),
            (["0", "f", "F", "false", "FALSE", "False"], Some(false)),
            (["", " true", "tRUE", "yes", "on", "2"], None),
        ] {
            assert_eq!(words.map(parse_bool), [expect; 6]);
        }
    }
}
