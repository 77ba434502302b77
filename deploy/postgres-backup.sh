#!/usr/bin/env bash
# Backup and restore of a Portico that uses a PostgreSQL server. docs/operate/backup.md explains the steps.
#
#   deploy/postgres-backup.sh backup FOLDER     FOLDER must not exist; it appears when the backup is complete
#   deploy/postgres-backup.sh restore FOLDER    into a database without Portico's schemas, and an empty folder of files
#
#   DATABASE_URL                         the server, as in the service
#   DATABASE_DIRECT_URL                  the server behind a pooler in transaction mode, as in the service: pg_dump needs a connection to itself
#   PORTICO_CORPUS_DATABASE_URL          a separate server for documents, if the service has one
#   PORTICO_CORPUS_DATABASE_DIRECT_URL   the same for it
#   PORTICO_DATA_DIR                     the data folder, whose folder `blobs` has the uploaded files. Empty: they are in an object store
#
# It needs psql, pg_dump and pg_restore of the server's major version or later. The service may run during a backup, and must not run
# during a restore.
set -euo pipefail

usage() { sed -n '2,14s/^# \{0,1\}//p' "$0" >&2; exit 2; }
fail() { echo "postgres-backup: $*" >&2; exit 1; }
note() { echo "postgres-backup: $*" >&2; }

[[ $# == 2 ]] || usage
folder=${2%/}
control_url=${DATABASE_DIRECT_URL:-${DATABASE_URL:?names the server}}
corpus_url=${PORTICO_CORPUS_DATABASE_DIRECT_URL:-${PORTICO_CORPUS_DATABASE_URL:-$control_url}}
blobs=${PORTICO_DATA_DIR:+$PORTICO_DATA_DIR/blobs}
# pg_dump and the list of files read the same snapshot.
corpus_keys="select blob_key from portico_corpus.documents order by 1"

sql() { psql --no-psqlrc --quiet --no-align --tuples-only --set ON_ERROR_STOP=1 "$@"; }

# Opens a transaction whose snapshot others can read, in a background psql. Sets snapshot_NAME.
hold_snapshot() {
  local name=$1 url=$2 in out
  mkfifo "$pipes/$name.in" "$pipes/$name.out"
  sql "$url" <"$pipes/$name.in" >"$pipes/$name.out" &
  exec {in}>"$pipes/$name.in" {out}<"$pipes/$name.out"
  echo 'begin isolation level repeatable read read only; select pg_export_snapshot();' >&"$in"
  read -r "snapshot_$name" <&"$out" || fail "the $name database gave no snapshot"
}

copy_blobs() {
  # Files that are removed meanwhile are no error (tar ends with 1): the list of the snapshot decides which are needed.
  local code=0
  tar -C "$blobs" --exclude=./.incoming -cf - . 2>"$unfinished/.tar-messages" | tar -C "$unfinished/blobs" -xf - || code=$?
  [[ $code -le 1 ]] || fail "the uploaded files could not be copied: $(tail -n 1 "$unfinished/.tar-messages")"
  rm -f "$unfinished/.tar-messages"
}

# Copies the files of the snapshot that are missing: they were uploaded during the first copy.
complete_blobs() {
  local key missing=0
  while IFS= read -r key; do
    [[ -e $unfinished/blobs/$key ]] && continue
    mkdir -p "$unfinished/blobs/$(dirname "$key")"
    if ! cp -p "$blobs/$key" "$unfinished/blobs/$key"; then
      note "the file $key was removed during the backup; its document will have none"
      missing=$((missing + 1))
    fi
  done <"$unfinished/blob-keys"
  [[ $missing == 0 ]] || note "$missing files were removed during the backup. Take another one, or remove their documents after a restore"
}

backup() {
  [[ ! -e $folder ]] || fail "$folder exists already"
  unfinished=$folder.unfinished
  rm -rf "$unfinished"
  (umask 077 && mkdir -p "$unfinished")
  umask 077
  pipes=$(mktemp -d)
  trap 'rm -rf "$pipes"' EXIT
  if [[ -n $blobs ]]; then
    mkdir "$unfinished/blobs"
    copy_blobs
  fi
  hold_snapshot control "$control_url"
  hold_snapshot corpus "$corpus_url"
  date -u +%Y-%m-%dT%H:%M:%SZ >"$unfinished/consistent-at"
  # shellcheck disable=SC2154 # set by hold_snapshot
  pg_dump --format=custom --no-owner --no-privileges --schema=portico_control --snapshot="$snapshot_control" \
    --dbname="$control_url" >"$unfinished/control.dump"
  # shellcheck disable=SC2154
  pg_dump --format=custom --no-owner --no-privileges --schema=portico_corpus --snapshot="$snapshot_corpus" \
    --dbname="$corpus_url" >"$unfinished/corpus.dump"
  sql "$corpus_url" >"$unfinished/blob-keys" <<<"begin isolation level repeatable read read only; set transaction snapshot '$snapshot_corpus'; $corpus_keys; commit;"
  [[ -z $blobs ]] || complete_blobs
  (cd "$unfinished" && find . -type f ! -name SHA256SUMS -print0 | sort -z | xargs -0 sha256sum >SHA256SUMS)
  sync "$unfinished" "$unfinished/SHA256SUMS" 2>/dev/null || sync
  mv "$unfinished" "$folder"
  note "$folder is complete, as of $(<"$folder/consistent-at"). The secret key is not in it: keep PORTICO_SECRET_KEY in another place"
}

require_empty() {
  local name=$1 url=$2
  [[ $(sql "$url" -c "select count(*) from pg_namespace where nspname = 'portico_$name'") == 0 ]] ||
    fail "the database already has the schema portico_$name: restore into another one"
}

restore() {
  [[ -e $folder/SHA256SUMS ]] || fail "$folder is not a complete backup: it has no SHA256SUMS"
  (cd "$folder" && sha256sum --check --quiet SHA256SUMS) || fail "$folder is damaged"
  require_empty control "$control_url"
  require_empty corpus "$corpus_url"
  if [[ -d $folder/blobs ]]; then
    [[ -n $blobs ]] || fail "the backup has uploaded files: name the data folder in PORTICO_DATA_DIR"
    [[ -z $(ls -A "$blobs" 2>/dev/null) ]] || fail "$blobs is not empty"
    mkdir -p "$blobs"
    chmod 700 "$PORTICO_DATA_DIR"
    tar -C "$folder/blobs" -cf - . | tar -C "$blobs" -xf -
  fi
  sql "$corpus_url" >/dev/null <<<"create extension if not exists vector with schema public;"
  if [[ $(sql "$corpus_url" -c "select count(*) from pg_available_extensions where name = 'pg_textsearch'") == 1 ]]; then
    sql "$corpus_url" >/dev/null <<<"create extension if not exists pg_textsearch with schema public;" || note 'without pg_textsearch'
  fi
  # Each in one transaction: a restore that is killed leaves no schema. The control database last, because a service looks there first.
  pg_restore --exit-on-error --single-transaction --no-owner --no-privileges --dbname="$corpus_url" <"$folder/corpus.dump"
  pg_restore --exit-on-error --single-transaction --no-owner --no-privileges --dbname="$control_url" <"$folder/control.dump"
  sql "$corpus_url" -c 'analyze' >/dev/null 2>&1
  sql "$control_url" -c 'analyze' >/dev/null 2>&1
  note "$folder is restored. Start the service with the secret key of the time of the backup, and run: portico audit"
}

case $1 in
  backup) backup ;;
  restore) restore ;;
  *) usage ;;
esac
