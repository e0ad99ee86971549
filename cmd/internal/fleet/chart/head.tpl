{{- /* The webhooks' certificate: the one that is there while more than a third of its time is left, and it is for the
    same name; else a new one. Without a cluster (helm template) it is always a new one. */}}
{{- $agents := .Values.agents.namespace | default .Release.Namespace }}
{{- $host := printf "gostap-fleet.%s.svc" .Release.Namespace }}
{{- if .Values.url }}
{{- $host = get (urlParse .Values.url) "hostname" }}
{{- end }}
{{- $old := lookup "v1" "Secret" .Release.Namespace "gostap-fleet-tls" | default dict }}
{{- $data := get $old "data" | default dict }}
{{- $notes := get (get $old "metadata" | default dict) "annotations" | default dict }}
{{- $renew := get $notes "gostap.dev/renew" | toString }}
{{- $good := gt $renew (dateInZone "2006-01-02T15:04:05Z" now "UTC") }}
{{- $good = and $good (eq (get $notes "gostap.dev/host" | toString) $host) }}
{{- $good = and $good (hasKey $data "ca.crt") (hasKey $data "tls.crt") (hasKey $data "tls.key") }}
{{- $tls := dict }}
{{- if $good }}
{{- $tls = dict "ca" (get $data "ca.crt") "cert" (get $data "tls.crt") "key" (get $data "tls.key") "renew" $renew }}
{{- else }}
{{- $days := int .Values.certificate.days }}
{{- $names := list $host }}
{{- $addresses := list }}
{{- if regexMatch "^[0-9.]+$|:" $host }}
{{- $names = list }}
{{- $addresses = list $host }}
{{- end }}
{{- $ca := genCA "gostap-fleet webhooks" $days }}
{{- $pair := genSignedCert "gostap-fleet" $addresses $names $days $ca }}
{{- $renew = dateInZone "2006-01-02T15:04:05Z" (now | dateModify (printf "+%dh" (mul 16 $days))) "UTC" }}
{{- $tls = dict "ca" (b64enc $ca.Cert) "cert" (b64enc $pair.Cert) "key" (b64enc $pair.Key) "renew" $renew }}
{{- end }}
