#!/usr/bin/env bash
# Tests the README's commands on a minimal Debian with only Node.js: `npm ci`, `npm ci --ignore-scripts`, `npm start` with a
# completion and a SIGTERM to npm, `npm test`, on Node.js 20, 22 and 24.
#
#   scripts/minimal-system.sh [FOLDER] [VERSION...]
#
# FOLDER (default ${TMPDIR:-/tmp}/portico-minimal) caches the Debian and the Node.js packages. The last line is `N passed, N failed`. The
# script needs root and a Debian package mirror; without them it prints the reason and exits with 3.
set -uo pipefail
cd "$(dirname "$0")/.."
folder=${1:-${TMPDIR:-/tmp}/portico-minimal}
versions=" ${*:2} "
# Generous: a small, busy machine needs minutes for a step that takes seconds on an idle one.
installSeconds=400 startSeconds=150 testSeconds=300
service=
name=minimal-system
. scripts/minimal-debian.sh

main() {
  make_system
  # npm as it comes with each version of Node.js.
  run_on 20 10 'npm ci' 'npm ci --ignore-scripts' 'npm test -- src/platform/kernel'
  run_on 22 10 'npm ci'
  run_on 24 11 'npm ci --ignore-scripts'
  echo "$passed passed, $failed failed"
  [[ $failed == 0 ]]
}

# Runs commands on one version: $1 Node.js, $2 npm, then the commands. After an install it also starts the service.
run_on() {
  local node=$1 npm=$2
  shift 2
  [[ $versions == '  ' || $versions == *" $node "* ]] || return
  place_node "$node" "$npm" || { count 1 "Node.js $node with npm $npm could not be downloaded"; return; }
  for command in "$@"; do
    copy_project
    if [[ $command == npm\ test* ]]; then
      # The tests use what the last install left.
      inside $testSeconds "$command" >"$folder/log" 2>&1
      count $? "Node.js $node: $command"
      continue
    fi
    rm -rf "$root/portico/node_modules" "$root/portico/data"
    inside $installSeconds "$command" >"$folder/log" 2>&1
    count $? "Node.js $node: $command"
    ! grep -E 'npm (warn|WARN) (EBADENGINE|Unknown)' "$folder/log"
    count $? "Node.js $node: $command prints no warning about Portico's settings"
    start_and_stop "Node.js $node: $command && npm start"
  done
}

place_node() {
  rm -rf "$root/usr/local/bin" "$root/usr/local/lib/node_modules"
  mkdir -p "$root/usr/local/bin" "$root/usr/local/lib/node_modules/npm"
  unpack "$package@$1" "$folder/node-$1" && unpack "npm@$2" "$root/usr/local/lib/node_modules/npm" || return 1
  cp "$folder/node-$1/bin/node" "$root/usr/local/bin/node"
  ln -s ../lib/node_modules/npm/bin/npm-cli.js "$root/usr/local/bin/npm"
}

# The tracked files as they are in the working tree; node_modules of an earlier step stays.
copy_project() {
  mkdir -p "$root/portico" "$root/npm-cache"
  git ls-files -z | tar --null --ignore-failed-read -cf - -T - 2>/dev/null | tar -xf - -C "$root/portico"
  cp -L /etc/resolv.conf /etc/hosts "$root/etc/"
  # A registry behind a private certificate authority.
  [[ -z ${NODE_EXTRA_CA_CERTS:-} ]] || cp -L "$NODE_EXTRA_CA_CERTS" "$root/etc/extra-ca.pem"
  copy_npm_cache "$root/npm-cache"
}

# Runs $2 in the system, at most $1 seconds, without /proc and without the host's environment, so that other dependencies fail.
inside() {
  local seconds=$1
  timeout --kill-after=10 "$seconds" chroot "$root" /usr/bin/env -i PATH=/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root \
    ${NODE_EXTRA_CA_CERTS:+NODE_EXTRA_CA_CERTS=/etc/extra-ca.pem} npm_config_cache=/npm-cache npm_config_prefer_offline=true \
    npm_config_update_notifier=false PORT="${port:-0}" PORTICO_METRICS_PORT=0 sh -c "cd /portico && exec $2"
}

start_and_stop() {
  port=$(free_port) || return
  inside $((startSeconds + 60)) 'npm start' >"$folder/log" 2>&1 &
  service=$!
  local base=http://127.0.0.1:$port
  waited $startSeconds grep -q 'PORTICO_API_KEY=ptc_' "$folder/log"
  count $? "$1 listens and prints the demo's key"
  local key
  key=$(grep -oE 'ptc_[0-9A-Za-z]{40}' "$folder/log" | head -n 1)
  node -e '
    const [base, key] = process.argv.slice(1)
    const body = JSON.stringify({ model: "portico/offline", messages: [{ role: "user", content: "Hello." }] })
    const headers = { "x-api-key": key, "content-type": "application/json" }
    fetch(`${base}/v1/gateway/chat/completions`, { method: "POST", headers, body, signal: AbortSignal.timeout(20_000) })
      .then((response) => response.json())
      .then((answer) => process.exit(answer.choices?.[0]?.message?.content ? 0 : 1), () => process.exit(1))
  ' "$base" "$key"
  count $? "$1 answers a completion"
  ! grep -E 'Warning|npm (warn|WARN)' "$folder/log"
  count $? "$1 prints no warning"
  # The demo's documents are processed in the background.
  waited 60 grep -qE '"status":"(ready|failed)"' "$folder/log"
  ! grep -E '"status":"failed"|"level":"(error|fatal)"' "$folder/log"
  count $? "$1 processes the demo's documents and logs no error"
  kill -TERM "$(npm_of "$service")"
  wait "$service"
  count $? "$1 ends with 0 after SIGTERM to npm"
  service=
  ! pids_inside | grep -q .
  count $? "$1 leaves no process behind"
  pids_inside | xargs -r kill -KILL
}

# The npm below `timeout`: env, chroot and sh have replaced themselves by then.
npm_of() { tr ' ' '\n' <"/proc/$1/task/$1/children" | head -n 1; }
pids_inside() {
  for process in /proc/[0-9]*; do
    [[ $(readlink "$process/root") == "$(readlink -f "$root")" ]] && echo "${process#/proc/}"
  done
}

cleanup() {
  # Another run may hold the folder.
  flock --nonblock 9 2>/dev/null || return
  [[ -z $service ]] || pids_inside | xargs -r kill -KILL
  rm -rf --one-file-system "$root/portico"
}
trap cleanup EXIT
main
