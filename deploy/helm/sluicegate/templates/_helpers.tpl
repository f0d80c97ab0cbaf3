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

{{/* Whether the pods carry traffic, have the Admin API, and where their config comes from: empty for no. */}}
{{- define "sluicegate.hasProxy" -}}{{ if ne .Values.role "control_plane" }}true{{ end }}{{- end }}
{{- define "sluicegate.hasAdmin" -}}{{ if ne .Values.role "data_plane" }}true{{ end }}{{- end }}
{{- define "sluicegate.hasFile" -}}{{ if and (eq .Values.role "traditional") (eq .Values.mode "db-less") }}true{{ end }}{{- end }}
{{- define "sluicegate.hasDatabase" -}}{{ if and (ne .Values.role "data_plane") (eq .Values.mode "postgres") }}true{{ end }}{{- end }}

{{/* Settings that the values lead to; `settings` takes precedence. Names are those of docs/settings.md. */}}
{{- define "sluicegate.settings" -}}
{{- $settings := dict
  "prefix" "/var/lib/sluicegate"
  "log_format" "json"
  "status_listen" "0.0.0.0:8100"
  "shutdown_delay" (printf "%vs" .Values.shutdown.delaySeconds)
  "drain_timeout" (printf "%vs" .Values.shutdown.drainSeconds)
}}
{{- if include "sluicegate.hasProxy" . }}
{{- $_ := set $settings "nginx_worker_processes" .Values.workers }}
{{- $_ := set $settings "proxy_access_log" "/dev/stdout" }}
{{- $_ := set $settings "proxy_stream_access_log" "/dev/stdout basic" }}
{{- if .Values.proxy.hostPorts }}
{{- $_ := set $settings "port_maps" "80:8000, 443:8443" }}
{{- else }}
{{- $_ := set $settings "port_maps" (printf "%v:8000, %v:8443" .Values.proxy.service.httpPort .Values.proxy.service.httpsPort) }}
{{- end }}
{{- end }}
{{- if include "sluicegate.hasAdmin" . }}
{{- $_ := set $settings "admin_access_log" "/dev/stdout" }}
{{- $_ := set $settings "admin_listen" (ternary "0.0.0.0:8001" "127.0.0.1:8001" .Values.admin.service) }}
{{- end }}
{{- if ne .Values.role "traditional" }}
{{- $_ := set $settings "role" .Values.role }}
{{- $_ := set $settings "cluster_mtls" .Values.cluster.mtls }}
{{- $_ := set $settings "cluster_cert" "/run/secrets/sluicegate/cluster/tls.crt" }}
{{- $_ := set $settings "cluster_cert_key" "/run/secrets/sluicegate/cluster/tls.key" }}
{{- if eq .Values.cluster.mtls "pki" }}
{{- $_ := set $settings "cluster_ca_cert" "/run/secrets/sluicegate/cluster-ca/ca.crt" }}
{{- end }}
{{- end }}
{{- if eq .Values.role "control_plane" }}
{{- $_ := set $settings "cluster_listen" "0.0.0.0:8005" }}
{{- end }}
{{- if eq .Values.role "data_plane" }}
{{- $_ := set $settings "database" "off" }}
{{- $_ := set $settings "cluster_control_plane" (join ", " .Values.cluster.controlPlanes) }}
{{- with .Values.cluster.serverName }}{{ $_ := set $settings "cluster_server_name" . }}{{ end }}
{{- $labels := list }}
{{- range $name, $value := .Values.cluster.labels }}{{ $labels = append $labels (printf "%s:%s" $name $value) }}{{ end }}
{{- with $labels }}{{ $_ := set $settings "cluster_dp_labels" (join ", " .) }}{{ end }}
{{- end }}
{{- if include "sluicegate.hasFile" . }}
{{- $_ := set $settings "database" "off" }}
{{- $_ := set $settings "declarative_config" "/etc/sluicegate/config/kong.yml" }}
{{- end }}
{{- if include "sluicegate.hasDatabase" . }}
{{- $_ := set $settings "database" "postgres" }}
{{- $_ := set $settings "pg_host" (required "postgres.host is required with mode=postgres" .Values.postgres.host) }}
{{- $_ := set $settings "pg_port" .Values.postgres.port }}
{{- $_ := set $settings "pg_user" .Values.postgres.user }}
{{- $_ := set $settings "pg_database" .Values.postgres.database }}
{{- $_ := set $settings "pg_ssl" (ternary "on" "off" .Values.postgres.tls) }}
{{- $_ := set $settings "pg_ssl_verify" (ternary "on" "off" .Values.postgres.tls) }}
{{- $_ := set $settings "pg_password_file" "/run/secrets/sluicegate/postgres/password" }}
{{- end }}
{{- if and .Values.tls.secretName (include "sluicegate.hasProxy" .) }}
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
