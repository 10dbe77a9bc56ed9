# shellcheck shell=sh
# Sourced by every test script: TAP on stdout, a scratch folder as the current
# one, no leftovers. The programs are in PATH.
#
#	. "${0%/*}/lib.sh"
#	test_that 'runs are summarised' vkb-stats runs.jsonl
#	test_status 2 'a bad option' vkb-stats --nonsense
#	test_same "$want" "$got" 'the summary is the wanted text'
#	test_absent 'secret' log 'no secret is in the log'
#	test_done

set -u
exec </dev/null # the same input wherever the tests run
umask 022
LC_ALL=C TZ=UTC
export LC_ALL TZ
# vkb-load writes only runs, unless a script sets this variable otherwise.
VKB_ENV_RECORD=no
export VKB_ENV_RECORD
unset MAKEFLAGS MFLAGS MAKELEVEL # set by the make that runs the tests
unset NO_COLOR COLUMNS CDPATH SOURCE_DATE_EPOCH GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE
unset VKB_OWNER VKB_USER VKB_PASSWORD VKB_HOST VKB_PORT
VKB_LOCK=no # tests run at the same time; none depends on measured times
export VKB_LOCK
VKB_COUNT=no # counting takes seconds for each case
export VKB_COUNT
unset VALKEYCLI_AUTH REDISCLI_AUTH
unset CI
for name in $(env | sed -n 's/^\(\(GITHUB\|CI\|VKB_GITLAB\|VKB_S3\)_[A-Z0-9_]*\)=.*/\1/p'); do
  unset "$name"
done
tests=$(cd "${0%/*}" && pwd)
top=${tests%/tests}
: "${VKB_BIN:=$top/bin}" "${VKB_BUILD:=$top/build}"
PATH=$VKB_BIN:$top/bin:$PATH
export PATH VKB_BIN VKB_BUILD tests # also for scripts that tests write
# shellcheck source=tests/wait.sh
. "$tests/wait.sh"
acceptance=${VKB_ACCEPTANCE:-$top/../shared/acceptance}
test_n=0 test_bad=0
scratch=$(mktemp -d "${TMPDIR:-/tmp}/vkb-test.XXXXXX") || exit 2
test_cleanup() { :; } # a script may redefine this to stop more processes
trap 'test_cleanup; cd /; rm -rf "$scratch"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
cd "$scratch" || exit 2

# test_result STATUS WHAT: prints a result; the other functions call it.
test_result() {
  test_n=$((test_n + 1))
  if [ "$1" -eq 0 ]; then
    printf 'ok %d - %s\n' "$test_n" "$2"
  else
    test_bad=$((test_bad + 1))
    printf 'not ok %d - %s\n' "$test_n" "$2"
  fi
}

# test_status STATUS WHAT COMMAND...: stdout is in $scratch/.out, stderr .err.
test_status() {
  test_want=$1 test_what=$2
  shift 2
  "$@" >"$scratch/.out" 2>"$scratch/.err" </dev/null
  test_got=$?
  if [ "$test_got" -eq "$test_want" ]; then
    test_result 0 "$test_what"
  else
    test_result 1 "$test_what"
    printf '# status %s, wanted %s: %s\n' "$test_got" "$test_want" "$*"
    sed 's/^/# /' "$scratch/.err" "$scratch/.out" | head -n 40
  fi
}

test_that() {
  test_that_what=$1
  shift
  test_status 0 "$test_that_what" "$@"
}

# test_same WANT GOT WHAT: the two texts are equal. Two empty ones are a failure,
# because a command that did not run prints nothing as well: test_empty and
# test_empty_file are for what should be empty.
test_same() {
  if [ "$1" = "$2" ] && [ "$1" ]; then
    test_result 0 "$3"
    return
  fi
  test_result 1 "$3"
  if [ "$1" ]; then
    printf '%s\n' "wanted: $1" "got:    $2" | sed 's/^/# /'
  elif [ "$2" ]; then
    printf '%s\n' "wanted nothing, got: $2" | sed 's/^/# /'
  else
    echo '# both texts are empty: test_empty is for that'
  fi
}

