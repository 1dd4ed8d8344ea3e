//! The charts that are measured: a small one, one of middle size with dependencies, and a very large one.

use std::path::Path;

/// A chart as the names and texts of its files.
pub(super) struct Chart {
    pub(super) name: &'static str,
    files: Vec<(String, String)>,
}

/// How many components the very large chart has; each has four templates.
const COMPONENTS: usize = 25;

impl Chart {
    /// What a person would begin with: one workload and what belongs to it.
    pub(super) fn small() -> Self {
        let mut chart = Chart::named("small");
        chart.add("values.yaml", SMALL_VALUES);
        chart.component("web", "");
        chart.add("templates/serviceaccount.yaml", SERVICE_ACCOUNT);
        chart.add("templates/NOTES.txt", "{{ include \"bench.fullname\" . }} is on its way.\n");
        chart
    }

    /// A dozen templates, and three charts in `charts/`, one of them twice.
    pub(super) fn medium() -> Self {
        let mut chart = Chart::named("medium");
        chart.add("values.yaml", SMALL_VALUES);
        for name in ["web", "worker", "queue"] {
            chart.component(name, "");
        }
        let mut dependencies = "dependencies:\n".to_owned();
        for (name, alias) in [("cache", ""), ("store", "primary"), ("store", "secondary"), ("proxy", "")] {
            dependencies.push_str(&format!("  - name: {name}\n    version: 1.0.0\n"));
            if !alias.is_empty() {
                dependencies.push_str(&format!("    alias: {alias}\n    condition: {alias}.enabled\n"));
            }
        }
        chart.files[0].1.push_str(&dependencies);
        for name in ["cache", "store", "proxy"] {
            let folder = format!("charts/{name}/");
            chart.add(&format!("{folder}Chart.yaml"), &metadata(name));
            chart.add(&format!("{folder}values.yaml"), SMALL_VALUES);
            chart.add(&format!("{folder}templates/_helpers.tpl"), HELPERS);
            chart.component(name, &folder);
        }
        chart
    }

    /// A hundred templates, which print ten thousand lines.
    pub(super) fn large() -> Self {
        let mut chart = Chart::named("large");
        chart.add("values.yaml", &large_values());
        for number in 0..COMPONENTS {
            chart.component(&format!("part-{number}"), "");
        }
        chart
    }

    /// Writes the files below a directory.
    pub(super) fn write(&self, directory: &Path) -> Result<(), String> {
        for (name, text) in &self.files {
            let path = directory.join(name);
            let folder = path.parent().unwrap_or(directory);
            std::fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
            std::fs::write(&path, text).map_err(|error| format!("{}: {error}", path.display()))?;
        }
        Ok(())
    }

    /// How many templates there are.
    pub(super) fn templates(&self) -> usize {
        self.files.iter().filter(|(name, _)| name.contains("templates/") && name.ends_with(".yaml")).count()
    }

    fn named(name: &'static str) -> Self {
        let mut chart = Chart { name, files: Vec::new() };
        chart.add("Chart.yaml", &metadata(name));
        chart.add("templates/_helpers.tpl", HELPERS);
        chart
    }

    fn add(&mut self, name: &str, text: &str) {
        self.files.push((name.to_owned(), text.to_owned()));
    }

    /// The templates of one workload, in the chart itself or in one below it.
    fn component(&mut self, name: &str, folder: &str) {
        let templates =
            [("workload", WORKLOAD), ("service", SERVICE), ("config", CONFIG), ("rights", RIGHTS)];
        for (kind, text) in templates {
            let text = text.replace("COMPONENT", name);
            self.add(&format!("{folder}templates/{name}-{kind}.yaml"), &text);
        }
    }
}

fn metadata(name: &str) -> String {
    format!("apiVersion: v2\nname: {name}\nversion: 1.0.0\nappVersion: \"2.3.4\"\ntype: application\n")
}

/// Values by which every component of the very large chart is made longer than that of a small one.
fn large_values() -> String {
    let mut text = SMALL_VALUES.to_owned();
    let mut add = |title: &str, lines: usize, line: &dyn Fn(usize) -> String| {
        let at = text.find(title).map_or(text.len(), |at| at + title.len());
        let more: String = (0..lines).map(line).collect();
        text.insert_str(at, &more);
    };
    add("\nenv:\n", 40, &|number| {
        format!("  SETTING_{number:02}: \"value {number} of {{{{ .Release.Name }}}}\"\n")
    });
    add("\nsettings:\n", 45, &|number| format!("  section.{number}.key: [{number}, \"{number}\", true]\n"));
    add("\nrules:\n", 8, &|number| {
        format!(
            "  - apiGroups: [\"group{number}.example.com\"]\n    resources: [things, others]\n    verbs: [get, list, watch]\n"
        )
    });
    text
}

const SMALL_VALUES: &str = r#"replicaCount: 2
image:
  repository: registry.example.com/team/app
  tag: ""
  pullPolicy: IfNotPresent
nameOverride: ""
serviceAccount:
  create: true
  annotations: {}
podAnnotations:
  example.com/owner: team
podSecurityContext:
  runAsNonRoot: true
  fsGroup: 2000
service:
  type: ClusterIP
  ports:
    - {name: http, port: 80, targetPort: 8080}
    - {name: metrics, port: 9090}
resources:
  limits: {cpu: 500m, memory: 256Mi}
  requests: {cpu: 100m, memory: 128Mi}
autoscaling:
  enabled: false
primary:
  enabled: true
secondary:
  enabled: true
env:
  LOG_LEVEL: info
  GREETING: "hello from {{ .Release.Name }}"
settings:
  server.address: ":8080"
  server.timeouts: {read: 5s, write: 10s}
