#!/bin/sh
# vkb-serve start, status, stop: for the steps of a CI job.
# shellcheck disable=SC2016 # expanded by the commands
. "${0%/*}/lib.sh"

test_server vkb-serve
test_cleanup() {
  vkb-serve -q stop >/dev/null 2>&1
  vkb-serve -q stop --dir "$scratch/run" >/dev/null 2>&1
}

test_status 1 'status without a server' vkb-serve status
test_that 'start' vkb-serve start
cp .out a
test_same ok "$(jq -r .status a)" 'start prints the record of the server'
test_that 'it answers' valkey-cli -p "$(jq '.nodes[0].port' a)" ping
test_that 'status' vkb-serve status
test_same "$(cat a)" "$(cat .out)" 'status prints the same record'
test_status 2 'start twice' vkb-serve start
test_match 'already running' .err 'the error says that a server runs already'
test_that 'the server that runs still answers' valkey-cli -p \
  "$(jq '.nodes[0].port' a)" ping
test_that 'stop' vkb-serve stop
test_same 'server stopped' "$(jq -r '.id + " " + .status' .out)" 'stop prints a record'
wait_until 10 gone "$(jq '.nodes[0].pid' a)"
test_result $? 'the server has ended'
test_empty "$(ls "$TMPDIR")" 'no run directory is left'
test_that 'stop twice' vkb-serve stop
test_status 1 'status after stop' vkb-serve status

# Two servers at once, each with its own folder, which has files of the user.
mkdir run
echo mine >run/lock
echo mine >run/state.json
test_that 'start in a folder' vkb-serve start --dir run --tls -o b.json
test_that 'start without a folder meanwhile' vkb-serve start
test_that 'stop of the server in the folder' vkb-serve stop --dir run
test_that 'the other server still runs' vkb-serve status
test_match 'Ready to accept' run/s1/n1.log 'the folder is kept'
test_same 'mine mine' "$(cat run/lock run/state.json | xargs)" \
  'files of the user in the folder are kept'

# A server that is killed.
pid=$(vkb-serve status | jq '.nodes[0].pid')
kill -SEGV "$pid"
failed() { [ "$(vkb-serve -q status | jq -r .status)" = failed ]; }
wait_until 10 failed
test_result $? 'status reports a server that was killed'
test_status 1 'status: exit status 1 without servers' vkb-serve status
test_match 'crashed by signal' .out 'status prints the end of its log'
test_status 1 'stop: exit status 1 without servers' vkb-serve stop
test_empty "$(ls "$TMPDIR")" 'no run directory is left'

# The supervisor is killed.
vkb-serve start >c
pid=$(jq '.nodes[0].pid' c)
supervisor=$(ps -o ppid= -p "$pid" | xargs ps -o ppid= -p | xargs) # above the reaper
kill -9 "$supervisor"
wait_until 10 gone "$pid"
test_result $? 'kill -9 of the supervisor: no server is left'
wait_until 10 test ! -e "$(jq -r .dir c)"
test_result $? 'kill -9 of the supervisor: no run directory is left'
test_status 1 'status after the supervisor was killed' vkb-serve status
test_that 'start after that' vkb-serve start
test_that 'stop after the second start' vkb-serve stop

# The supervisor is killed before the server is ready.
cat >killer <<'END'
#!/bin/sh
kill -9 "$(ps -o ppid= -p "$(ps -o ppid= -p $$ | xargs)" | xargs)"
END
chmod +x killer
test_status 2 'start whose supervisor is killed' vkb-serve start --server ./killer
test_match 'the background process was killed by signal 9' .err 'start says that it was killed'
test_status 1 'no server runs then' vkb-serve status

# vkb-serve start does not keep open files of its caller.
{
  vkb-serve start 5>&1 >/dev/null 2>&1 | cat
  touch ended
} &
wait_until 20 test -e ended
test_result $? 'a pipe of the caller is closed'
wait
test_that 'stop of the server' vkb-serve stop

test_status 2 'start with an invalid setting' vkb-serve start --config maxmemory=zz
test_same failed "$(jq -r .status .out)" 'start prints a record with the status failed'
test_status 1 'after a failed start no server runs' vkb-serve status
test_status 2 'start with a record that cannot be written' vkb-serve start -o no-such/r.json
test_status 1 'the server whose record cannot be written is stopped' vkb-serve status
test_status 2 'stop takes no spec' vkb-serve stop spec.json
test_empty "$(ls "$TMPDIR")" 'no run directory is left'
test_done
