#!/usr/bin/env bash
# Installs Debian packages that some suites use if they are present: Chromium for the browser tests, poppler for the pdf comparison,
# PgBouncer for connections through a pooler, nginx, Caddy and Prometheus for the examples in deploy/, buildah for the container image,
# Go and the libraries of Helm for the chart, `script` for the start on a terminal.
set -u
missing=()
[ -x /usr/bin/chromium ] || missing+=(chromium)
[ -x /usr/sbin/pgbouncer ] || missing+=(pgbouncer)
[ -x /usr/sbin/nginx ] || missing+=(nginx-light)
[ -x /usr/bin/caddy ] || missing+=(caddy)
[ -x /usr/bin/promtool ] || missing+=(prometheus)
command -v buildah >/dev/null || missing+=(buildah)
[ -x /usr/bin/go ] || missing+=(golang-go)
[ -d /usr/share/gocode/src/github.com/Masterminds/sprig ] || missing+=(golang-github-masterminds-sprig-dev)
[ -d /usr/share/gocode/src/sigs.k8s.io/yaml ] || missing+=(golang-k8s-sigs-yaml-dev)
command -v script >/dev/null || missing+=(bsdutils)
command -v pdftotext >/dev/null || missing+=(poppler-utils)
[ "${#missing[@]}" -eq 0 ] && exit 0
[ "$(id -u)" -eq 0 ] || { echo "not root: ${missing[*]} are not installed"; exit 1; }
# The packages of servers would start them.
policy=/usr/sbin/policy-rc.d
if [ ! -e "$policy" ]; then
  printf '#!/bin/sh\nexit 101\n' >"$policy" && chmod +x "$policy"
  trap 'rm -f "$policy"' EXIT
fi
apt-get update -qq && apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
