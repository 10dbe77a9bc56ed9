#!/bin/sh
# vkb-load --serve: servers on another machine, by ssh on loopback and in another
# network namespace. No server is left there, whatever ends.
. "${0%/*}/lib.sh"

test_server 'a server on another machine'
printf '[{"commands":["SET"],"keyspacelen":[100],"data_sizes":[16],"pipelines":[4],"clients":[3],"tls_mode":false,"cluster_mode":false,"warmup":0,"duration":1,"rate":1000}]\n' >c.json
sed 's/"duration":1/"duration":60/' c.json >long.json
sed 's/"tls_mode":false/"tls_mode":true/' c.json >tls.json
serve=$(command -v vkb-serve)
alive() { pgrep -f "valkey-server.* $1:" >pids; }
none_alive() { ! alive "$1"; }

# --- options

test_status 2 '--serve without --host' vkb-load --serve 'ssh x vkb-serve --follow' c.json
test_match "'--serve' needs '--host', the address of that machine" .err 'the error names --host'
test_status 2 '--serve with a count' vkb-load --serve x --host 127.0.0.1 --count c.json
test_match "'--serve' cannot be combined with '--count', '--profiles', '--logs'" .err 'the error lists the options'
test_status 2 '--serve with TLS' vkb-load --serve "$serve --follow" --host 127.0.0.1 tls.json
test_match 'with TLS its certificates would be on the other machine' .err 'the error names the certificates'
test_status 2 'a command that cannot be read' vkb-load --serve "'" --host 127.0.0.1 c.json
test_match "option '--serve': ''' is not a command" .err 'the error quotes the command'
test_status 2 'a command that ends' vkb-load --serve false --host 127.0.0.1 --runs 1 c.json
test_match "the command of '--serve' exited with 1" .err 'the error has the exit status'

# --- another network namespace

ns=vkb$$
if ip netns add $ns 2>ns.err; then
  test_cleanup() { ip netns del $ns; }
  ip link add ${ns}a type veth peer name ${ns}b
  ip link set ${ns}b netns $ns
  ip addr add 10.213.77.1/30 dev ${ns}a
  ip link set ${ns}a up
  ip -n $ns addr add 10.213.77.2/30 dev ${ns}b
  ip -n $ns link set ${ns}b up
  ip -n $ns link set lo up
  test_that 'a server in another network namespace is measured' vkb-load \
    --serve "ip netns exec $ns $serve --follow" --host 10.213.77.2 --runs 1 \
    -o ns.jsonl c.json
  test_same '["ok",true,"10.213.77.2",null,null]' "$(jq -c '[.status, .env.remote,
    .env.server_host, .metrics.server_cpu_us_per_req, .metrics.memory_mb]' ns.jsonl)" \
    'metrics that are unknown on another machine are absent'
  test_that 'no server is left in the namespace' wait_until 60 none_alive 10.213.77.2
  vkb-load --serve "ip netns exec $ns $serve --follow" --host 10.213.77.2 \
    --runs 1 long.json >/dev/null 2>&1 &
  load=$!
  wait_until 60 alive 10.213.77.2
  kill -9 $load
  wait $load 2>/dev/null
  test_that 'after SIGKILL of vkb-load no server is left in the namespace' wait_until 60 none_alive 10.213.77.2
  test_cleanup
  test_cleanup() { :; }
else
  test_unable 'another network namespace' "$(head -n 1 ns.err)"
fi

# --- ssh on loopback

sshd=$(PATH=$PATH:/usr/sbin command -v sshd) || {
  test_skip 'a server by ssh' openssh-server
  test_done
}
[ "$(id -u)" -eq 0 ] && mkdir -p /run/sshd # sshd needs this folder, which an init would make
ssh-keygen -q -t ed25519 -N '' -f host
ssh-keygen -q -t ed25519 -N '' -f user
port=$(perl -MIO::Socket::INET -e \
  'print IO::Socket::INET->new(Listen => 1, LocalAddr => "127.0.0.1")->sockport')
cat >sshd.conf <<END
Port $port
ListenAddress 127.0.0.1
HostKey $scratch/host
AuthorizedKeysFile $scratch/user.pub
PidFile none
StrictModes no
UsePAM no
PasswordAuthentication yes
END
"$sshd" -D -e -f "$scratch/sshd.conf" 2>sshd.log &
daemon=$!
test_cleanup() { kill "$daemon"; }
printf '[127.0.0.1]:%s %s\n' "$port" "$(cut -d' ' -f1,2 host.pub)" >known
ssh="ssh -F none -o UserKnownHostsFile=$scratch/known -o IdentitiesOnly=yes -p $port"
by_key="$ssh -i $scratch/user 127.0.0.1"
wait_until 60 sh -c "$by_key true 2>/dev/null"
for label in a b; do
  printf '{"type":"build","v":1,"subject":{"label":"%s"},"status":"ok","server":"%s"}\n' "$label" "$server"
done >builds
test_that 'two servers by ssh are measured' vkb-load --builds builds \
  --serve "$by_key $serve --follow" --host 127.0.0.7 --runs 1 -o ssh.jsonl c.json
test_same '["ok",null,1,null]
["ok",null,1,null]' "$(jq -c '[.status, .metrics.server_cpu_us_per_req, .run.block, .run.slices]' ssh.jsonl)" \
  'one after the other, as that machine may have memory for one'
test_that 'no server is left' wait_until 60 none_alive 127.0.0.7
test_status 2 'ssh that asks for a password' vkb-load \
  --serve "$ssh -i $scratch/host 127.0.0.1 $serve --follow" --host 127.0.0.7 --runs 1 c.json
test_match 'Permission denied' .err 'ssh cannot ask for a password, and reports that'
test_match "the command of '--serve' exited with 255" .err 'the run fails with the exit status of ssh'
vkb-load --serve "$by_key $serve --follow" --host 127.0.0.7 --runs 1 long.json \
  >cut.jsonl 2>cut.err &
load=$!
wait_until 60 alive 127.0.0.7
ssh_runs() { ssh_pid=$(descendants "$load" ssh) && [ "$ssh_pid" ]; }
wait_until 60 ssh_runs
kill "$ssh_pid"
wait $load
test_same 2 $? 'a session fails if ssh is killed'
test_match "the command of '--serve' (was killed|exited)" cut.err 'the error says that ssh was killed'
test_that 'no server is left when ssh was killed' wait_until 60 none_alive 127.0.0.7
vkb-load --serve "$by_key $serve --follow" --host 127.0.0.7 --runs 1 long.json >/dev/null 2>&1 &
load=$!
wait_until 60 alive 127.0.0.7
kill -9 $load
wait $load 2>/dev/null
test_that 'after SIGKILL of vkb-load no server is left' \
  wait_until 60 none_alive 127.0.0.7
test_done
