//! Parsing a chart's templates and executing them, with and without a trace.

#![allow(missing_docs, reason = "criterion's macros make functions that cannot be documented")]

use std::any::Any;
use std::hint::black_box;
use std::sync::Arc;
use std::time::Duration;

use criterion::{Criterion, criterion_group, criterion_main};
use lynceus_gotmpl::{
    Context, Environment, Functions, MissingKey, Options, Str, Templates, Value, signature, sprig,
};

const HELPERS: &str = r#"
{{- define "app.name" -}}{{ default .Chart.Name .Values.nameOverride | trunc 63 | trimSuffix "-" }}{{- end }}
{{- define "app.fullname" -}}
{{- if .Values.fullnameOverride }}{{ .Values.fullnameOverride | trunc 63 | trimSuffix "-" }}
{{- else }}{{ printf "%s-%s" .Release.Name (include "app.name" .) | trunc 63 | trimSuffix "-" }}{{- end }}
{{- end }}
{{- define "app.labels" -}}
app.kubernetes.io/name: {{ include "app.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
{{- end }}
"#;

const DEPLOYMENT: &str = r#"
apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ include "app.fullname" . }}
  labels:
    {{- include "app.labels" . | nindent 4 }}
spec:
  {{- if not .Values.autoscaling.enabled }}
  replicas: {{ .Values.replicaCount }}
  {{- end }}
  template:
    metadata:
      {{- with .Values.podAnnotations }}
      annotations:
        {{- range $key, $value := . }}
        {{ $key }}: {{ $value | quote }}
        {{- end }}
      {{- end }}
    spec:
      containers:
        - name: {{ .Chart.Name }}
          image: "{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}"
          ports:
            {{- range .Values.ports }}
            - name: {{ .name }}
              containerPort: {{ .port | int }}
            {{- end }}
"#;

struct Nowhere(());

impl Environment for Nowhere {
    fn now(&self) -> Duration {
        Duration::ZERO
    }

    fn random(&mut self, bytes: &mut [u8]) {
        bytes.fill(0);
    }

    fn host(&mut self) -> &mut dyn Any {
        &mut self.0
    }
}

fn functions() -> Functions {
    let mut all = sprig::functions();
    all.add("include", signature!((STRING, ANY) -> STRING), |context, args| {
        let name = args[0].as_str().cloned().unwrap_or_default();
        Ok(Value::Str(context.execute(&name, args[1].clone())?))
    });
    all
}

fn dot() -> Value {
    let text = |text: &str| Value::from(text);
    let port = |name, port: f64| Value::map([("name", text(name)), ("port", Value::from(port))]);
    let values = Value::map([
        ("replicaCount", Value::from(3.0)),
        ("autoscaling", Value::map([("enabled", Value::from(false))])),
        ("podAnnotations", Value::map([("checksum/config", text("abc")), ("team", text("web"))])),
        ("image", Value::map([("repository", text("registry.example.com/web")), ("tag", text(""))])),
        ("ports", Value::list([port("http", 8080.0), port("metrics", 9090.0)])),
    ]);
    Value::map([
        ("Values", values),
        ("Chart", Value::map([("Name", text("web")), ("AppVersion", text("1.29.0"))])),
        ("Release", Value::map([("Name", text("rel"))])),
    ])
}

fn parsed(functions: &Arc<Functions>) -> Templates {
    let mut set = Templates::new("bench", Arc::clone(functions));
    for (name, text) in [("_helpers.tpl", HELPERS), ("deployment.yaml", DEPLOYMENT)] {
        if let Err(error) = set.parse(&name.into(), &Str::from(text)) {
            panic!("{error}");
        }
    }
    set
}

fn render(set: &Arc<Templates>, dot: &Value, trace: bool) -> usize {
    let mut world = Nowhere(());
    let options = Options { missing_key: MissingKey::Zero, trace, ..Options::default() };
    let mut context = Context::new(Arc::clone(set), &mut world, options);
    match context.execute("deployment.yaml", dot.clone()) {
        Ok(text) => text.len() + usize::from(context.take_trace().is_some()),
        Err(error) => panic!("{error}"),
    }
}

fn templates(criterion: &mut Criterion) {
    let functions = Arc::new(functions());
    let set = Arc::new(parsed(&functions));
    let dot = dot();
    let mut group = criterion.benchmark_group("deployment");
    group.bench_function("parse", |bencher| bencher.iter(|| black_box(parsed(&functions).names().len())));
    group.bench_function("render", |bencher| bencher.iter(|| black_box(render(&set, &dot, false))));
    group.bench_function("render traced", |bencher| bencher.iter(|| black_box(render(&set, &dot, true))));
    group.finish();
}

criterion_group!(benches, templates);
criterion_main!(benches);
