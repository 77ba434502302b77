#!/usr/bin/env bash
# Prints the Debian mirror of this machine's apt sources; nothing if there is none.
cat /etc/apt/sources.list.d/*.sources /etc/apt/sources.list 2>/dev/null |
  grep -oE 'https?://[^ ]+/debian/?( |$)' | head -n 1 | tr -d ' ' || true
