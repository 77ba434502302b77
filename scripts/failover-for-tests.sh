#!/usr/bin/env bash
# Patroni, etcd and HAProxy from Debian next to PostgreSQL, for the proof of a database that fails over.
#
#   scripts/failover-for-tests.sh install       copies the installation of postgres-for-tests.sh into a separate folder, adds the packages
#                                               (under a minute) and prints the folder
#   scripts/failover-for-tests.sh prove         does that and runs the proof; its last line is `N passed, N failed, N skipped`
#   scripts/failover-for-tests.sh run PROGRAM ARGS…   runs a program in that folder as the user postgres, with the folder as its root. It
#                                               has the process id of this script, and ends with its signals.
#
# It needs root, a Debian package mirror and the right to mount; without them it prints the reason and exits with 3.
set -euo pipefail
source=${TMPDIR:-/tmp}/portico-postgres
folder=${TMPDIR:-/tmp}/portico-failover

give_up() { echo "failover-for-tests: no Patroni for the tests: $*" >&2; exit 3; }

# /proc for Patroni, in a mount namespace that ends with the program.
inside() {
  # shellcheck disable=SC2016 # expanded by the inner shell
  unshare --mount sh -c 'mount --bind /proc "$0/proc" && exec chroot "$0" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 "$@"' "$folder" "$@"
}

install_packages() {
  [[ $(id -u) == 0 ]] || give_up 'the installation needs root'
  unshare --mount true 2>/dev/null || give_up 'this system allows no mounts'
  [[ -e $source/.complete ]] || give_up 'run "scripts/postgres-for-tests.sh start" first'
  local log
  log=$(mktemp)
  rm -rf --one-file-system "$folder"
  mkdir "$folder"
  # Without the data of the servers that run there.
  tar -C "$source" --one-file-system --exclude=./var/lib/portico --exclude='./.*' -cf - . 2>/dev/null | tar -C "$folder" -xf -
  cp /etc/resolv.conf "$folder/etc/resolv.conf"
  # The packages of servers would start them.
  printf '#!/bin/sh\nexit 101\n' >"$folder/usr/sbin/policy-rc.d" && chmod +x "$folder/usr/sbin/policy-rc.d"
  # As debootstrap, which does not read how long a mirror's list is valid.
  if ! { inside apt-get -o Acquire::Check-Valid-Until=false update && inside env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends \
    patroni python3-etcd etcd-server haproxy; } >"$log" 2>&1; then
    give_up "Debian's packages could not be installed; the log is $log"
  fi
  inside mkdir -p /var/lib/portico
  inside chown postgres: /var/lib/portico
  rm -f "$log"
  touch "$folder/.complete"
}

case ${1:-} in
  install)
    [[ -e $folder/.complete ]] || install_packages
    echo "$folder"
    ;;
  prove)
    bash "$0" install >/dev/null
    cd "$(dirname "$0")/.."
    exec env -u PORTICO_TEST_DATABASE_URL -u PORTICO_TEST_POOLER npm test -- test/proofs/failover.proof.test.ts
    ;;
  run)
    shift
    # shellcheck disable=SC2016 # expanded by the inner shell
    exec unshare --mount sh -c 'mount --bind /proc "$0/proc" && exec chroot "$0" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 \
      setpriv --reuid=postgres --regid=postgres --init-groups "$@"' "$folder" "$@"
    ;;
  *) echo 'usage: scripts/failover-for-tests.sh install | prove | run PROGRAM ARGS' >&2; exit 2 ;;
esac
