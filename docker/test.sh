#!/usr/bin/env bash
# Builds the image and proves it: the daemon starts as it is shipped and as any other user, answers,
# knows its health, serves the bundled model and one from /models, has the program that pulls others, keeps a glossary in
# a volume at /data, and stops on SIGTERM.
#
# ARCHITECTURE=arm64 docker/test.sh does the same with the image for another processor, where programs of that one run by emulation.
#
# Uses Docker where an engine answers. Elsewhere buildah does the same without one, as root: the base
# image is then a Debian made by debootstrap from this machine's own package sources, and containers
# share the machine's network.
set -euo pipefail
cd "$(dirname "$0")/.."

image=attentiond-test
port=$((20000 + RANDOM % 20000))
question='{"q":"Where is the train station?","source":"en","target":"de"}'
answer='"translatedText":[^,}]*Bahnhof'
glossary='{"name":"stations","source_lang":"en","target_lang":"de","entries":"train station\tHauptbahnhof","entries_format":"tsv"}'
# As little as some engines allow.
few_files=nofile=1024:1024
platform=()
patience=20 # seconds; a program that is emulated needs many times as long
[ -z "${ARCHITECTURE:-}" ] || platform=(--platform "linux/$ARCHITECTURE") patience=600
work=$PWD/build/docker
mkdir -p "$work"

say() { echo "== $*"; }
fail() {
    echo "FAILED: $*" >&2
    [ ! -f "$work/daemon.log" ] || tail -20 "$work/daemon.log" >&2
    exit 1
}

# --- two ways to do the same: docker_X and buildah_X ----------------------------------------------

docker_build() { docker build "${platform[@]}" -f docker/Dockerfile -t "$image" .; }
docker_config() {
    docker inspect --format '{{json .Config}}' "$image"
}
docker_megabytes() { echo $(($(docker image inspect --format '{{.Size}}' "$image") / 1000000)); }
# start USER MODEL: the daemon in the background
docker_start() {
    docker run --detach "${platform[@]}" --name "$image" --read-only --ulimit "$few_files" --user "$1" \
        --publish "127.0.0.1:$port:5000" --volume "$PWD/weights/en-de:/models/mine:ro" \
        --volume "$image:/data" --env ATTENTIOND_DATA_DIRECTORY=/data --env ATTENTIOND_MODEL="$2" "$image" >/dev/null
    docker logs --follow "$image" >"$work/daemon.log" 2>&1 &
}
docker_inside() { docker exec "$image" "$@"; }
docker_beside() { docker run --rm "${platform[@]}" --entrypoint "$1" "$image" "${@:2}"; }
docker_written() { docker diff "$image"; }
docker_stop() {
    docker kill --signal TERM "$image" >/dev/null
    exit_code=$(docker wait "$image")
}
docker_clean() { docker rm --force "$image" >/dev/null 2>&1 || true; }
docker_forget() { docker volume rm --force "$image" >/dev/null; }

# A storage of our own: the base image must not stand in for a real one of that name.
export STORAGE_DRIVER=vfs BUILDAH_ISOLATION=chroot
buildah() { command buildah --root "$work/storage" --runroot "$work/storage-run" "$@"; }
base=docker.io/library/debian:trixie-slim