# test_empty TEXT WHAT: TEXT, which is the output of a command, is empty.
test_empty() {
  if [ -z "$1" ]; then
    test_result 0 "$2"
  else
    test_result 1 "$2"
    printf 'wanted nothing, got: %s\n' "$1" | sed 's/^/# /' | head -n 40
  fi
}

# test_empty_file FILE WHAT: FILE exists and holds nothing.
test_empty_file() {
  if [ -f "$1" ] && ! [ -s "$1" ]; then
    test_result 0 "$2"
  elif [ -f "$1" ]; then
    test_result 1 "$2"
    printf '# %s should be empty:\n' "$1"
    head -n 20 "$1" | sed 's/^/# /'
  else
    test_result 1 "$2"
    printf '# there is no file %s\n' "$1"
  fi
}

# test_match PATTERN FILE WHAT: a line of FILE matches the extended pattern.
test_match() {
  if grep -Eq -- "$1" "$2"; then
    test_result 0 "$3"
  else
    test_result 1 "$3"
    printf '# no line matches %s in:\n' "$1"
    head -n 20 "$2" | sed 's/^/# /'
  fi
}

# test_absent PATTERN FILE WHAT: no line of FILE matches the extended pattern. A
# FILE that does not exist is a failure.
test_absent() {
  test_found=$(grep -En -- "$1" "$2" 2>&1)
  if [ $? -eq 1 ]; then
    test_result 0 "$3"
  else
    test_result 1 "$3"
    printf '# no line of %s should match %s:\n' "$2" "$1"
    printf '%s\n' "$test_found" | sed 's/^/# /' | head -n 20
  fi
}

# test_skip WHAT WHY: in CI, where VKB_TEST_ALL is set, nothing may be skipped.
test_skip() {
  if [ -n "${VKB_TEST_ALL:-}" ]; then
    test_result 1 "$1 (needs $2)"
  else
    test_n=$((test_n + 1))
    printf 'ok %d - %s # SKIP %s\n' "$test_n" "$1" "$2"
  fi
}

# test_server WHAT: the rest of the script needs a real server. Run directories and
# sockets are made in a folder of the script, so that files that are left over are
# found.
# shellcheck disable=SC2034 # $server is for the script
test_server() {
  if ! server=$(command -v valkey-server); then
    test_skip "$1" valkey-server
    test_done
  fi
  TMPDIR=$scratch/tmp
  export TMPDIR
  mkdir "$TMPDIR"
}

