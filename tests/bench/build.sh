#!/bin/sh
# build.sh REPOSITORY [NAME=VALUE ...]: seconds that vkb-build takes for HEAD~1,
# for HEAD after it, and for HEAD again, beside 'git clone && make' of HEAD~1 and
# 'git checkout && make' of HEAD after it. The variables are for make.
set -eu
PATH=$(cd "${0%/*}/../../bin" && pwd):$PATH
repo=$(cd "$1" && pwd)
shift
dir=$(mktemp -d "${TMPDIR:-/tmp}/vkb-bench.XXXXXX")
trap 'rm -rf "$dir"' EXIT

# spent WHAT COMMAND...
spent() {
  what=$1 from=$(date +%s%N)
  shift
  "$@" >"$dir/out" 2>&1 || { cat "$dir/out" >&2; exit 2; }
  awk -v n="$(($(date +%s%N) - from))" -v what="$what" \
    'BEGIN { printf "%-28s %9.3f s\n", what, n / 1e9 }'
}

build() {
  ref=$1
  shift
  for v; do set -- "$@" --make-arg "$v"; shift; done
  vkb-build --cache "$dir/cache" -C "$repo" "$@" "$ref"
}

plain() {
  make -C "$dir/clone/src" -j "$(nproc)" "$@" \
    valkey-server valkey-cli valkey-benchmark
}
from_nothing() {
  git clone -q "$repo" "$dir/clone"
  git -C "$dir/clone" checkout -q "$before"
  plain "$@"
}
from_there() {
  git -C "$dir/clone" checkout -q "$after"
  plain "$@"
}
before=$(git -C "$repo" rev-parse HEAD~1)
after=$(git -C "$repo" rev-parse HEAD)

spent 'HEAD~1, from nothing' build HEAD~1 "$@"
spent 'HEAD, from there' build HEAD "$@"
spent 'HEAD, again' build HEAD "$@"
spent 'HEAD~1, git clone && make' from_nothing "$@"
spent 'HEAD, git checkout && make' from_there "$@"
