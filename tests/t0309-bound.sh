#!/bin/sh
# What limited a run in which a server shares a CPU with the load and another process.
. "${0%/*}/lib.sh"
. "$tests/engine.sh"

cpus=$(taskset -cp $$ | sed 's/.*: //; s/[,-]/ /g')
first=${cpus%% *} last=${cpus##* }
if [ "$first" = "$last" ]; then
  test_skip 'processes that share a CPU' 'two CPUs'
  test_done
fi
ENGINE=$engine
export ENGINE first last

# Each request is work for the server, and half a second of requests is always in its
# sockets: it waits for the CPU, which another process uses half of the time, but hardly
# ever for the load.
cat >slow <<'END'
run() { "$ENGINE" -p "$VKB_PORT" --pid "$VKB_PID" "$@"; }
command='EVAL "local n = 0 for i = 1, 20000 do n = n + i end return n" 0'
taskset -cp "$first" "$VKB_PID" >/dev/null
taskset -c "$first" sh -c 'while :; do :; done' &
hog=$!
run -c 50 -P 50 -D 2 --cpus "$last" -t "$command" >apart
run -c 50 -P 50 -D 2 --cpus "$first" -t "$command" >together
kill $hog
run -c 1 -D 1 -R 20 >idle
END
test_that 'a server that shares its CPU' vkb-serve -q -- sh -u ./slow
for how in apart together; do
  busy=$(value server_busy_percent $how)
  test_result "$((${busy%.*} >= 90))" "$how: the server used less than 90 % of a CPU ($busy)"
  test_same server "$(value bound $how)" "$how: the server was the limit"
done
test_same neither "$(value bound idle)" 'an idle server was not the limit'
test_done
