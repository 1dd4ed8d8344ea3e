{{- define "kube-prome.name" -}}
{{ printf "%s-kube-prome" .Release.Name | trunc 40 | trimSuffix "-" }}
{{- end }}

{{- define "kube-prome.serviceAccount" -}}
{{ .Values.prometheus.serviceAccount.name | default (printf "%s-prometheus" (include "kube-prome.name" .)) }}
{{- end }}
