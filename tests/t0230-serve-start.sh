#!/bin/sh
# vkb-serve start, status, stop: for the steps of a CI job.
# shellcheck disable=SC2016 # expanded by the commands
. "${0%/*}/lib.sh"

test_server vkb-serve
test_cleanup() {
  vkb-serve -q stop >/dev/null 2>&1
  vkb-serve -q stop --dir "$scratch/run" >/dev/null 2>&1
}

test_status 1 'nothing runs' vkb-serve status
test_that 'start' vkb-serve start
cp .out a
test_same ok "$(jq -r .status a)" 'it gives the record'
test_that 'it answers' valkey-cli -p "$(jq '.nodes[0].port' a)" ping
test_that 'status' vkb-serve status
test_same "$(cat a)" "$(cat .out)" '... is the same record'
test_status 2 'start twice' vkb-serve start
test_match 'already running' .err 'why'
test_that 'the first one is unharmed' valkey-cli -p \
  "$(jq '.nodes[0].port' a)" ping
test_that 'stop' vkb-serve stop
test_same 'server stopped' "$(jq -r '.id + " " + .status' .out)" 'a record'
wait_until 10 gone "$(jq '.nodes[0].pid' a)"
test_result $? 'it is gone'
test_empty "$(ls "$TMPDIR")" 'nothing is left'
test_that 'stop twice' vkb-serve stop
test_status 1 'status after stop' vkb-serve status

# Two servers at once, each with its own folder.
test_that 'start in a folder' vkb-serve start --dir run --tls -o b.json
test_that 'and another one' vkb-serve start
test_that 'stop the first' vkb-serve stop --dir run
test_that 'the other server still runs' vkb-serve status
test_match 'Ready to accept' run/s1/n1/server.log 'the folder is kept'

# The server dies.
pid=$(vkb-serve status | jq '.nodes[0].pid')
kill -SEGV "$pid"
failed() { [ "$(vkb-serve -q status | jq -r .status)" = failed ]; }
wait_until 10 failed
test_result $? 'a death is noticed'
test_status 1 'status: exit status 1 without servers' vkb-serve status
test_match 'crashed by signal' .out 'with the end of the log'
test_status 1 'stop: exit status 1 without servers' vkb-serve stop
test_empty "$(ls "$TMPDIR")" 'nothing is left'

# The supervisor is killed.
vkb-serve start >c
pid=$(jq '.nodes[0].pid' c)
supervisor=$(ps -o ppid= -p "$pid" | tr -d ' ')
kill -9 "$supervisor"
wait_until 10 gone "$pid"
test_result $? 'kill -9 of the supervisor: no server is left'
wait_until 10 test ! -e "$(jq -r .dir c)"
test_result $? 'nor its folder'
test_status 1 'status knows' vkb-serve status
test_that 'it can be started again' vkb-serve start
test_that 'and stopped' vkb-serve stop

# Nothing of the caller's is held open.
{
  vkb-serve start 5>&1 >/dev/null 2>&1 | cat
  touch ended
} &
wait_until 20 test -e ended
test_result $? 'a pipe of the caller is not held open'
wait
test_that 'stop again' vkb-serve stop

test_status 2 'a bad start' vkb-serve start --config maxmemory=zz
test_same failed "$(jq -r .status .out)" 'gives a failed record'
test_status 1 'and leaves nothing' vkb-serve status
test_status 2 'stop takes no spec' vkb-serve stop spec.json
test_empty "$(ls "$TMPDIR")" 'nothing is left'
test_done
