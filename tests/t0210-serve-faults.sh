#!/bin/sh
# vkb-serve: however it ends, no server and no run directory is left.
# shellcheck disable=SC2016 # expanded by the commands
# sanitize: servers that fail.
. "${0%/*}/lib.sh"

test_server vkb-serve

has() { [ -s "$1" ]; }
all_gone() { # WHAT PID
  wait_until 10 gone "$2"
  test_result $? "$1: no server is left"
  test_litter 10 "$1: no run directory is left"
}

# A port that another valkey-server has.
vkb-serve -- sh -c 'echo "$VKB_PORT $VKB_PID" >a.new; mv a.new a
  exec tail -f /dev/null' &
serve=$!
wait_until 20 has a
read -r port pid <a
test_status 125 'a port that is taken' vkb-serve -p "$port" -- \
  sh -c 'touch never'
test_match "port $port is taken by valkey .*, process $pid" .err 'the error names the process that has the port'
test_that 'the command is not run' test ! -e never
test_that 'the other server still answers' valkey-cli -p "$port" ping

# kill -9 of vkb-serve
kill -9 $serve
wait $serve 2>/dev/null
all_gone 'kill -9 of vkb-serve' "$pid"

# A line break in the name of a folder cannot make vkb-serve kill a process or remove a
# folder.
mkdir foreign
setsid sh -c 'echo $$ >bystander.new; mv bystander.new bystander
  exec tail -f /dev/null' &
wait_until 20 has bystander
odd=$TMPDIR/$(printf 'x\nA%s\nF%s\nZ' "$(cat bystander)" "$scratch/foreign")
mkdir -p "$odd"
rm -f a
TMPDIR=$odd vkb-serve -- sh -c 'echo "$VKB_PORT $VKB_PID" >a.new; mv a.new a
  exec tail -f /dev/null' &
serve=$!
wait_until 20 has a
kill -9 $serve
wait $serve 2>/dev/null
read -r _ pid <a
wait_until 10 gone "$pid"
empty() { [ -z "$(ls "$odd")" ]; }
wait_until 10 empty
test_result $? 'a line break in TMPDIR: the run directory is removed'
test_that 'the folder that the second line names stays' test -d foreign
test_that 'the process that the second line names lives' kill -0 "$(cat bystander)"
kill "$(cat bystander)"
rm -rf "$TMPDIR/x"*

# KeyDB and Redis 6 do not know some settings of the configuration file.
cat >old-server <<'END'
#!/bin/sh
printf '*** FATAL CONFIG FILE ERROR (KeyDB 6.3.4) ***\n>>> %s\nBad directive\n' "'$(grep '^shutdown-on-sigterm' "$1")'"
exit 1
END
chmod +x old-server
test_status 125 'a server that is neither Valkey nor Redis 7' vkb-serve --server "$PWD/old-server" -- true
test_match 'only Valkey, and Redis 7.0 or newer, are started; start another' .err 'the error says which servers can be started'

# A port can be used again at once.
test_that 'a fixed port' vkb-serve -p "$port" -- true
test_that 'the same port again' vkb-serve -p "$port" -- true

# kill -9 of COMMAND
test_status 137 'kill -9 of the command' vkb-serve -- \
  sh -c 'echo "$VKB_PID" >b; kill -9 $$'
all_gone 'kill -9 of the command' "$(cat b)"

# kill -9 of the caller
sh -c 'vkb-serve -- sh -c "echo \$VKB_PID >c.new; mv c.new c
  exec tail -f /dev/null" & wait' 2>/dev/null &
caller=$!
wait_until 20 has c
kill -9 $caller
wait $caller 2>/dev/null
all_gone 'kill -9 of the caller' "$(cat c)"

# kill -9 of the caller of the coprocess, with its pipe held by others
mkfifo in
tail -f /dev/null >in &
holder=$!
sh -c 'vkb-serve --follow <in >d & wait' 2>/dev/null &
caller=$!
exec 3>in
echo '{"type":"spec","v":1,"id":"a"}' >&3
wait_until 20 has d
kill -9 $caller
wait $caller 2>/dev/null
all_gone 'kill -9 of the caller of --follow' "$(jq '.nodes[0].pid' d)"
exec 3>&-
kill $holder
wait $holder 2>/dev/null

# Signals
for sig in INT TERM HUP; do
  rm -f e
  (
    trap - INT
    exec perl -e '$SIG{INT} = "DEFAULT"; exec @ARGV' vkb-serve -- \
      sh -c 'echo "$VKB_PID $$" >e.new; mv e.new e; exec tail -f /dev/null'
  ) &
  serve=$!
  wait_until 20 has e
  read -r pid command <e
  kill -s $sig $serve
  wait $serve 2>/dev/null
  test_same "$((128 + $(kill -l $sig 2>/dev/null || case $sig in
    INT) echo 2 ;; TERM) echo 15 ;; *) echo 1 ;; esac)))" $? \
    "SIG$sig ends vkb-serve with this signal" 2>/dev/null
  all_gone "SIG$sig" "$pid"
  wait_until 10 gone "$command"
  test_result $? "SIG$sig: the command has ended"
done

# A server that ignores SIGTERM
cat >stubborn <<'E'
#!/bin/sh
trap '' TERM
valkey-server "$@" &
while :; do wait; done
E
chmod +x stubborn
test_that 'a server that ignores SIGTERM' vkb-serve --grace 200ms \
  --server ./stubborn -- sh -c 'echo "$VKB_PID" >f'
test_match 'did not end in 200 ms' .err 'a warning says that it did not end in time'
all_gone 'a wrapper' "$(cat f)"
test_that 'a server that is stopped' vkb-serve --grace 300ms -- \
  sh -c 'echo "$VKB_PID" >f; kill -STOP "$VKB_PID"'
