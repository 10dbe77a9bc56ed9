#!/bin/sh
# vkb-serve --follow: reads a record per line and answers with a record; the end of a
# server is reported at once.
# sanitize: records that are followed.
# shellcheck disable=SC2016 # expanded by the commands
. "${0%/*}/lib.sh"

test_server vkb-serve

ask() { # ask LINE...: prints the answer to each line
  printf '%s\n' "$@" >&3
  for _; do
    read -r answer <&4
    printf '%s\n' "$answer"
  done
}

mkfifo in out
vkb-serve --follow <in >out 2>err &
serve=$!
exec 3>in 4<out

ask '{"type":"spec","v":1,"id":"a"}' >a
test_same 'a ok' "$(jq -r '.id + " " + .status' a)" 'a server starts'
port=$(jq '.nodes[0].port' a)
test_that 'it answers' valkey-cli -p "$port" ping
ask '{"type":"spec","v":1,"id":"b","tls":true}' \
  '{"type":"spec","v":1,"id":"c","config":{"maxmemory":"1mb"}}' \
  '{"type":"spec","v":1,"id":"a","action":"stop"}' >b
test_same 'b ok c ok a stopped' \
  "$(jq -r '.id + " " + .status' b | paste -sd' ' -)" 'the answers have the order of the lines'
wait_until 10 gone "$(jq '.nodes[0].pid' a)"
test_result $? 'the stopped server has ended'
ask '{"type":"spec","v":1,"id":"c"}' '{"type":"spec","v":1,"id":"z","action":"stop"}' \
  '{"type":"spec","v":1,"id":"d","server":"/nonexistent"}' \
  '{"type":"spec","v":1,"id":"e","config":{"maxmemory":"zz"}}' \
  'nonsense' '{"type":"spec","v":1,"id":"f","port":"x"}' \
  '{"type":"spec","v":1,"id":"g","action":"jump"}' '{"type":"run","v":9}' >c
test_same 'c failed z failed d failed e failed  failed f failed g failed  failed' \
  "$(jq -r '.id + " " + .status' c | paste -sd' ' -)" 'each refused line has an answer'
test_match 'c.*already running' c 'an id that is running is refused'
test_match 'maxmemory' c 'the answer has the end of the log'
test_same 8 "$(jq -r 'select(.error | length > 0) | .id' c | wc -l)" 'each refused line has a reason'

# The end of a server is reported at once, without a line on stdin.
pid=$(sed -n 2p b | jq '.nodes[0].pid')
kill -SEGV "$pid"
read -r answer <&4
test_same 'c failed' "$(printf '%s\n' "$answer" | jq -r '.id + " " + .status')" \
  'the end of a server is reported without a line on stdin'
test_match 'crashed by signal' err 'the report has the end of the log'
ask '{"type":"spec","v":1,"id":"c","action":"stop"}' \
  '{"type":"spec","v":1,"id":"c"}' >d
test_same 'c stopped c ok' \
  "$(jq -r '.id + " " + .status' d | paste -sd' ' -)" 'the server can be started again'

# A server that was killed is stopped before vkb-serve noticed, or reported, its end.
kill -KILL "$(tail -n 1 d | jq '.nodes[0].pid')"
ask '{"type":"spec","v":1,"id":"c","action":"stop"}' >f
test_same 'c failed true' "$(jq -r '"\(.id) \(.status) \(.error | contains("signal"))"' f)" \
  'stopping a server that was killed reports its end'

# An unknown key is ignored.
printf '%s\n' '{"type":"spec","v":1,"id":"h","colour":"red"}' >&3
while read -r answer <&4 && [ "$(printf '%s\n' "$answer" | jq -r .id)" != h ]; do :; done
test_same ok "$(printf '%s\n' "$answer" | jq -r .status)" 'a spec with an unknown key is accepted'

# The end of stdin.
exec 3>&-
wait $serve
test_same 2 $? 'after invalid lines the exit status is 2'
pid=$(sed -n 1p b | jq '.nodes[0].pid')
wait_until 10 gone "$pid"
test_result $? 'the end of stdin stops all servers'
test_empty "$(ls "$TMPDIR")" 'no run directory is left'
exec 4<&-

echo '{"type":"spec","v":1,"id":"a"}' | vkb-serve --follow >one
test_same 0 $? 'after valid lines the exit status is 0'
printf '{"type":"spec","v":1,"id":"a"}' | vkb-serve --follow >none 2>err
test_same 2 $? 'a torn line'
test_match 'stdin:1: torn record' err 'a torn record is an error that names its line'
test_that 'no line on stdin' vkb-serve --follow
test_empty_file .out 'nothing is printed on stdout'

# The reader of stdout ends.
mkfifo in2 out2
vkb-serve --follow <in2 >out2 2>err &
serve=$!
exec 3>in2 4<out2
ask '{"type":"spec","v":1,"id":"a"}' >f
exec 4<&-
wait $serve
test_same 141 $? 'a closed stdout ends vkb-serve by SIGPIPE'
test_empty_file err 'nothing is printed on stderr'
wait_until 10 gone "$(jq '.nodes[0].pid' f)"
test_result $? 'a closed stdout stops all servers'
exec 3>&-
echo '{"type":"spec","v":1,"id":"a"}' | vkb-serve --follow >/dev/full 2>err
test_same 2 $? 'a full disk'
test_litter 10 'no run directory is left'
test_done
