//! Charts.

use super::{check, refuses};

const CHART: &str = "\
=== app/Chart.yaml
apiVersion: v2
name: web
version: 1.0.0
=== app/values.yaml
replicas: 1 # few
image:
  name: nginx
  tag: \"1.0\"
resources:
  limits:
    cpu: 1
annotations:
  example.com/team: shop
size: small
ports:
- name: http
  port: 80
sub:
  size: large
=== app/prod.yaml
replicas: 2
=== app/templates/_helpers.tpl
{{- define \"image\" -}}
{{ .name }}:{{ .tag }}
{{- end }}
=== app/templates/deploy.yaml
apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ .Release.Name }}
  annotations:
    {{- toYaml .Values.annotations | nindent 4 }}
spec:
  replicas: {{ .Values.replicas }}
  paused: false # not yet
  strategy: \"{{ .Values.size }}-{{ .Values.size }}\"
  template:
    spec:
      containers:
      - name: web
        image: {{ include \"image\" .Values.image | quote }}
        resources:
          {{- toYaml .Values.resources | nindent 10 }}
        ports:
        {{- range .Values.ports }}
        - containerPort: {{ .port }}
        {{- end }}
=== app/charts/sub/Chart.yaml
apiVersion: v2
name: sub
version: 1.0.0
=== app/charts/sub/values.yaml
size: medium
colour: red
=== app/charts/sub/templates/map.yaml
apiVersion: v1
kind: ConfigMap
metadata: {name: sub}
data:
  size: {{ .Values.size | quote }}
  colour: {{ .Values.colour }}
";

fn with(helm: &str) -> String {
    format!(
        "{CHART}=== other/env/eu.yaml\nreplicas: 7\n=== application.yaml\nkind: Application\nspec:\n  source:\n    repoURL: x\n    path: app\n    helm:\n{helm}"
    )
}

#[test]
fn a_value_is_changed_in_the_file_that_gave_it() {
    let after = check(CHART, "deployment/shop:spec.replicas", "4", "app/values.yaml 0:replicas");
    assert!(after.0[1].1.starts_with("replicas: 4 # few\n"));
    let text = with("      valueFiles: [prod.yaml]\n");
    check(&text, "deployment/shop:spec.replicas", "4", "app/prod.yaml 0:replicas");
    let text = with("      valueFiles: [prod.yaml, $values/env/eu.yaml]\n");
    check(&text, "deployment/shop:spec.replicas", "4", "$values/env/eu.yaml 0:replicas");
}

#[test]
fn a_value_is_changed_in_the_application() {
    let text = with("      valuesObject:\n        replicas: 5\n");
    check(
        &text,
        "deployment/shop:spec.replicas",
        "4",
        "Application application.yaml 0:spec.source.helm.valuesObject.replicas",
    );
    let text = with("      values: |\n        # many\n        replicas: 5\n");
    let after = check(
        &text,
        "deployment/shop:spec.replicas",
        "4",
        "Application application.yaml 0:spec.source.helm.values > 0:replicas",
    );
    assert!(after.0.last().unwrap().1.ends_with("      values: |\n        # many\n        replicas: 4\n"));
    let text = with("      parameters:\n      - name: replicas\n        value: '5'\n");
    let after = check(
        &text,
        "deployment/shop:spec.replicas",
        "4",
        "Application application.yaml 0:spec.source.helm.parameters[0].value Text",
    );
    assert!(after.0.last().unwrap().1.ends_with("value: '4'\n"));
}

#[test]
fn a_parameter_in_the_repository_is_changed_there() {
    let text = format!(
        "{CHART}=== app/.argocd-source-shop.yaml\nhelm:\n  parameters:\n  - {{name: replicas, value: \"5\"}}\n"
    );
    check(
        &text,
        "deployment/shop:spec.replicas",
        "4",
        "app/.argocd-source-shop.yaml 0:helm.parameters[0].value Text",
    );
}

#[test]
fn a_field_below_a_value_is_changed_below_it() {
    let cpu = "deployment/shop:spec.template.spec.containers[0].resources.limits.cpu";
    check(CHART, cpu, "2", "app/values.yaml 0:resources.limits.cpu");
    check(
        CHART,
        "deployment/shop:metadata.annotations[example.com/team]",
        "\"pay\"",
        "app/values.yaml 0:annotations.example.com/team",
    );
    let port = "deployment/shop:spec.template.spec.containers[0].ports[0].containerPort";
    check(CHART, port, "81", "app/values.yaml 0:ports[0].port");
}

#[test]
fn a_field_that_is_not_there_is_told_and_added_beside_another() {
    let memory = "deployment/shop:spec.template.spec.containers[0].resources.limits.memory";
    refuses(
        CHART,
        memory,
        "the rendered object has no such field; ask for one beside it, or for what would hold it",
    );
    let (files, cpu) = (super::files(CHART), memory.replace("memory", "cpu").parse().unwrap());
    let place = files.place(&cpu, None).unwrap().beside("memory").unwrap();
    let after = files.changed(&place, &crate::surgery::Change::Set("1Gi".into()));
    let field: lynceus_render::Field = memory.parse().unwrap();
    assert_eq!(field.path.get(after.object(&field).value()), Some(&"1Gi".into()));
}

#[test]
fn values_of_charts_inside_are_found() {
    check(CHART, "configmap/sub:data.size", "\"tiny\"", "app/values.yaml 0:sub.size");
    check(CHART, "configmap/sub:data.colour", "\"blue\"", "app/charts/sub/values.yaml 0:colour");
}

#[test]
fn a_literal_of_a_template_is_changed_in_its_line() {
    let after =
        check(CHART, "deployment/shop:spec.paused", "true", "app/templates/deploy.yaml line 9 paused");
    assert!(after.0[4].1.contains("  paused: true # not yet\n"));
}

#[test]
fn a_part_of_a_composed_value_is_found_by_what_is_wanted() {
    check(
        CHART,
        "deployment/shop:spec.template.spec.containers[0].image",
        "\"nginx:1.1\"",
        "app/values.yaml 0:image.tag Part { before: \"nginx:\", after: \"\" }",
    );
    check(
        CHART,
        "deployment/shop:spec.template.spec.containers[0].image",
        "\"httpd:1.0\"",
        "app/values.yaml 0:image.name Part { before: \"\", after: \":1.0\" }",
    );
}

#[test]
fn what_a_template_composes_is_told_with_its_parts() {
    refuses(
        CHART,
        "deployment/shop:spec.template.spec.containers[0].image",
        "the template composes it at app/templates/deploy.yaml:15 from .Values.image (app/values.yaml:2) and \
         .Values.image.name (app/values.yaml:3) and .Values.image.tag (app/values.yaml:4)",
    );
    refuses(
        CHART,
        "deployment/shop:spec.strategy",
        "the template composes it at app/templates/deploy.yaml:10 from .Values.size (app/values.yaml:10)",
    );
    refuses(
        CHART,
        "deployment/shop:metadata.name",
        "the template composes it at app/templates/deploy.yaml:4 from .Release.Name",
    );
}

#[test]
fn a_part_that_the_application_gives_is_told_as_its_parameter() {
    refuses(
        &with("      parameters:\n      - {name: image.tag, value: '5'}\n"),
        "deployment/shop:spec.template.spec.containers[0].image",
        "the template composes it at app/templates/deploy.yaml:15 from .Values.image (spec.source.helm.parameters[0].value of the \
         Application) and .Values.image.name (app/values.yaml:3) and .Values.image.tag (spec.source.helm.parameters[0].value of the \
         Application)",
    );
}

#[test]
fn an_application_that_is_in_no_file_is_told() {
    let text = with("      parameters:\n      - {name: replicas, value: '5'}\n");
    let files = super::files(&text);
    let field: lynceus_render::Field = "deployment/shop:spec.replicas".parse().unwrap();
    let object = files.object(&field);
    let error = files.with(|job, ground| {
        let reason = lynceus_render::explain(job, &field, &mut super::Still).unwrap().unwrap();
        let ground = super::Ground { declared: None, ..*ground };
        super::place(&ground, &reason, &object, &field.path, None).unwrap_err()
    });
    assert_eq!(
        error.to_string(),
        "spec.source.helm.parameters of the Application sets it, and the manifest of the Application is not known"
    );
}
