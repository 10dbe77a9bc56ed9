#!/bin/sh
. "${0%/*}/lib.sh"

# valkey_source DIR: gets the sources by apt, without the machine's package lists
valkey_source() {
  command -v apt-get >/dev/null || return 1
  for list in /etc/apt/sources.list.d/debian.sources \
    /etc/apt/sources.list.d/ubuntu.sources; do
    [ ! -r "$list" ] || break
  done
  [ -r "$list" ] || return 1
  suite=$(sed -n 's/^VERSION_CODENAME=//p' /etc/os-release)
  [ "$suite" != bookworm ] || suite=trixie # the first that has it
  mkdir -p apt/parts apt/lists/partial apt/files
  sed -e '/^$/,$d' -e '/^#/d' -e 's/^Types:.*/Types: deb-src/' \
    -e "s/^Suites:.*/Suites: $suite/" "$list" >apt/parts/src.sources
  set -- "$1" -qq -o Dir::Etc::sourcelist=/dev/null \
    -o Dir::Etc::sourceparts="$scratch/apt/parts" \
    -o Dir::State::lists="$scratch/apt/lists" -o APT::Sandbox::User=root \
    -o Acquire::Retries=3
  mkdir "$1"
  dir=$1
  shift
  # Only the upstream tarball is fetched: a mirror may lack the newest of Debian's own
  # files, and one of Debian's patches breaks a plain make.
  { apt-get "$@" update &&
    (cd apt/files && apt-get "$@" source --download-only --tar-only valkey) &&
    tar -xf apt/files/valkey_*.orig.tar.* -C "$dir" --strip-components=1; } \
    >apt/log 2>&1
}

if [ -n "${VKB_VALKEY_SRC:-}" ] && [ -e "$VKB_VALKEY_SRC/src/server.c" ]; then
  mkdir source
  tar -C "$VKB_VALKEY_SRC" -cf - --exclude-vcs . | tar -C source -xf -
elif ! valkey_source source; then
  [ ! -e apt/log ] || sed 's/^/# /' apt/log
  test_skip 'real sources' 'VKB_VALKEY_SRC, or apt with sources'
  test_done
fi
. "$tests/repo.sh"
mv source repo
git init -q repo
in_repo add -Af
in_repo commit -qm first
in_repo tag first
echo 'int vkbSecond(void) { return 2; }' >>repo/src/server.c
commit second
test_same 1 "$(in_repo diff --name-only first HEAD | wc -l)" 'the repository has a second commit'

field() { jq -r "$1" .out; }
build() {
  vkb-build -C repo --make-arg OPTIMIZATION=-O0 --make-arg DEBUG= --allocator libc "$@"
}
how() { field '"\(.status) \(.incremental) \(.cached)"'; }
test_that 'the first commit is built' build first
test_same 'ok false false' "$(how)" 'the first build starts from nothing'
test_same "$(head_of first | cut -c 1-8)" "$(field .git_sha)" 'the server reports the first commit'
version=$(sed -n 's/.*VALKEY_VERSION "\(.*\)".*/\1/p' repo/src/version.h)
test_same "$version" "$(field .version)" 'the record has the version'
test_that 'the second commit is built' build HEAD
test_same 'ok true false' "$(how)" 'the second build reuses the objects of the first'
test_same "$(head_of HEAD | cut -c 1-8)" "$(field .git_sha)" 'the server reports the second commit'
test_same server "$(sed -n 's/.*CC.*[^a-z_]\([0-9;]*m\)\{0,1\}\(server\|dict\|networking\|cluster\)\.o.*/\2/p' \
  "$(field .log)")" 'only the changed source is compiled'
test_that 'both commits are built again' build first HEAD
test_same 'ok false true
ok true true' "$(how)" 'the second time both come from the cache'
test_empty "$(in_repo status --porcelain)" 'the repository is unchanged'

# --- a module, with the header of that commit

mkdir module
cat >module/module.c <<'END'
#include "valkeymodule.h"
int
ValkeyModule_OnLoad(ValkeyModuleCtx *ctx, ValkeyModuleString **argv, int argc)
{
	(void)argv;
	if (argc != 2)
		return VALKEYMODULE_ERR;
	return ValkeyModule_Init(ctx, "vkbtest", 1, VALKEYMODULE_APIVER_1);
}
END
git init -q module
git -C module add -A
git -C module commit -qm module
cat >cfg.json <<'END'
[{"commands": ["SET", "GET"], "requests": [500], "keyspacelen": [100],
  "data_sizes": [16], "pipelines": [1], "clients": [4], "warmup": 0,
  "modules": [{"path": "module.so", "startup_args": ["a", "b"]}],
  "cluster_mode": false, "tls_mode": false}]
END
# shellcheck disable=SC2016 # for that shell
test_that 'a module is built for both commits' build --module-dir module --module-build \
  'cc -shared -fPIC -I"$VKB_INCLUDE" -o module.so module.c' first HEAD
test_same 'ok ok' "$(field .status | xargs)" 'the builds of the module succeed'
cp .out builds
TMPDIR=$scratch/tmp
export TMPDIR
mkdir "$TMPDIR"
test_that 'vkb-load measures both builds' vkb-load -q --builds builds --runs 2 cfg.json
test_same "8 ok $(git -C module rev-parse HEAD)" \
  "$(jq -rs '"\(length) \([.[].status] | unique[]) \([.[].subject.module_commit] | unique[])"' .out)" \
  'all runs of both builds are ok and have the module'
test_same "$version" "$(jq -rs '[.[].subject.server_version] | unique[]' .out)" 'the runs have the version of the built server'
sed 's/"tls_mode": false/"tls_mode": true/' cfg.json >tls.json
test_status 2 'a server without TLS cannot be measured with it' vkb-load --builds builds --runs 1 tls.json
test_match 'the server was built without TLS: build it with BUILD_TLS=yes' .err 'the error says how to build it'
vkb-compare --baseline first .out >report
test_match 'failed in the baseline: GET: .* from the end of its log: the server was built without TLS' report \
  'the report has the line that says why'
test_litter 10 'no server is left'
test_done
