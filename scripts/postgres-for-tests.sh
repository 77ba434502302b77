#!/usr/bin/env bash
# A real PostgreSQL with pgvector (and pg_textsearch, if Debian has it) for the second run of the test suite.
#
#   scripts/postgres-for-tests.sh start [FOLDER]    installs it into FOLDER once (under a minute), starts it on a free port
#                                                   of 127.0.0.1 and prints its URL as the only line on standard output
#   scripts/postgres-for-tests.sh stop [FOLDER]     stops it and keeps FOLDER
#   scripts/postgres-for-tests.sh version [FOLDER]  prints its major version
#   scripts/postgres-for-tests.sh own-start NAME    starts another server from the same installation, with fsync on; prints its URL
#   scripts/postgres-for-tests.sh own-crash NAME    stops that one as in a crash and starts it again on the same port
#   scripts/postgres-for-tests.sh own-remove NAME   stops that one and deletes its data
#   scripts/postgres-for-tests.sh tool NAME ARGS…   runs psql, pg_dump or pg_restore of that installation; files by standard input and output
#
#   PORTICO_TEST_DATABASE_URL="$(scripts/postgres-for-tests.sh start)" npm test
#
# PORTICO_POSTGRES_VERSION=17 or =18 chooses the major version; otherwise it is the newest that Debian has with pgvector.
# FOLDER (default ${TMPDIR:-/tmp}/portico-postgres, followed by - and the chosen version) contains a separate small Debian, independent of the system's packages and
# libraries. The script needs root and a Debian package mirror; without them it prints the reason and exits with 3. Any other
# PostgreSQL 15 or later with pgvector can be used as well: set PORTICO_TEST_DATABASE_URL.
set -euo pipefail
scripts=$(cd "$(dirname "$0")" && pwd)

command=${1:-}
name=
if [[ $command == own-* ]]; then
  name=${2:?a name}
  [[ $name =~ ^[a-z0-9-]+$ ]] || exit 2
  shift
fi
if [[ $command == tool ]]; then
  folder=${TMPDIR:-/tmp}/portico-postgres
  tool=${2:?a name}
  shift 2
  exec chroot "$folder" /usr/bin/env -i PATH=/usr/bin:/bin LC_ALL=C.UTF-8 sh -c 'exec /usr/lib/postgresql/*/bin/"$0" "$@"' "$tool" "$@"
fi
version=${PORTICO_POSTGRES_VERSION:-}
folder=${2:-${TMPDIR:-/tmp}/portico-postgres${version:+-$version}}
cluster=/var/lib/portico/${name:-cluster} # inside the folder's own root
port_file=$folder/.port${name:+-$name}

report() { echo "postgres-for-tests: $*" >&2; }
give_up() { report "no PostgreSQL for the tests: $*"; exit 3; }

# Newest first. sid has 18 with pg_textsearch; trixie has 17 without it.
releases=("sid postgresql-18-pgvector,postgresql-18-pg-textsearch" "trixie postgresql-17-pgvector")

inside() { chroot "$folder" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 "$@"; }
as_postgres() { inside setpriv --reuid=postgres --regid=postgres --init-groups "$@"; }
server_folder() { inside sh -c 'ls -d /usr/lib/postgresql/*' | sort -V | tail -n 1; }

install_server() {
  [[ $(id -u) == 0 ]] || give_up 'the installation needs root'
  if ! command -v debootstrap >/dev/null; then
    command -v apt-get >/dev/null || give_up 'this system has neither debootstrap nor apt-get'
    { apt-get update -qq && apt-get install -y -qq debootstrap; } >/dev/null 2>&1 || give_up 'debootstrap could not be installed'
  fi
  local from log release packages
  from=$("$scripts/debian-mirror.sh")
  [[ -n $from ]] || give_up "apt's sources name no Debian mirror"
  log=$(mktemp)
  for entry in "${releases[@]}"; do
    read -r release packages <<<"$entry"
    [[ -z $version || $packages == postgresql-"$version"-* ]] || continue
    report "installing $packages from Debian $release into $folder"
    rm -rf --one-file-system "$folder"
    mkdir -p "$folder"
    if debootstrap --variant=minbase --include="$packages" "$release" "$folder" "$from" >"$log" 2>&1; then
      make_cluster
      touch "$folder/.complete"
      rm -f "$log"
      return
    fi
    report "that failed: $(tail -n 1 "$log")"
  done
  rm -rf --one-file-system "$folder"
  give_up "Debian's packages could not be installed; the log is $log"
}

make_cluster() {
  inside mkdir -p "$cluster" /run/postgresql
  inside chown postgres: "$cluster" /run/postgresql
  as_postgres "$(server_folder)/bin/initdb" -D "$cluster" -U postgres -A trust -E UTF8 --locale=C.UTF-8 >/dev/null
  {
    # Test data need not survive a power cut. The server of a crash test must.
    echo "fsync = $([[ -n $name ]] && echo on || echo off)"
    echo "max_connections = 300"
    echo "listen_addresses = '127.0.0.1'"
    if compgen -G "$folder$(server_folder)/lib/pg_textsearch*.so" >/dev/null; then
      echo "shared_preload_libraries = 'pg_textsearch'"
    fi
  } >>"$folder$cluster/postgresql.conf"
}

# Below the ports that the system gives to connections, so that the server finds its port free when it starts again.
free_port() { node -e 'const s=require("net").createServer(),go=()=>s.listen(20000+Math.floor(Math.random()*12000),"127.0.0.1");s.on("error",go).on("listening",()=>{console.log(s.address().port);s.close()});go()'; }

is_running() { as_postgres "$(server_folder)/bin/pg_ctl" -D "$cluster" status >/dev/null 2>&1; }

start() {
  [[ -e $folder/.complete ]] || install_server
  if ! is_running; then
    rm -f "$folder$cluster/postmaster.pid"
    free_port >"$port_file"
    launch
  fi
  echo "postgres://postgres@127.0.0.1:$(<"$port_file")/postgres"
}

launch() {
  as_postgres "$(server_folder)/bin/pg_ctl" -D "$cluster" -w -l "$cluster/log" -o "-p $(<"$port_file")" start >/dev/null ||
    give_up "the server did not start: $(tail -n 1 "$folder$cluster/log")"
}

stop_now() { ! is_running || as_postgres "$(server_folder)/bin/pg_ctl" -D "$cluster" -m immediate -w stop >/dev/null; }

own_start() {
  [[ -e $folder/.complete ]] || give_up 'run "start" first: nothing is installed'
  [[ -e $folder$cluster/PG_VERSION ]] || make_cluster
  start
}

case $command in
  start) start ;;
  stop) [[ ! -e $folder/.complete ]] || ! is_running || as_postgres "$(server_folder)/bin/pg_ctl" -D "$cluster" -m fast -w stop >/dev/null ;;
  version) basename "$(server_folder)" ;;
  own-start) own_start ;;
  own-crash) stop_now && launch ;;
  own-remove) stop_now && rm -rf --one-file-system "$folder$cluster" "$port_file" ;;
  *) report 'usage: scripts/postgres-for-tests.sh start|stop|version [FOLDER] | own-start|own-crash|own-remove NAME | tool NAME ARGS'; exit 2 ;;
esac