# test_other SPEC: starts a server that vkb-load did not start. It ends with the test,
# or with end_other; $other is its record, $port is its port.
# shellcheck disable=SC2034 # $port is for the script
test_other() {
  mkfifo ask answer
  vkb-serve --follow <ask >answer 2>serve.err &
  serve=$!
  exec 3>ask 4<answer
  test_cleanup() {
    exec 3>&- 4<&-
    wait "$serve"
  }
  end_other() {
    test_cleanup
    test_cleanup() { :; }
  }
  cat "$1" >&3
  read -r other <&4
  port=${other#*'"port":'}
  port=${port%%[!0-9]*}
}

# test_postgres WHAT: the rest of the script needs PostgreSQL. A server is started for
# it, on a unix socket in the scratch folder, and the PG* variables name it. As root the
# server runs as the user postgres. To make its folder takes seconds: the scripts of one
# tests/check copy that of the first.
test_postgres() {
  for pg_bin in /usr/lib/postgresql/*/bin "$(dirname "$(command -v initdb || echo /none/initdb)")"; do
    [ ! -x "$pg_bin/initdb" ] || [ ! -x "$pg_bin/postgres" ] || break
  done
  if [ ! -x "$pg_bin/initdb" ]; then
    test_skip "$1" PostgreSQL
    test_done
  fi
  PATH=$pg_bin:$PATH # the psql of Debian is a wrapper that takes three times as long
  mkdir "$scratch/pg"
  if [ "$(id -u)" -eq 0 ]; then
    chmod 711 "$scratch"
    chown postgres: "$scratch/pg"
  fi
  test_cleanup() { postgres_stop; }
  for pg_name in $(env | sed -n 's/^\(PG[A-Z]*\)=.*/\1/p'); do
    unset "$pg_name"
  done
  if ! postgres_init || ! postgres_start; then
    test_result 1 "$1: PostgreSQL starts"
    sed 's/^/# /' "$scratch/pg.log"
    test_done
  fi
  PGHOST=$scratch/pg PGUSER=postgres PGDATABASE=postgres
  export PGHOST PGUSER PGDATABASE
}

postgres_init() {
  pg_made=${TEST_MADE:-/none}/pg
  if [ -d "$pg_made" ]; then
    cp -a "$pg_made" "$scratch/pg/data"
    return
  fi
  as_postgres initdb -D "$scratch/pg/data" -U postgres -A trust -E UTF8 --locale=C --no-sync \
    --wal-segsize=1 >"$scratch/pg.log" 2>&1 || return
  [ -z "${TEST_MADE:-}" ] ||
    { cp -a "$scratch/pg/data" "$pg_made.$$" && mv -T "$pg_made.$$" "$pg_made"; } 2>/dev/null || :
}

as_postgres() {
  pg_tool=$pg_bin/$1
  shift
  if [ "$(id -u)" -eq 0 ]; then
    runuser -u postgres -- env -C / "$pg_tool" "$@"
  else
    "$pg_tool" "$@"
  fi
}

# The server is a child that ends with the script, even if that is killed.
postgres_start() {
  pg_user=
  [ "$(id -u)" -ne 0 ] ||
    pg_user='--reuid=postgres --regid=postgres --init-groups'
  # shellcheck disable=SC2086 # several words
  setpriv $pg_user --pdeathsig QUIT env -C / "$pg_bin/postgres" \
    -D "$scratch/pg/data" -k "$scratch/pg" -c listen_addresses= \
    -c fsync=off -c full_page_writes=off </dev/null >>"$scratch/pg.log" 2>&1 &
  pg_pid=$!
  wait_until 60 psql -X -q -h "$scratch/pg" -U postgres -d postgres -c ''
}

postgres_stop() {
  [ -n "${pg_pid:-}" ] || return 0
  kill -QUIT "$pg_pid" 2>/dev/null
  wait "$pg_pid" 2>/dev/null
  pg_pid=
}

# sql STATEMENT...: runs the statements one after the other; prints rows as a|b.
sql() {
  for sql_text; do
    shift
    set -- "$@" -c "$sql_text"
  done
  psql -X -q -A -t -v ON_ERROR_STOP=1 "$@"
}

# descendants PID NAME: prints the processes of this name that the process, its children,
# and so on, have started.
descendants() {
  ps -eo pid=,ppid=,comm= | awk -v top="$1" -v wanted="$2" '
    { parent[$1] = $2; name[$1] = $3 }
    END {
      for (p in name) {
        for (q = p; q && q != top; q = parent[q])
          ;
        if (q == top && p != top && name[p] == wanted)
          print p
      }
    }'
}

# find_victim PID: $victim is the process of the server that the vkb-load with
# this process id has started; false if there is none yet.
# shellcheck disable=SC2034 # $victim is for the script
find_victim() {
  victim=$({ descendants "$1" valkey-server; descendants "$1" redis-server; } | head -n 1)
  [ "$victim" ]
}

# gone PID: the process has ended; a zombie that is not reaped yet counts too.
gone() { ! grep -qs '^State:.[^ZX]' "/proc/$1/status"; }
# make_leaver: writes ./leave, which leaves a daemon, a process with a session of its own
# whose parent has ended, and writes its pid into the file of its argument.
make_leaver() {
  cat >leave <<'END'
#!/bin/sh
pid=$( (setsid sh -c 'echo $$; exec tail -f /dev/null >/dev/null 2>&1 </dev/null' &) )
echo "$pid" >"$1"
END
  chmod +x leave
}
# run_proposed COMMAND: runs a command that a report proposes by a shell, as it is printed
# but for the options of vkb-why: one short round, since it need not go on after it has
# built. valgrind fails, and perf is not there, so that nothing is loaded for a profile.
run_proposed() {
  proposed_path=$scratch/fails
  if [ ! -d "$scratch/fails" ]; then
    mkdir "$scratch/fails"
    printf '#!/bin/sh\nexit 1\n' >"$scratch/fails/valgrind"
    chmod +x "$scratch/fails/valgrind"
  fi
  for folder in $(echo "$PATH" | tr ':' ' '); do
    if [ -e "$folder/perf" ]; then
      link_others "$(realpath "$folder")"
      folder=$others
    fi
    proposed_path=$proposed_path:$folder
  done
  env PATH="$proposed_path" sh -c "$(printf '%s\n' "$1" |
    sed 's/^vkb-why /&--rounds 1 --time 0.1s /')"
}
# link_others FOLDER: $others is a folder of links to all programs of FOLDER but perf. They
# are thousands: the scripts of one tests/check share them.
link_others() {
  others=${TEST_MADE:-$scratch}/without$(echo "$1" | tr / -)
  [ ! -d "$others" ] || return 0
  mkdir "$others.$$"
  ln -s "$1"/* "$others.$$"
  rm "$others.$$/perf"
  mv -T "$others.$$" "$others" 2>/dev/null || : # another script was faster
}
# named_tests: prints the names of the tests of vkb-load -t, a line each, without LRANGE,
# which is LRANGE_100.
named_tests() {
  vkb-load -t '?' 2>&1 | sed -n 's/.*(the tests are \([A-Z0-9_,]*\);.*/\1/p' | tr , '\n' |
    grep -vx LRANGE
}
# report_formats: prints those of vkb-compare, a line each.
report_formats() {
  vkb-compare -f '?' none 2>&1 | sed -n 's/.* is not one of \(.*\), with or without .*/\1/p' |
    sed 's/, /\n/g'
}
# next_of FILE: prints the command that the report in FILE proposes.
next_of() { sed -n 's/^Next: //p' "$1"; }
# litter: lists the run directories, sockets and temporary files that are left.
# The logs that vkb-load keeps of failed runs do not count.
litter() { find "$TMPDIR" -mindepth 1 ! -path "$TMPDIR/vkb-logs.*"; }
no_litter() { [ -z "$(litter)" ]; }
# test_litter SECONDS WHAT [FOLDER]: fails if files are still left after this time, and
# lists them. FOLDER is that of a workflow that was killed: what it had started, which
# holds the lock of the folder and may be between two servers, ends first.
test_litter() {
  if [ "${3:-}" ] && ! wait_until "$1" flock -n "$3" true; then
    test_result 1 "$2: what it had started has ended"
    return
  fi
  [ "$1" -eq 0 ] || wait_until "$1" no_litter
  test_empty "$(litter)" "$2"
}