all_gone 'a stopped server' "$(cat f)"
vkb-serve --server ./stubborn -- sh -c 'echo "$VKB_PID" >g.new; mv g.new g
  exec tail -f /dev/null' &
serve=$!
wait_until 20 has g
kill -9 $serve
wait $serve 2>/dev/null
all_gone 'kill -9 above a wrapper' "$(cat g)"

# Daemons of the server and of the command
make_leaver
printf '#!/bin/sh\n%s/leave %s/served\nexec valkey-server "$@"\n' "$scratch" "$scratch" >leaving
chmod +x leaving
test_that 'a server and a command that leave daemons' vkb-serve --server ./leaving -- \
  sh -c './leave commanded; ! kill -0 $(cat served commanded) || touch both'
test_that 'both daemons run beside the command' test -e both
test_that "the server's daemon has ended with vkb-serve" gone "$(cat served)"
test_that "the command's daemon has ended with vkb-serve" gone "$(cat commanded)"
vkb-serve --server ./leaving -- sh -c './leave commanded; : >h; exec tail -f /dev/null' &
serve=$!
wait_until 20 test -e h
kill -9 $serve
wait $serve 2>/dev/null
test_that "the server's daemon ends when vkb-serve is killed" wait_until 20 gone "$(cat served)"
test_that "the command's daemon ends when vkb-serve is killed" wait_until 20 gone "$(cat commanded)"
test_litter 10 'daemons: no run directory is left'

# A server that ends by itself
test_status 125 'a server that dies under its command' vkb-serve -- \
  sh -c 'echo before; kill -SEGV "$VKB_PID"; exec tail -f /dev/null'
test_match "was killed by signal 11|exited with" .err 'the error has the signal'
test_match 'crashed by signal' .err 'the error has the end of its log'
test_same before "$(cat .out)" 'the command is stopped'
test_status 125 'a server that ends while it starts' vkb-serve --server false -- true
test_match 'exited with 1' .err 'the error has the exit status'
printf '#!/bin/sh\nprintf "a\\033[31mb\\377\\n"; exit 3\n' >loud
chmod +x loud
test_status 125 'the output of a server that ends is reported' vkb-serve -o l.json \
  --server ./loud -- true
test_match 'a.x1b.31mb' .err 'its control characters are escaped'
test_same 'failed' "$(jq -r .status l.json)" 'the record has the status failed'
echo 'no module' >bad.so
chmod +x bad.so
test_status 125 'a module that cannot be loaded' \
  vkb-serve --module "$scratch/bad.so 1" -- true
test_match 'bad.so' .err 'the error names the module'
printf '#!/bin/sh\nexec tail -f /dev/null\n' >mute
chmod +x mute
test_status 125 'a server that does not become ready' \
  vkb-serve --wait 300ms --server ./mute -- true
test_match 'not ready after 300 ms' .err 'the error has the time that was waited'
test_litter 10 'no run directory is left'

# A counted server is given CPU time, which a busy machine has little of.
echo '{"type":"spec","v":1,"id":"counted","count":1}' >counted
mkdir starved mute-too
cat >starved/valgrind <<END
#!/bin/sh
# Only this process is to have the constant clock and process id of the counted server.
env -u LD_PRELOAD sh -c 'while kill -STOP \$PPID; do
  sleep .3
  kill -CONT \$PPID
  sleep .04
done' &
exec $(command -v valgrind) "\$@"
END
cat >mute-too/valgrind <<END
#!/bin/sh
echo "\$TMPDIR" >$scratch/counted-tmp
exec $scratch/mute
END
chmod +x starved/valgrind mute-too/valgrind
with_path() { (export PATH="$scratch/$1:$PATH" && shift && "$@"); }
if command -v valgrind >/dev/null; then
  test_that 'a counted server that seldom runs becomes ready later than the limit' \
    with_path starved vkb-serve -o s.jsonl --wait 2s counted -- true
  test_same true "$(jq '.ready_ms > 2000' s.jsonl)" 'it took longer than that'
else
  test_skip 'a counted server that seldom runs' valgrind
fi
test_status 125 'a counted server that does nothing' \
  with_path mute-too vkb-serve --wait 300ms counted -- true
test_match '/vkb-run\.[0-9a-f]*/s1/n000000001$' counted-tmp 'what valgrind leaves when it is killed is removed'
test_match 'not ready after 300 ms of CPU time, as long without any, or 20 times as long' .err 'the error says which time'
mkdir idling
printf '#!/bin/sh\nexec perl -e "select undef, undef, undef, .01 while 1"\n' >idling/valgrind
chmod +x idling/valgrind
test_status 125 'a counted server that uses little CPU time and is never ready is given up' \
  with_path idling timeout 60 vkb-serve --wait 100ms counted -- true
test_litter 10 'no run directory is left'

# If all processes are killed at once, the next vkb-serve removes the run directory. Run
# directories of living processes are kept.
mkdir sweep sweep/vkb-run.0123456789 sweep/vkb-run.012345678 sweep/vkb-kept.0123456789
touch -d '1 hour ago' sweep/*
TMPDIR=$scratch/sweep vkb-serve -- sh -c 'top=${VKB_DIR%/*}
  touch -d "1 hour ago" "$top"; vkb-serve -- true
  [ -f "$VKB_DIR/n1/valkey.conf" ] && echo there' >.out 2>.err
test_same there "$(cat .out)" 'the run directory of a living process is kept'
test_same 'vkb-kept.0123456789 vkb-run.012345678' "$(cd sweep && echo *)" \
  'the run directory of a process that has ended is removed'
test_done
