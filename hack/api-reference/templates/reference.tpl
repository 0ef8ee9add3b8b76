{{- define "gvList" -}}
<!-- Generated from the types in api/ by `make docs`. Edit those. -->

# API reference
{{- range . }}
{{- template "gvDetails" . }}
{{- end }}
{{ end }}

{{- define "gvDetails" }}

## {{ .GroupVersionString }}

{{ trim .Doc }}
{{- range .SortedKinds }}
{{- template "type" ($.TypeForKind .) }}
{{- end }}
{{- range .SortedTypes }}
{{- if not .GVK }}
{{- template "type" . }}
{{- end }}
{{- end }}
{{- end }}

{{- define "type" -}}
{{- if markdownShouldRenderType . }}

### {{ .Name }}

{{ .Doc }}
{{- if .References }}

Appears in: {{ range $i, $type := .SortedReferences }}{{ if $i }}, {{ end }}{{ markdownRenderTypeLink $type }}{{ end }}
{{- end }}
{{- if and .IsAlias .EnumValues }}

| Value | |
| --- | --- |
{{- range .EnumValues }}
| `{{ .Name }}` | {{ template "doc" .Doc }} |
{{- end }}
{{- else if and .IsAlias .Validation }}
{{ range .Validation }}{{ if hasPrefix "Enum: " . }}
One of {{ trimPrefix "Enum: " . | trimAll "[]" | replace " " ", " }}.
{{- end }}{{ end }}
{{- end }}
{{- if .Members }}

| Field | Type | Description |
| --- | --- | --- |
{{- if .GVK }}
| `apiVersion` | string | `{{ .GVK.Group }}/{{ .GVK.Version }}` |
| `kind` | string | `{{ .GVK.Kind }}` |
{{- end }}
{{- range .Members }}
| `{{ .Name }}` | {{ markdownRenderType .Type }} | {{ template "doc" .Doc }}{{ template "limits" (reverse .Validation) }} |
{{- end }}
{{- end }}
{{- end }}
{{- end }}

{{- /* Limits as one cell holds them. The sentences of CEL rules are for whoever breaks them. */ -}}
{{- define "limits" }}
{{- range . }}
{{- if eq . "Required: {}" }} Required.
{{- else if hasPrefix "Enum: " . }} One of {{ trimPrefix "Enum: " . | trimAll "[]" | replace " " ", " }}.
{{- else if hasPrefix "Minimum: " . }} At least {{ trimPrefix "Minimum: " . | float64 | printf "%.0f" }}.
{{- else if hasPrefix "Maximum: " . }} At most {{ trimPrefix "Maximum: " . | float64 | printf "%.0f" }}.
{{- else if hasPrefix "MaxItems: " . }} At most {{ trimPrefix "MaxItems: " . }} entries.
{{- else if hasPrefix "MaxProperties: " . }} At most {{ trimPrefix "MaxProperties: " . }} entries.
{{- end }}
{{- end }}
{{- end }}

{{- /* A comment of several lines in a cell of one line. */ -}}
{{- define "doc" }}
{{- markdownRenderFieldDoc . | replace "<br />" " " | trim }}
{{- end }}