# make_base ARCHITECTURE: one instance of the base image, which has several, as the real one does
make_base() {
    local container rootfs=$work/rootfs
    rm -rf "$rootfs"
    .ci/make-root trixie "$rootfs" --arch="$1" >"$work/debootstrap.log" 2>&1 ||
        fail "no base image: see $work/debootstrap.log"
    # What makes a Debian slim, now and in the packages to come
    (
        cd "$rootfs"
        printf 'path-exclude /usr/share/%s/*\n' doc groff info linda lintian locale man >etc/dpkg/dpkg.cfg.d/slim
        echo 'path-include /usr/share/doc/*/copyright' >>etc/dpkg/dpkg.cfg.d/slim
        rm -rf usr/share/{groff,info,linda,lintian,locale,man}/* var/lib/apt/lists/* var/cache/apt/* var/log/*.log
        find usr/share/doc -not -type d -not -name copyright -delete
    )
    container=$(buildah from scratch)
    buildah add --quiet "$container" "$rootfs" / >/dev/null
    buildah config --cmd bash --arch "$1" "$container"
    buildah commit --quiet --rm --manifest "$base" "$container" >/dev/null
    rm -rf "$rootfs"
}
buildah_build() {
    local native one
    native=$(dpkg --print-architecture)
    .ci/install image root
    buildah manifest exists "$base" || buildah manifest create "$base" >/dev/null
    for one in "$native" "${ARCHITECTURE:-$native}"; do
        buildah manifest inspect "$base" | grep -q "\"architecture\": \"$one\"" || make_base "$one"
    done
    # Debian 12's buildah does not set BUILDPLATFORM by itself.
    [ ${#platform[@]} -eq 0 ] || platform+=(--build-arg BUILDPLATFORM="linux/$native")
    buildah bud --pull-never --format docker "${platform[@]}" -f docker/Dockerfile -t "$image" .
}
buildah_config() {
    buildah inspect --type image "$image" | tr -d ' \n'
}
# What its files take, as all layers do that hold nothing twice
buildah_megabytes() {
    container=$(buildah from --pull-never "$image")
    du --summarize --apparent-size --block-size=MB "$(buildah mount "$container")" | cut -d M -f 1
    buildah_clean
}
# The entrypoint and command of the image, which "buildah run" would not use by itself.
buildah_start() {
    container=$(buildah from --pull-never --ulimit "$few_files" "$image")
    # A new volume is what the image has there, with its owner and mode.
    [ -d "$work/data" ] || cp -a "$(buildah mount "$container")/data" "$work/data"
    touch "$work/started"
    buildah run --user "$1" --volume "$PWD/weights/en-de:/models/mine:ro" \
        --volume "$work/data:/data" --env ATTENTIOND_DATA_DIRECTORY=/data \
        --env ATTENTIOND_MODEL="$2" --env ATTENTIOND_PORT="$port" \
        "$container" -- attentiond serve >"$work/daemon.log" 2>&1 &
    runner=$!
}
buildah_inside() { buildah run --env ATTENTIOND_PORT="$port" "$container" -- "$@"; }
buildah_beside() { buildah_inside "$@"; }
# There is no --read-only here, so it is seen afterwards that nothing was written but what buildah itself puts there.
buildah_written() {
    find "$(buildah mount "$container")" -xdev -type f -newer "$work/started" -not -path '*/run/.containerenv' -not -path '*/etc/*'
}
# The daemon is the last of a chain of helpers; a signal to the first of them would kill, not stop.
buildah_stop() {
    local pid=$runner child
    while child=$(pgrep --parent "$pid" | head -n 1) && [ -n "$child" ]; do
        pid=$child
    done
    kill -TERM "$pid"
    exit_code=0
    wait "$runner" || exit_code=$?
}
buildah_clean() {
    [ -z "${container:-}" ] || buildah rm "$container" >/dev/null 2>&1 || true
}
buildah_forget() { rm -rf "$work/data"; }

# --- the proof -----------------------------------------------------------------------------------

# ask PATH JSON
ask() { curl -sS --fail-with-body --max-time "$patience" "127.0.0.1:$port$1" -H 'Content-Type: application/json' -d "$2"; }
wait_until_well() {
    local end=$((SECONDS + patience))
    while [ $SECONDS -lt $end ]; do
        "${engine}_inside" attentiond healthcheck >/dev/null 2>&1 && return
        sleep 0.2
    done
    fail "not well after $patience seconds"
}
expect() { # WHAT PATTERN TEXT
    grep -q -- "$2" <<<"$3" || fail "$1: expected $2, found: $3"
    say "$1: good"
}

# serves_as USER MODEL
serves_as() {
    local id
    say "as user $1 with ${2:-the models that are there}"
    "${engine}_forget"
    "${engine}_start" "$1" "$2"
    wait_until_well
    expect "translation" "$answer" "$(ask /translate "$question")"
    expect "list" 'en-de' "$("${engine}_inside" attentiond list)"
    expect "pull" 'Usage: attentiond pull' "$("${engine}_inside" attentiond pull --help)"
    expect "few open files" 'max_connections is [0-9]' "$(cat "$work/daemon.log")"
    expect "files of apt" '^0$' "$("${engine}_inside" find /var/lib/apt/lists /var/cache/apt -type f | wc -l)"
    id=$(ask /v2/glossaries "$glossary" | sed -n 's/.*"glossary_id":"\([^"]*\)".*/\1/p')
    "${engine}_stop"
    expect "exit code after SIGTERM" '^0$' "$exit_code"
    expect "files that it wrote" '^0$' "$("${engine}_written" | wc -l)"
    ! "${engine}_beside" attentiond healthcheck >/dev/null 2>&1 || fail "healthcheck is content when nothing serves"
    "${engine}_clean"

    say "another container with the same /data"
    "${engine}_start" "$1" "$2"
    wait_until_well
    expect "the glossary" 'Hauptbahnhof' "$(ask /translate "${question%\}},\"glossary_id\":\"$id\"}")"
    "${engine}_stop"
    "${engine}_clean"
    "${engine}_forget"
}

# BUILT=yes goes on with the image of the last run.
if docker info >/dev/null 2>&1; then engine=docker; else engine=buildah; fi
say "building with $engine"
trap '"${engine}_clean"' EXIT
[ "${BUILT:-no}" = yes ] || "${engine}_build"

config=$("${engine}_config")
expect "user" '"User":"10001:0"' "$config"
expect "entrypoint" '"Entrypoint":\["attentiond"\]' "$config"
expect "command" '"Cmd":\["serve"\]' "$config"
expect "health check" '"CMD","attentiond","healthcheck"' "$config"
expect "port" '"5000/tcp":{}' "$config"
expect "volume" '"/models":{}' "$config"

megabytes=$("${engine}_megabytes")
[ "$megabytes" -lt 300 ] || fail "the image has $megabytes MB, and should have less than 300"
say "megabytes: $megabytes"

serves_as 10001:0 ""
serves_as 23456:0 /models/mine
say "all good"
