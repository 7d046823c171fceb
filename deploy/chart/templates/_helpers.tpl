{{/* The name of all objects: that of the release, with the name of the chart unless it contains it. */}}
{{- define "guard.name" -}}
{{- if contains .Chart.Name .Release.Name }}{{ .Release.Name }}{{ else }}{{ .Release.Name }}-{{ .Chart.Name }}{{ end }}
{{- end }}

{{- define "guard.selector" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/component: server
{{- end }}

{{- define "guard.redisSelector" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/component: redis
{{- end }}

{{- define "guard.labels" -}}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end }}

{{- define "guard.image" -}}
{{- with .Values.image -}}
{{- if .digest }}{{ .repository }}@{{ .digest }}{{ else }}{{ .repository }}:{{ .tag | default $.Chart.AppVersion }}{{ end }}
{{- end -}}
{{- end }}

{{- define "guard.config" -}}
{{- .Values.config | default (.Files.Get "scanners.yml") -}}
{{- end }}

{{- define "guard.isScaled" -}}
{{- if and (eq .Values.kind "Deployment") (ne .Values.autoscaling.method "none") }}true{{ end }}
{{- end }}

{{/* Values that contradict each other. */}}
{{- define "guard.check" -}}
{{- with .Values -}}
{{- if and (eq .kind "DaemonSet") (ne .autoscaling.method "none") -}}
{{- fail "autoscaling.method: a DaemonSet has one pod on each node, so it must be none" -}}
{{- end -}}
{{- if gt (int .autoscaling.minReplicas) (int .autoscaling.maxReplicas) -}}
{{- fail "autoscaling.minReplicas: must not exceed maxReplicas" -}}
{{- end -}}
{{- end -}}
{{- end }}