# test_unable WHAT WHY: skips a test, also in CI, for a reason that no package removes.
test_unable() {
  test_n=$((test_n + 1))
  printf 'ok %d - %s # SKIP %s\n' "$test_n" "$1" "$2"
}

# test_reference NAME WHAT: skips WHAT unless the third-party case NAME is there. Such
# cases are never committed, and may be missing anywhere.
test_reference() {
  [ -e "$acceptance/$1" ] && return 0
  test_unable "$2" 'no reference cases here'
  return 1
}

test_done() {
  printf '1..%d\n' "$test_n"
  [ "$test_bad" -eq 0 ] || exit 1
  exit 0
}

# start_forge: starts a server with the parts of the APIs of GitHub and GitLab that we
# use. Its port is in the file port, its state in the file state, its requests in the
# file log.
start_forge() {
  perl "$tests/forge.pl" port state log 2>forge.err &
  forge=$!
  test_cleanup() { kill "$forge" 2>/dev/null; }
  wait_until 60 test -s port && return
  test_result 1 'the forge starts'
  sed 's/^/# /' forge.err
  test_done
}

# test_programs WHAT PROGRAM ...: skips WHAT and ends the script unless all programs are
# there.
test_programs() {
  test_programs_what=$1
  shift
  for program; do
    command -v "$program" >/dev/null && continue
    test_skip "$test_programs_what" "$program"
    test_done
  done
}