rules:
  - apiGroups: [""]
    resources: [configmaps, secrets]
    verbs: [get]
nodeSelector:
  kubernetes.io/os: linux
tolerations:
  - key: dedicated
    operator: Equal
    value: app
    effect: NoSchedule
affinity: {}
"#;

const HELPERS: &str = r#"{{- define "bench.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 63 | trimSuffix "-" }}
{{- end }}
{{- define "bench.fullname" -}}
{{- $name := include "bench.name" . }}
{{- if contains $name .Release.Name }}
{{- .Release.Name | trunc 63 | trimSuffix "-" }}
{{- else }}
{{- printf "%s-%s" .Release.Name $name | trunc 63 | trimSuffix "-" }}
{{- end }}
{{- end }}
{{- define "bench.selector" -}}
app.kubernetes.io/name: {{ include "bench.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}
{{- define "bench.labels" -}}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" | trunc 63 }}
{{ include "bench.selector" . }}
{{- with .Chart.AppVersion }}
app.kubernetes.io/version: {{ . | quote }}
{{- end }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end }}
"#;

const SERVICE_ACCOUNT: &str = r#"{{- if .Values.serviceAccount.create }}
apiVersion: v1
kind: ServiceAccount
metadata:
  name: {{ include "bench.fullname" . }}
  labels:
    {{- include "bench.labels" . | nindent 4 }}
  {{- with .Values.serviceAccount.annotations }}
  annotations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
{{- end }}
"#;

const WORKLOAD: &str = r#"{{- $full := printf "%s-COMPONENT" (include "bench.fullname" .) }}
apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ $full }}
  labels:
    {{- include "bench.labels" . | nindent 4 }}
    app.kubernetes.io/component: COMPONENT
spec:
  {{- if not .Values.autoscaling.enabled }}
  replicas: {{ .Values.replicaCount }}
  {{- end }}
  selector:
    matchLabels:
      {{- include "bench.selector" . | nindent 6 }}
      app.kubernetes.io/component: COMPONENT
  template:
    metadata:
      annotations:
        checksum/config: {{ include (print $.Template.BasePath "/COMPONENT-config.yaml") . | sha256sum }}
        {{- with .Values.podAnnotations }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
      labels:
        {{- include "bench.selector" . | nindent 8 }}
        app.kubernetes.io/component: COMPONENT
    spec:
      serviceAccountName: {{ $full }}
      securityContext:
        {{- toYaml .Values.podSecurityContext | nindent 8 }}
      containers:
        - name: COMPONENT
          image: "{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}"
          imagePullPolicy: {{ .Values.image.pullPolicy }}
          env:
            {{- range $name, $value := .Values.env }}
            - name: {{ $name }}
              value: {{ tpl $value $ | quote }}
            {{- end }}
          ports:
            {{- range .Values.service.ports }}
            - name: {{ .name }}
              containerPort: {{ .targetPort | default .port }}
              protocol: TCP
            {{- end }}
          volumeMounts:
            - name: config
              mountPath: /etc/COMPONENT
          resources:
            {{- toYaml .Values.resources | nindent 12 }}
      volumes:
        - name: config
          configMap:
            name: {{ $full }}
      {{- with .Values.nodeSelector }}
      nodeSelector:
        {{- toYaml . | nindent 8 }}
      {{- end }}
      {{- with .Values.affinity }}
      affinity:
        {{- toYaml . | nindent 8 }}
      {{- end }}
      {{- with .Values.tolerations }}
      tolerations:
        {{- toYaml . | nindent 8 }}
      {{- end }}
"#;

const SERVICE: &str = r#"apiVersion: v1
kind: Service
metadata:
  name: {{ include "bench.fullname" . }}-COMPONENT
  labels:
    {{- include "bench.labels" . | nindent 4 }}
spec:
  type: {{ .Values.service.type }}
  ports:
    {{- range .Values.service.ports }}
    - port: {{ .port }}
      targetPort: {{ .name }}
      protocol: TCP
      name: {{ .name }}
    {{- end }}
  selector:
    {{- include "bench.selector" . | nindent 4 }}
    app.kubernetes.io/component: COMPONENT
"#;

const CONFIG: &str = r#"apiVersion: v1
kind: ConfigMap
metadata:
  name: {{ include "bench.fullname" . }}-COMPONENT
  labels:
    {{- include "bench.labels" . | nindent 4 }}
data:
  {{- range $key, $value := .Values.settings }}
  {{ $key }}: |
    {{- if kindIs "string" $value }}
    {{ $value }}
    {{- else }}
    {{- $value | toYaml | nindent 4 }}
    {{- end }}
  {{- end }}
  summary.json: {{ dict "component" "COMPONENT" "settings" (keys .Values.settings | sortAlpha) | toJson | quote }}
"#;

const RIGHTS: &str = r#"{{- $full := printf "%s-COMPONENT" (include "bench.fullname" .) }}
apiVersion: v1
kind: ServiceAccount
metadata:
  name: {{ $full }}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata:
  name: {{ $full }}
  labels:
    {{- include "bench.labels" . | nindent 4 }}
rules:
  {{- range .Values.rules }}
  - apiGroups: {{ .apiGroups | toJson }}
    resources:
      {{- range .resources }}
      - {{ . }}
      {{- end }}
    verbs: {{ .verbs | toJson }}
  {{- end }}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata:
  name: {{ $full }}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: {{ $full }}}
subjects:
  - kind: ServiceAccount
    name: {{ $full }}
    namespace: {{ .Release.Namespace }}
"#;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_very_large_chart_has_a_hundred_templates() {
        assert_eq!(Chart::large().templates(), 100);
        assert_eq!(Chart::medium().templates(), 24);
        assert_eq!(Chart::small().templates(), 5);
    }
}
