{{- define "sluicegate.fullname" -}}
{{- if contains .Chart.Name .Release.Name }}{{ .Release.Name | trunc 57 | trimSuffix "-" }}{{ else }}{{ printf "%s-%s" .Release.Name .Chart.Name | trunc 57 | trimSuffix "-" }}{{ end }}
{{- end }}

{{- define "sluicegate.selector" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "sluicegate.labels" -}}
{{ include "sluicegate.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- end }}

{{- define "sluicegate.serviceAccount" -}}
{{ .Values.serviceAccount.name | default (include "sluicegate.fullname" .) }}
{{- end }}

{{- define "sluicegate.image" -}}
{{- with .Values.image }}{{ .repository }}{{ if .digest }}@{{ .digest }}{{ else }}:{{ .tag | default $.Chart.AppVersion }}{{ end }}{{ end }}
{{- end }}

{{- define "sluicegate.configMap" -}}
{{ .Values.dbless.existingConfigMap | default (printf "%s-config" (include "sluicegate.fullname" .)) }}
{{- end }}

{{/* Settings that the values lead to; `settings` takes precedence. Names are those of docs/settings.md. */}}
{{- define "sluicegate.settings" -}}
{{- $settings := dict
  "prefix" "/var/lib/sluicegate"
  "nginx_worker_processes" .Values.workers
  "log_format" "json"
  "proxy_access_log" "/dev/stdout"
  "proxy_stream_access_log" "/dev/stdout basic"
  "admin_access_log" "/dev/stdout"
  "status_listen" "0.0.0.0:8100"
  "admin_listen" (ternary "0.0.0.0:8001" "127.0.0.1:8001" .Values.admin.service)
  "shutdown_delay" (printf "%vs" .Values.shutdown.delaySeconds)
  "drain_timeout" (printf "%vs" .Values.shutdown.drainSeconds)
}}
{{- if .Values.proxy.hostPorts }}
{{- $_ := set $settings "port_maps" "80:8000, 443:8443" }}
{{- else }}
{{- $_ := set $settings "port_maps" (printf "%v:8000, %v:8443" .Values.proxy.service.httpPort .Values.proxy.service.httpsPort) }}
{{- end }}
{{- if eq .Values.mode "db-less" }}
{{- $_ := set $settings "database" "off" }}
{{- $_ := set $settings "declarative_config" "/etc/sluicegate/config/kong.yml" }}
{{- else }}
{{- $_ := set $settings "database" "postgres" }}
{{- $_ := set $settings "pg_host" (required "postgres.host is required with mode=postgres" .Values.postgres.host) }}
{{- $_ := set $settings "pg_port" .Values.postgres.port }}
{{- $_ := set $settings "pg_user" .Values.postgres.user }}
{{- $_ := set $settings "pg_database" .Values.postgres.database }}
{{- $_ := set $settings "pg_ssl" (ternary "on" "off" .Values.postgres.tls) }}
{{- $_ := set $settings "pg_ssl_verify" (ternary "on" "off" .Values.postgres.tls) }}
{{- $_ := set $settings "pg_password_file" "/run/secrets/sluicegate/postgres/password" }}
{{- end }}
{{- if .Values.tls.secretName }}
{{- $_ := set $settings "ssl_cert" "/run/secrets/sluicegate/tls/tls.crt" }}
{{- $_ := set $settings "ssl_cert_key" "/run/secrets/sluicegate/tls/tls.key" }}
{{- end }}
{{- if .Values.admin.tokenSecretName }}
{{- $_ := set $settings "admin_token_file" "/run/secrets/sluicegate/admin/token" }}
{{- end }}
{{- range $name, $value := .Values.settings }}{{ $_ := set $settings $name $value }}{{ end }}
{{- range $name, $value := $settings }}
- name: SLUICEGATE_{{ upper $name }}
  value: {{ $value | toString | quote }}
{{- end }}
{{- end }}
