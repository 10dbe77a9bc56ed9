#!/bin/sh
# vkb-build: a module against each server, and vkb-load loads it.
# shellcheck disable=SC2016 # what is for make or the command is not expanded
. "${0%/*}/lib.sh"
. "$tests/repo.sh"

two_servers

# It says with what it was compiled and how it was loaded.
mkdir mod
cat >mod/mod.c <<'E2'
#include "valkeymodule.h"
#include <stdio.h>
int
ValkeyModule_OnLoad(void *ctx, void **argv, int argc)
{
	int (*get)(const char *, void *) = ((void **)ctx)[0];
	void (*attributes)(void *, const char *, int, int);
	FILE *f = fopen(SAY, "w");

	get("ValkeyModule_SetModuleAttribs", &attributes);
	attributes(ctx, "vkbtest", 1, 1);
	fprintf(f, "API %d, arguments %d\n", API, argc);
	fclose(f);
	return argc < 0 || (argc && !argv);
}
E2
echo '*.so' >mod/.gitignore
git init -q mod
in_mod() { git -C mod "$@"; }
in_mod add -A
in_mod commit -qm first
mod=$(in_mod rev-parse HEAD)
cc="echo compiles; cc -shared -fPIC -I\"\$VKB_INCLUDE\" -DSAY='\"$scratch/loaded\"' -o mod.so mod.c"
build() { vkb-build -C repo --module-dir mod --module-build "$cc" "$@"; }
field() { jq -r "$1" .out; }
how() { field '"\(.status) \(.cached)"'; }

test_that 'a module, two servers' build 1 2
test_same 'ok false
ok false' "$(how)" 'are built'
test_same "$mod $mod" "$(field .subject.module_commit | xargs)" 'its commit'
test_same "$(in_mod show -s --format=%ct)" \
  "$(field '.subject.module_time | fromdate' | head -n 1)" 'its time'
test_same "false true $cc" \
  "$(field '"\(.subject.module_dirty) \(.subject.module_fixed) \(.subject.build.module)"' | head -n 1)" \
  'clean, the same for both, by the command'
so=$(field .module | head -n 1)
test_same "mod.so $(sha256sum <"$so" | cut -d ' ' -f 1)" \
  "$(basename "$so") $(field .module_sha256 | head -n 1)" 'the file'
test_empty "$(ls mod/*.so 2>/dev/null)" 'the work tree is not changed'
cp .out builds
test_that 'again' build 1 2
test_same 'ok true
ok true' "$(how)" 'from the cache'
test_same "$(jq -r .module builds)" "$(field .module)" 'the same files'
test_that 'without it' vkb-build -C repo 1
test_same 'ok true null null' \
  "$(field '"\(.status) \(.cached) \(.module) \(.subject.module_commit)"')" 'is the server alone'
test_that 'another command' build --module-build "$cc -O1" 1
test_same 'ok false' "$(how)" 'is another build'
log=$(find cache/vkb/builds -name log -exec grep -l '^compiles' {} + | wc -l)
test_same 3 "$log" 'its log is kept'

echo '// changed' >>mod/mod.c
test_that 'a dirty work tree' build 1
test_same "ok false true $mod" \
  "$(field '"\(.status) \(.cached) \(.subject.module_dirty) \(.subject.module_commit)"')" 'is another build'
in_mod commit -qam second
test_that 'the next commit' build 1
test_same "ok false false $(in_mod rev-parse HEAD)" \
  "$(field '"\(.status) \(.cached) \(.subject.module_dirty) \(.subject.module_commit)"')" 'is another one'

test_that 'two modules, one named' build --module-file b/x.so \
  --module-build "mkdir b; $cc; cp mod.so b/x.so" 1
test_same x.so "$(basename "$(field .module)")" 'it is the one'

# --- what goes wrong

bad() { # bad WHAT PATTERN OPTION...
  what=$1 pattern=$2
  shift 2
  test_status 2 "$what" build "$@" 1
  test_same 'failed null' "$(field '"\(.status) \(.module)"')" 'is a record'
  test_match "$pattern" .err 'the error says what is wrong'
}
bad 'a command that fails' 'the command exited with 3; the end of .*log' \
  --module-build 'echo no; exit 3'
