{{- define "external-secret" -}}
{{- with .Values.secret }}
---
apiVersion: external-secrets.io/v1
kind: ExternalSecret
metadata:
  name: {{ .name }}
spec:
  refreshInterval: 1h
  secretStoreRef:
    kind: {{ dig "store" "kind" "SecretStore" . }}
    name: {{ dig "store" "name" "acme-vault" . }}
  target:
    name: {{ .name }}
  data:
  {{- range $key := .keys }}
  - secretKey: {{ $key }}
    remoteRef: {key: {{ $.Release.Name }}, property: {{ $key }}}
  {{- end }}
{{- end }}
{{- end }}

{{- define "placement" -}}
{{- with .Values.nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}
