//! Which part of a template, and which values, made a piece of the output.

use crate::{Options, run_within, zero};
use lynceus_gotmpl::{Made, Trace};

fn traced(text: &str) -> Trace {
    let (result, trace) = run_within(text, Options { trace: true, ..zero() });
    let output = result.expect("no error");
    let trace = trace.expect("a trace");
    assert_eq!(*trace.text(), output);
    trace
}

fn paths(made: &Made) -> String {
    made.paths.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
}

/// Shows what made the first occurrence of a piece: where, by which templates, from which values.
#[track_caller]
fn check(text: &str, piece: &str, expected: &str) {
    let trace = traced(text);
    let at = trace.text().find(piece).unwrap_or_else(|| panic!("{piece:?} is not in {:?}", trace.text()));
    let made = trace.at(at).expect("something made it");
    let calls: Vec<&str> = made.calls.iter().map(|call| call.template.as_str()).collect();
    let conditions: Vec<String> = made.conditions.iter().map(ToString::to_string).collect();
    let mut shown = format!("{} {} {}", made.location, calls.join(">"), paths(&made));
    if !conditions.is_empty() {
        shown += &format!(" if {}", conditions.join(" "));
    }
    assert_eq!(shown.trim_end(), expected, "{piece:?} in {:?}", trace.text());
}

#[test]
fn text_and_actions_are_told_apart() {
    let text = "kind: x\nname: {{ .Values.name }}\nend";
    check(text, "web", "t:2:9 t .Values.name");
    check(text, "name:", "t:2:0 t");
    check(text, "end", "t:3:0 t");
}

#[test]
fn functions_unite_the_paths_of_their_arguments() {
    check(
        "{{ printf \"%s:%s\" .Values.image.repository .Values.image.tag | quote }}",
        "nginx",
        "t:1:3 t .Values.image.repository .Values.image.tag",
    );
    check("{{ .Values.nope | default .Values.name }}", "web", "t:1:3 t .Values.name .Values.nope");
    check("{{ index .Values \"image\" \"tag\" }}", "1.29", "t:1:3 t .Values.image.tag");
    check("{{ (or .Values.nope .Values.image).tag }}", "1.29", "t:1:3 t .Values.image.tag");
    check("{{ (default (dict) .Values.image).tag }}", "1.29", "t:1:3 t .Values.image.tag");
    check("{{ or .Values.nope .Values.name }}", "web", "t:1:3 t .Values.name .Values.nope");
}

#[test]
fn dot_variables_and_elements_keep_their_paths() {
    check(
        "{{ with .Values.image }}{{ .tag }}{{ end }}",
        "1.29",
        "t:1:27 t .Values.image.tag if .Values.image",
    );
    check("{{ $i := .Values.image }}{{ $i.tag }}", "1.29", "t:1:28 t .Values.image.tag");
    check("{{ range .Values.ports }}{{ . }},{{ end }}", "443", "t:1:28 t .Values.ports[1] if .Values.ports");
    check(
        "{{ range $k, $v := .Values.labels }}{{ $k }}={{ $v }},{{ end }}",
        "2",
        "t:1:48 t .Values.labels.b if .Values.labels",
    );
}

#[test]
fn includes_keep_their_places_through_indentation() {
    let text = "{{ define \"labels\" }}app: {{ .Values.name }}\nrel: {{ .Release.Name }}{{ end }}labels: {{- include \"labels\" . | nindent 4 }}\n";
    check(text, "web", "t:1:29 t>labels .Values.name");
    check(text, "rel:", "t:2:0 t>labels");
    check(text, "rel\n", "t:2:8 t>labels .Release.Name");
}

#[test]
fn a_text_that_was_chosen_is_fed_by_what_it_was_chosen_by() {
    let made_up = "{{ define \"x\" }}{{ .Release.Name }}-x{{ end }}";
    for choice in
        ["default (include \"x\" .) .Values.nope", ".Values.nope | default (include \"x\" .) | quote"]
    {
        let trace = traced(&format!("{made_up}a: {{{{ {choice} }}}}"));
        let at = trace.text().find("-x").expect("it is printed");
        let paths = paths(&trace.at(at).expect("made"));
        assert!(paths.split(' ').any(|path| path == ".Values.nope"), "{choice}: {paths}");
    }
    let both =
        "{{ define \"x\" }}{{ .Release.Name }}{{ end }}{{ printf \"%s-%s\" (include \"x\" .) .Values.name }}";
    check(both, "rel", "t:1:19 t>x .Release.Name");
}

#[test]
fn arguments_in_a_dict_keep_their_paths() {
    let text = "{{ define \"x\" }}{{ .image.tag }} {{ .name }} {{ .root.Release.Name }}{{ end }}\
                {{ include \"x\" (dict \"image\" .Values.image \"name\" .Values.name \"root\" $) }}";
    check(text, "1.29", "t:1:19 t>x .Values.image.tag");
    check(text, "web", "t:1:36 t>x .Values.name");
    check(text, "rel", "t:1:48 t>x .Release.Name");
}

#[test]
fn yaml_is_traced_line_by_line() {
    let text = "image: {{- toYaml .Values.image | nindent 2 }}\n";
    check(text, "nginx", "t:1:11 t .Values.image.repository");
    check(text, "1.29", "t:1:11 t .Values.image.tag");
}

#[test]
fn templates_in_values_are_traced() {
    check("{{ tpl .Values.template . }}", "web", "set:1:3 t>set .Values.name .Values.template");
    check("{{ tpl .Values.template . }}", "!", "set:1:18 t>set .Values.template");
    let rendered = "{{ define \"render\" }}{{ tpl (toYaml .value) .context }}{{ end }}\
                    {{ include \"render\" (dict \"value\" .Values.image \"context\" $) | nindent 2 }}";
    check(rendered, "nginx", "set:1:12 t>render>set .Values.image.repository");
    check(rendered, "1.29", "set:2:5 t>render>set .Values.image.tag");
}

#[test]
fn conditions_are_told() {
    check("{{ if .Values.on }}x{{ end }}", "x", "t:1:19 t  if .Values.on");
    let text =
        "{{ define \"x\" }}[{{ .Values.name }}]{{ end }}{{ if .Values.on }}{{ include \"x\" . }}{{ end }}";
    check(text, "web", "t:1:20 t>x .Values.name if .Values.on");
}

#[test]
fn text_can_be_taken_out_afterwards() {
    let trace = traced("a{{ .Values.nope }}{{ .Values.name }}b").without("<no value>");
    assert_eq!(trace.text().as_str(), "awebb");
    assert_eq!(paths(&trace.at(1).expect("made")), ".Values.name");
    assert_eq!(trace.at_line(1, 4).expect("made").location.to_string(), "t:1:37");
}
