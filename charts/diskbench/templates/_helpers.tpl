{{/*
Copyright The diskbench Authors.
SPDX-License-Identifier: Apache-2.0
*/}}

{{- define "diskbench.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 63 | trimSuffix "-" }}
{{- end }}

{{/* The name of the release's objects, short enough for a suffix. */}}
{{- define "diskbench.fullname" -}}
{{- $name := default .Chart.Name .Values.nameOverride }}
{{- if .Values.fullnameOverride }}
{{- $name = .Values.fullnameOverride }}
{{- else if not (contains $name .Release.Name) }}
{{- $name = printf "%s-%s" .Release.Name $name }}
{{- else }}
{{- $name = .Release.Name }}
{{- end }}
{{- $name | trunc 48 | trimSuffix "-" }}
{{- end }}

{{/* The name of the release's roles outside its namespace. The namespace is part of it, since two
releases of one name may be in two namespaces. */}}
{{- define "diskbench.roleName" -}}
{{- printf "%s:%s" .Release.Namespace (include "diskbench.fullname" .) }}
{{- end }}

{{- define "diskbench.selectorLabels" -}}
app.kubernetes.io/name: {{ include "diskbench.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "diskbench.labels" -}}
{{ include "diskbench.selectorLabels" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- end }}

{{- define "diskbench.serviceAccountName" -}}
{{- default (include "diskbench.fullname" .) .Values.serviceAccount.name }}
{{- end }}

{{- define "diskbench.image" -}}
{{- if .Values.image.digest }}
{{- printf "%s@%s" .Values.image.repository .Values.image.digest }}
{{- else }}
{{- printf "%s:%s" .Values.image.repository (default .Chart.AppVersion .Values.image.tag) }}
{{- end }}
{{- end }}

{{/*
The rules of the generated manager role that are about one kind of resource.
Input: files (.Files) and clusterScoped (true or false). Output: a YAML list of rules.
A Role cannot grant what has no namespace, so namespaced mode needs the two kinds apart.
*/}}
{{- define "diskbench.rules" -}}
{{- $clusterScoped := list "namespaces" "nodes" "persistentvolumes" "storageclasses" "volumeattributesclasses" "csidrivers" "csinodes" }}
{{- $rules := list }}
{{- range (.files.Get "files/rbac/role.yaml" | fromYaml).rules }}
{{- $resources := list }}
{{- range .resources }}
{{- if eq (has (splitList "/" . | first) $clusterScoped) $.clusterScoped }}
{{- $resources = append $resources . }}
{{- end }}
{{- end }}
{{- if $resources }}
{{- $rules = append $rules (set (deepCopy .) "resources" $resources) }}
{{- end }}
{{- end }}
{{- toYaml $rules }}
{{- end }}
