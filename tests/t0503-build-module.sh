#!/bin/sh
# vkb-build: a module is built for each server, and vkb-load loads it.
# shellcheck disable=SC2016 # what is for make or the command is not expanded
. "${0%/*}/lib.sh"
. "$tests/repo.sh"

two_servers

# The module prints its compile-time API and its arguments.
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
build() {
  case $* in *--module-build*) ;; *) set -- --module-build "$cc" "$@" ;; esac
  case $* in *'--module-dir '*) ;; *) set -- --module-dir mod "$@" ;; esac
  vkb-build -C repo "$@"
}
field() { jq -r "$1" .out; }
how() { field '"\(.status) \(.cached)"'; }

test_that 'a module is built for two servers' build 1 2
test_same 'ok false
ok false' "$(how)" 'both builds succeed'
test_same "$mod $mod" "$(field .subject.module_commit | xargs)" 'the record has the commit of the module'
test_same "$(in_mod show -s --format=%ct)" \
  "$(field '.subject.module_time | fromdate' | head -n 1)" 'the record has the time of the commit of the module'
test_same "false true $cc" \
  "$(field '"\(.subject.module_dirty) \(.subject.module_fixed) \(.subject.build.module)"' | head -n 1)" \
  'the module has no changes, is the same for both servers and has its build command'
so=$(field .module | head -n 1)
test_same "mod.so $(sha256sum <"$so" | cut -d ' ' -f 1)" \
  "$(basename "$so") $(field .module_sha256 | head -n 1)" 'the record has the file of the module and its hash'
test_empty "$(ls mod/*.so 2>/dev/null)" 'the work tree of the module is unchanged'
cp .out builds
test_that 'the same builds are accepted again' build 1 2
test_same 'ok true
ok true' "$(how)" 'the second time they come from the cache'
test_same "$(jq -r .module builds)" "$(field .module)" 'the module files are the same'
test_that 'a build without the module is accepted' vkb-build -C repo 1
test_same 'ok true null null' \
  "$(field '"\(.status) \(.cached) \(.module) \(.subject.module_commit)"')" 'a build without the module is the server alone'
test_that 'another build command is accepted' build --module-build "$cc -O1" 1
test_same 'ok false' "$(how)" 'another build command is not in the cache'
log=$(find cache/vkb/builds -name log -exec grep -l '^compiles' {} + | wc -l)
test_same 3 "$log" 'the log of another command is kept'

echo '// changed' >>mod/mod.c
test_that 'a work tree with changes is built' build 1
test_same "ok false true $mod" \
  "$(field '"\(.status) \(.cached) \(.subject.module_dirty) \(.subject.module_commit)"')" 'a module with changes is a new build'
in_mod commit -qam second
test_that 'the next commit of the module is built' build 1
test_same "ok false false $(in_mod rev-parse HEAD)" \
  "$(field '"\(.status) \(.cached) \(.subject.module_dirty) \(.subject.module_commit)"')" 'the next commit of the module is a new build'

test_that '--module-file chooses one of two modules' build --module-file b/x.so \
  --module-build "mkdir b; $cc; cp mod.so b/x.so" 1
test_same x.so "$(basename "$(field .module)")" 'the chosen module is the one recorded'

# --- what goes wrong

bad() { # bad WHAT PATTERN OPTION...
  what=$1 pattern=$2
  shift 2
  test_status 2 "$what" build "$@" 1
  test_same 'failed null' "$(field '"\(.status) \(.module)"')" "$what: the record is failed and has no module"
  test_match "$pattern" .err "$what: the error has the reason"
}
bad 'a command that fails' 'the command exited with 3; the end of .*log' \
  --module-build 'echo no; exit 3'
test_match '^no$' "$(field .log)" 'the error has the end of the log of the module'
bad 'a command that makes no file' 'made no \*\.so' --module-build true
bad 'a command that makes two modules' "several modules: '.*\\.so', '.*\\.so'; .*--module-file" \
  --module-build "$cc; cp mod.so x.so"
bad 'a --module-file that was not made' "cannot read the module '.*/y.so'" --module-file y.so
bad 'no terminal and no secret' 'exited with 7' --module-build \
  'if (: </dev/tty); then exit 8; fi; [ "$PGPASSWORD" ] && exit 8; exit 7'
test_status 2 'a module folder that is not a work tree is an error' build --module-dir home 1
test_match "repository 'home'" .err 'the error names the module folder'
test_empty_file .out 'nothing is built without a work tree'
test_status 2 '--module-dir without --module-build is an error' vkb-build -C repo --module-dir mod 1
test_match "'--module-dir' needs '--module-build'" .err 'the error names the option that is missing'
test_status 2 '--module-file without --module-dir is an error' vkb-build -C repo --module-file x 1
test_match "'--module-file' needs '--module-build'" .err 'the error names the option that is missing'
test_status 2 'a server commit that does not exist is an error' build nothing
test_empty_file .out 'nothing is built without a server'

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
  test_that "build $i: vkb-load runs with the module" vkb-load -q --builds build --runs 1 plain.json
  test_same "API $i, arguments 0" "$(cat loaded)" "build $i: the server loads the module"
  test_same "ok $mod" "$(field '.status + " " + .subject.module_commit')" "build $i: the run has the commit of the module"
  rm loaded
done
test_that 'a configuration with arguments for the module runs' vkb-load -q --builds build --runs 1 args.json
test_same 'API 2, arguments 2' "$(cat loaded)" 'the module gets the arguments of the configuration'
test_same '[{"path":"mod.so","args":["a","b"]}]' "$(jq -c .config.modules .out)" \
  'the case has the module and its arguments'
rm loaded
test_that '--module replaces the module of the configuration' vkb-load -q --module "$so" --runs 1 args.json
test_same 'API 1, arguments 2' "$(cat loaded)" 'the module of --module is loaded'

# A baseline with a module, measured again beside the server without one.
rm -f loaded
vkb-load -q --module "$so" --runs 1 -o base.jsonl plain.json
rm loaded
test_that 'a baseline with a module is measured again' vkb-load -q --again base.jsonl --runs 1 plain.json
test_same 'API 1, arguments 0' "$(cat loaded)" 'the module is loaded for the baseline only'
test_same "baseline $(readlink -f "$so") new null" "$(jq -r 'select(.type == "run") |
  "\(.subject.label) \(.run.module_path)"' .out | sort | xargs)" \
  'the baseline run has the module, the new one has none'
rm loaded
vkb-load --module "$so" --again base.jsonl --runs 1 plain.json 2>.err >.out
test_match "'new' and 'baseline' are the same server" .err \
  'with the same module both servers are the same'
jq -c '.run.module_path = "/nowhere.so"' base.jsonl >gone.jsonl
test_status 2 'a baseline whose module is gone is an error' vkb-load --again gone.jsonl --runs 1 plain.json
test_match "gone.jsonl: cannot read '/nowhere.so', which was measured: .*; put the old one there, or measure" \
  .err 'the error names the module that is gone'
test_status 2 'a module file that does not exist is an error' vkb-load -q --module x.so --runs 1 args.json
test_match "cannot read the module 'x.so': No such file" .err 'the error names the module file'
test_status 2 '--module with a running server is an error' vkb-load --port 1 --module "$so" args.json
test_match "'--module' cannot be combined with a running server" .err 'the error says that --module needs a started server'
test_litter 0 'no server and no file is left'
test_done
