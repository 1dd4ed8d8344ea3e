//! What a line of a template does with the values that it is given.

/// The functions that print a value as it is, or nearly so: what is given is what is seen.
const PASSING: [&str; 15] = [
    "toYaml",
    "toYamlPretty",
    "toJson",
    "quote",
    "squote",
    "nindent",
    "indent",
    "int",
    "int64",
    "float64",
    "toString",
    "default",
    "trim",
    "required",
    "toStrings",
];

/// Whether a line has an action that prints a value as it was given.
pub(super) fn passes_on(line: &str) -> bool {
    actions(line).any(|action| action.split('|').all(is_passing))
}

/// Whether a line has any action.
pub(super) fn has_action(line: &str) -> bool {
    line.contains("{{") || line.contains("}}")
}

fn actions(line: &str) -> impl Iterator<Item = &str> {
    line.split("{{").skip(1).map(|rest| {
        let action = rest.split("}}").next().unwrap_or(rest);
        action.trim_start_matches('-').trim_end_matches('-').trim()
    })
}

/// Whether a command of a pipeline is a value, or a function that passes one on.
fn is_passing(command: &str) -> bool {
    let mut words = command.split_whitespace();
    let Some(first) = words.next() else { return false };
    let is_value = |word: &str| word.starts_with(['.', '$']);
    if is_value(first) {
        return words.next().is_none();
    }
    PASSING.contains(&first)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_passed_on_through_what_only_formats_it() {
        for line in [
            "a: {{ .Values.a }}",
            "a: {{- .Values.a | quote -}}",
            "  {{- toYaml .Values.a | nindent 4 }}",
            "a: {{ $x.a | default \"b\" | int }}",
            "a: {{ default 1 .Values.a }}",
        ] {
            assert!(passes_on(line), "{line}");
        }
        for line in
            ["a: b", "a: {{ include \"x\" . }}", "{{ if .Values.a }}", "a: {{ .Values.a | b64enc }}", "{{ }}"]
        {
            assert!(!passes_on(line), "{line}");
        }
    }
}
