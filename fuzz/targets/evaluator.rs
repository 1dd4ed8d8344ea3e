//! Any bytes as the only template of a chart, which has all functions, some values and named templates to call.
#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use lynceus_files::{FilePath, MemoryTree};
use lynceus_fuzz::{tree, try_chart};
use lynceus_helm::Chart;

const CHART: &[u8] = b"\
==> Chart.yaml
apiVersion: v2
name: c
version: 1.0.0
appVersion: 1.29.0
==> values.yaml
name: web
count: 3
ratio: 0.5
enabled: true
nothing: null
empty: ''
ports: [80, 443]
labels: {a: one, b: two}
nested: {list: [{name: x, value: '1'}, {name: y, value: '2'}], deep: {er: {est: end}}}
text: \"{{ .Values.name }}-{{ include \\\"c.name\\\" . }}\"
yaml: \"a: [1, {b: c}]\\nd: |\\n  e\\n\"
json: '{\"a\": [1, 2.5, null], \"b\": \"<&>\"}'
x: 1
list: [b, a, c]
==> templates/_helpers.tpl
{{- define \"c.name\" }}{{ .Values.name | default .Chart.Name | trunc 63 }}{{ end }}
{{- define \"c.labels\" }}
a: {{ include \"c.name\" . | quote }}
{{- end }}
==> config/a.conf
one
two
";

static TREE: LazyLock<MemoryTree> = LazyLock::new(|| tree(CHART));

fuzz_target!(|data: &[u8]| {
    let mut tree = TREE.clone();
    let Ok(path) = FilePath::new("templates/t.yaml") else { return };
    tree.insert(path, data.to_vec());
    if let Ok(chart) = Chart::from_tree(&tree, &FilePath::root()) {
        try_chart(chart);
    }
});