test_match '^no$' "$(field .log)" 'the log is that of the module'
bad 'nothing made' 'made no \*\.so' --module-build true
bad 'two modules' "several modules: '.*\\.so', '.*\\.so'; .*--module-file" \
  --module-build "$cc; cp mod.so x.so"
bad 'another name' "cannot read the module '.*/y.so'" --module-file y.so
bad 'no terminal and no secret' 'exited with 7' --module-build \
  'if (: </dev/tty); then exit 8; fi; [ "$PGPASSWORD" ] && exit 8; exit 7'
test_status 2 'no work tree' build --module-dir home 1
test_match "repository 'home'" .err 'it is named'
test_empty_file .out 'and nothing is built'
test_status 2 'no command' vkb-build -C repo --module-dir mod 1
test_match "'--module-dir' needs '--module-build'" .err 'the error names the option that is missing'
test_status 2 'no folder' vkb-build -C repo --module-file x 1
test_match "'--module-file' needs '--module-build'" .err 'the error names the option that is missing'
test_status 2 'a server that is not there' build nothing
test_same 'failed null' "$(field '"\(.status) \(.subject.module_commit)"')" 'has no module'

# --- loaded by a real server

test_server 'vkb-load loads it'
jq -c --arg s "$server" '.server = $s' builds >real
config() {
  printf '[{"commands":["PING"],"requests":[100],"keyspacelen":[10],"data_sizes":[3],"pipelines":[1],"clients":[1],"cluster_mode":false,"tls_mode":false,"warmup":0%s}]\n' "$1"
}
config '' >plain.json
config ',"modules":[{"path":"/nowhere/mod.so","startup_args":["a","b"]}]' >args.json
for i in 1 2; do
  sed -n ${i}p real >build
  test_that "build $i: its module" vkb-load -q --builds build --runs 1 plain.json
  test_same "API $i, arguments 0" "$(cat loaded)" 'was loaded'
  test_same "ok $mod" "$(field '.status + " " + .subject.module_commit')" 'and is in the run'
  rm loaded
done
test_that 'with arguments' vkb-load -q --builds build --runs 1 args.json
test_same 'API 2, arguments 2' "$(cat loaded)" 'of the configuration'
test_same '[{"path":"mod.so","args":["a","b"]}]' "$(jq -c .config.modules .out)" \
  'the case says which'
rm loaded
test_that 'a module by name' vkb-load -q --module "$so" --runs 1 args.json
test_same 'API 1, arguments 2' "$(cat loaded)" 'takes its place'

# A baseline with a module, measured again beside the server without one.
rm -f loaded
vkb-load -q --module "$so" --runs 1 -o base.jsonl plain.json
rm loaded
test_that 'a baseline with a module' vkb-load -q --again base.jsonl --runs 1 plain.json
test_same 'API 1, arguments 0' "$(cat loaded)" 'is measured with it'
test_same "baseline $(readlink -f "$so") new null" "$(jq -r 'select(.type == "run") |
  "\(.subject.label) \(.run.module_path)"' .out | sort | xargs)" \
  'the new one without it'
rm loaded
vkb-load --module "$so" --again base.jsonl --runs 1 plain.json 2>.err >.out
test_match "'new' and 'baseline' are the same server" .err \
  'with the same module both are the same'
jq -c '.run.module_path = "/nowhere.so"' base.jsonl >gone.jsonl
test_status 2 'a baseline without its module' vkb-load --again gone.jsonl --runs 1 plain.json
test_match "gone.jsonl: cannot read '/nowhere.so', which was measured: .*; put the old one there, or measure" \
  .err 'is an error that names it'
test_status 2 'one that is not there' vkb-load -q --module x.so --runs 1 args.json
test_match "cannot read the module 'x.so': No such file" .err 'is named'
test_status 2 'for a running server' vkb-load --port 1 --module "$so" args.json
test_match "'--module' cannot be combined with a running server" .err 'is refused'
test_litter 0 'nothing is left'
test_done
