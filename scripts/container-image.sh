#!/usr/bin/env bash
# Builds the Dockerfile with buildah, without a container engine and without an image registry, and runs the image: read-only root file system,
# unprivileged user, health check, a completion, an upload and an answer, SIGTERM.
#
#   scripts/container-image.sh [FOLDER]
#
# FOLDER (default ${TMPDIR:-/tmp}/portico-minimal, shared with minimal-system.sh) caches the Debian and the Node.js packages. The base images are
# made from them. The last line is `N passed, N failed`. The script needs root, a Debian mirror and Debian's buildah; without them it prints the
# reason and exits with 3.
set -uo pipefail
cd "$(dirname "$0")/.."
folder=${1:-${TMPDIR:-/tmp}/portico-minimal}
name=container-image
. scripts/minimal-debian.sh
maximumMegabytes=400
# Generous: a busy machine needs ten minutes for what takes two on an idle one.
buildSeconds=1200 startSeconds=120
work=
service=
port=

main() {
  command -v buildah >/dev/null || give_up 'buildah is not installed (scripts/install-test-packages.sh)'
  make_system
  copy_npm_cache "$folder/npm-cache"
  work=$(mktemp -d "$folder/image.XXXXXX")
  make_base_images >"$folder/log" 2>&1 || give_up "the base images could not be made: $(tail -n 1 "$folder/log")"
  report 'base images are made'
  git ls-files -z | tar --null --ignore-failed-read -cf - -T - 2>/dev/null | { mkdir "$work/context" && tar -xf - -C "$work/context"; }
  # The base images of this script have other digests.
  sed -i -E 's/^(FROM [^ @]+)@sha256:[0-9a-f]{64}/\1/' "$work/context/Dockerfile"
  timeout --kill-after=10 "$buildSeconds" "${buildah[@]}" build --isolation chroot --pull-never --format docker --volume "$folder/npm-cache:/root/.npm" \
    --build-arg REVISION="$(git rev-parse HEAD 2>/dev/null)" --tag portico "$work/context" >"$folder/log" 2>&1
  count $? 'the Dockerfile builds'
  [[ $failed == 0 ]] || { echo "$passed passed, $failed failed"; return 1; }
  inspect_image
  run_image
  echo "$passed passed, $failed failed"
  [[ $failed == 0 ]]
}

buildah=()
make_base_images() {
  buildah=(buildah --root "$work/storage" --runroot "$work/run" --storage-driver overlay)
  "${buildah[@]}" images >/dev/null 2>&1 || buildah[-1]=vfs
  # As Debian's own image: without documentation, translations and lists of packages.
  tar -C "$root" --exclude=./portico --exclude=./npm-cache --exclude='./usr/local/*' --exclude='./usr/share/doc/*' --exclude='./usr/share/man/*' \
    --exclude='./usr/share/locale/*' --exclude='./usr/share/info/*' --exclude='./var/cache/*' --exclude='./var/lib/apt/lists/*' --exclude='./proc/*' \
    --exclude='./sys/*' --exclude='./dev/*' --exclude='./var/log/*' --exclude='./tmp/*' --exclude=./etc/extra-ca.pem -cf "$work/debian.tar" . || return 1
  local debian node container
  debian=$(sed -n 's/^FROM \(debian:[^ @]*\)@[^ ]*$/\1/p' Dockerfile)
  node=$(sed -n 's/^FROM \(node:[^ @]*\)@[^ ]* AS sources$/\1/p' Dockerfile)
  container=$("${buildah[@]}" from scratch) && "${buildah[@]}" add --quiet "$container" "$work/debian.tar" / &&
    "${buildah[@]}" config --env PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin "$container" &&
    "${buildah[@]}" commit --quiet "$container" "docker.io/library/$debian" || return 1
  rm "$work/debian.tar"
  local version=${node#node:}
  unpack "$package@${version%%-*}" "$work/node" && unpack npm@11 "$work/npm" || return 1
  # The registry of this machine, and its private certificate authority if it has one.
  printf 'registry=%s\nprefer-offline=true\nupdate-notifier=false\n' "$(npm config get registry)" >"$work/npmrc"
  [[ -z ${NODE_EXTRA_CA_CERTS:-} ]] || printf 'cafile=/etc/extra-ca.pem\n' >>"$work/npmrc"
  "${buildah[@]}" copy --quiet "$container" "$work/node/bin/node" /usr/local/bin/node &&
    "${buildah[@]}" copy --quiet "$container" "$work/npm" /usr/local/lib/node_modules/npm &&
    "${buildah[@]}" copy --quiet "$container" "$work/npmrc" /usr/local/etc/npmrc &&
    { [[ -z ${NODE_EXTRA_CA_CERTS:-} ]] || "${buildah[@]}" copy --quiet "$container" "$NODE_EXTRA_CA_CERTS" /etc/extra-ca.pem; } &&
    "${buildah[@]}" run --isolation chroot "$container" -- ln -s ../lib/node_modules/npm/bin/npm-cli.js /usr/local/bin/npm &&
    "${buildah[@]}" commit --quiet --rm "$container" "docker.io/library/$node"
}

inspect_image() {
  "${buildah[@]}" inspect --type image portico >"$work/inspected.json" 2>"$folder/log"
  # Prints the commands that run the image: its variables, its user, its command, its health check.
  node -e '
    const { Docker } = JSON.parse(require("fs").readFileSync(process.argv[1], "utf8"))
    const { User, Env, Cmd, Healthcheck, Volumes, Labels, WorkingDir } = Docker.config
    const quoted = (texts) => texts.map((text) => `\x27${text}\x27`).join(" ")
    if (!/^[1-9]\d*:[1-9]\d*$/.test(User)) throw new Error(`the user is ${User}`)
    if (!Volumes["/data"]) throw new Error("no volume /data")
    if (Labels["org.opencontainers.image.version"] !== require("./package.json").version) throw new Error("the label has another version than package.json")
    if (Healthcheck.Test[0] !== "CMD") throw new Error("the health check needs a shell")
    console.log(`user=${User} workingDir=${WorkingDir} environment=(${quoted(Env)}) command=(${quoted(Cmd)}) health=(${quoted(Healthcheck.Test.slice(1))})`)
  ' "$work/inspected.json" >"$work/image" 2>"$folder/log"
  count $? 'the image names its user by number, its volume, its version and a health check without a shell'
  . "$work/image"
  mounted=$("${buildah[@]}" mount "$("${buildah[@]}" from --pull-never portico)")
  mkdir "$work/data" && chown "$user" "$work/data"
  local bytes
  bytes=$(find "$mounted" -xdev -type f -printf '%s\n' | awk '{ sum += $1 } END { print sum }')
  # For the reader of a failure: what is large, in MB.
  (cd "$mounted" && du -xm --apparent-size --max-depth=3 . | sort -rn | head -n 24) >"$folder/log"
  ((bytes < maximumMegabytes * 1000000))
  count $? "the image is smaller than $maximumMegabytes MB: $((bytes / 1000000)) MB with this Debian"
  echo 'found a package manager or a compiler' >"$folder/log"
  [[ ! -e $mounted/usr/local/bin/npm && ! -d $mounted/portico/node_modules/vite && ! -d $mounted/portico/node_modules/$package ]]
  count $? 'the image has neither npm nor development packages nor a second Node.js'
  # A package may have tests and certificates for its examples; ours may not.
  find "$mounted" -xdev -path "$mounted/portico/node_modules" -prune -o \( -name '*.test.*' -o -name testing \
    -o -name '.git*' -o -name '.npmrc' -o -name '.env*' -o -name '*.pem' -o -name 'portico.y*ml' -o -name 'secret*key' \) -print >"$folder/log"
  [[ ! -s $folder/log ]]
  count $? 'the image has no tests, no configuration and no secrets'
  inside_image node --input-type=module -e '
    const { findBundle } = await import("/portico/src/app/bundle.ts")
    const { findTemplate } = await import("/portico/src/platform/database/embedded/template.ts")
    if (!findBundle()) throw new Error("no bundle of these sources")
    if (!findTemplate("control") || !findTemplate("corpus")) throw new Error("no databases of these migrations")
  ' >"$folder/log" 2>&1
  count $? 'the user of the image finds the bundle of the service and the prepared databases'
}

# As `docker run --read-only --tmpfs /tmp --volume …:/data`: the command in a private mount namespace with the variables and the user of the image.
inside_image() {
  unshare --mount --pid --fork --kill-child bash -c '
    set -e
    root=$1 data=$2 user=$3 directory=$4
    shift 4
    mount --bind "$root" "$root"
    mount --bind "$data" "$root/data"
    mount -t tmpfs -o mode=1777,size=256m tmpfs "$root/tmp"
    mount -t proc proc "$root/proc"
    mount --bind /dev "$root/dev"
    mount -o remount,bind,ro "$root"
    exec chroot --userspec="$user" --groups= "$root" /usr/bin/env -i "$@"
  ' _ "$mounted" "$work/data" "$user" "$workingDir" "${environment[@]}" "PORT=${port:-0}" PORTICO_METRICS_PORT=0 /bin/sh -c "cd $workingDir && exec \"\$0\" \"\$@\"" "$@"
}

run_image() {
  port=$(free_port) || return
  inside_image "${command[@]}" >"$folder/log" 2>&1 &
  service=$!
  waited $startSeconds grep -q 'PORTICO_API_KEY=ptc_' "$folder/log"
  count $? 'a read-only container listens and prints the key of the demo'
  inside_image "${health[@]}" >>"$folder/log" 2>&1
  count $? 'the health check succeeds'
  ! PORT=1 node deploy/health-check.mjs /livez >/dev/null 2>&1
  count $? 'the health check fails where nothing listens'
  node scripts/ci/ask-demo.mjs "http://127.0.0.1:$port" "$folder/log" >>"$folder/log" 2>&1
  count $? 'a document is uploaded, processed and cited in an answer'
  ! grep -E 'EROFS|EACCES|read-only file system|"level":"(error|fatal)"|Warning' "$folder/log"
  count $? 'nothing fails because of the read-only root file system'
  # Process 1 of the container receives the signal as from an engine.
  kill -TERM "$(main_process)"
  wait "$service"
  count $? 'process 1 ends with 0 after SIGTERM'
  service=
}

# The descendant that is process 1 in its own namespace.
main_process() {
  local process=$service
  while process=$(tr ' ' '\n' <"/proc/$process/task/$process/children" | head -n 1) && [[ -n $process ]]; do
    grep -qE '^NSpid:.*[[:space:]]1$' "/proc/$process/status" && { echo "$process"; return; }
  done
  return 1
}

cleanup() {
  [[ -z $service ]] || kill -KILL "$(main_process)" 2>/dev/null
  [[ -n $work ]] || return
  # All that buildah has is in the folder: inner mounts first.
  awk -v folder="$work/" 'index($2, folder) == 1 { print $2 }' /proc/mounts | sort -r | xargs -r umount --lazy
  rm -rf --one-file-system "$work"
}
trap cleanup EXIT
main
