#!/bin/sh
# vkb-serve: clusters, plain and TLS; certificates.
# shellcheck disable=SC2016 # expanded by the commands
. "${0%/*}/lib.sh"

test_server vkb-serve

test_that 'one primary' vkb-serve --primaries 1 -- sh -c '
  valkey-cli -p "$VKB_PORT" set a b; valkey-cli -p "$VKB_PORT" cluster info'
test_match '^OK' .out 'one primary accepts writes'
test_match 'cluster_slots_ok:16384' .out 'one primary has all slots'

cat >check <<'E'
#!/bin/sh
# Prints what each node knows about the cluster.
for node in $VKB_NODES; do
  port=${node##*:}
  valkey-cli -p "$port" cluster nodes | sed 's/myself,//' |
    awk '{print $1, $3, ($3 == "slave" ? $4 : "-"), $8, $9}' | sort >"node.$port"
  valkey-cli -p "$port" cluster info | tr -d '\r' |
    grep -E 'state|slots_ok|known_nodes|size' >"info.$port"
  valkey-cli -p "$port" config get loglevel | tail -n 1 >>"info.$port"
done
cat node.* | sort -u >nodes
cat info.* | sort -u >info
for k in 1 2 3 4 5 6 7 8 9; do
  valkey-cli -c -p "${VKB_NODES##*:}" set "key$k" "$k" || exit 1
done
valkey-cli -p "$VKB_PORT" cluster countkeysinslot 0
E
chmod +x check
test_that 'three primaries, a replica each' \
  vkb-serve -o r.json --primaries 3 --replicas 1 -- ./check
test_same 6 "$(wc -l <nodes | tr -d ' ')" 'all nodes know the same nodes'
test_same 'cluster_known_nodes:6 cluster_size:3 cluster_slots_ok:16384 cluster_state:ok notice' \
  "$(paste -sd' ' info)" 'the cluster is ok on all nodes'
test_same '3 3' "$(grep -c ' master ' nodes) $(grep -c ' slave ' nodes)" 'there are three primaries and three replicas'
test_same '0-5460 10922-16383 5461-10921' \
  "$(awk '/ master /{print $5}' nodes | sort | paste -sd' ' -)" 'the primaries share the slots'
test_same 3 "$(awk '/ slave /{print $3}' nodes | sort -u | wc -l | tr -d ' ')" \
  'each primary has a replica'
test_same 'true primary,primary,primary,replica,replica,replica' \
  "$(jq -r '"\(.cluster) \([.nodes[].role] | join(","))"' r.json)" 'the record has the roles of all nodes'
test_same 6 "$(jq '[.nodes[].run_id] | unique | length' r.json)" 'the nodes have different run ids'

rm -f node.* info.*
test_that 'two primaries' vkb-serve --primaries 2 -- ./check
test_same 2 "$(wc -l <nodes | tr -d ' ')" 'all nodes know the same nodes'

test_that 'a cluster over TLS with a password, settings on every node' \
  vkb-serve --primaries 3 --replicas 1 --tls --config requirepass=hunter2 \
  --config maxmemory=10mb -- sh -c '
  for node in $VKB_NODES; do
    REDISCLI_AUTH=$VKB_PASSWORD valkey-cli --tls --cacert "$VKB_TLS_CACERT" \
      --cert "$VKB_TLS_CERT" --key "$VKB_TLS_KEY" -p "${node##*:}" \
      config get maxmemory | tail -n 1
    valkey-cli -p "${node##*:}" ping || :
  done'
test_same 6 "$(grep -c '^10485760$' .out)" 'each node has the setting'
test_same 0 "$(grep -c PONG .out)" 'there is no port without TLS'

test_that 'TLS' vkb-serve --tls -o r.json -- sh -c '
  stat -c %a "$VKB_TLS_KEY"
  openssl verify -CAfile "$VKB_TLS_CACERT" "$VKB_TLS_CERT" "${VKB_TLS_CACERT%/*}/server.crt"
  valkey-cli --tls --cacert "$VKB_TLS_CACERT" -p "$VKB_PORT" ping || :'
test_match '^600$' .out 'only the owner can read the keys'
test_same 2 "$(grep -c ': OK$' .out)" 'the certificates are valid'
test_same 0 "$(grep -c PONG .out)" 'a client needs a certificate'

test_status 125 'a port of the cluster bus that is taken' sh -c 'vkb-serve -- sh -c "
  vkb-serve --primaries 1 -p \$((VKB_PORT - 10000)) -- true"'
test_match 'port [0-9]+ is taken by valkey' .err 'the error names the port'
test_status 125 'a port that is too high' \
  vkb-serve --primaries 3 -p 55534 -- true
test_match "'port': 55534 is too high" .err 'the error names the port'
test_status 125 'a reserved setting' \
  vkb-serve --primaries 1 --config cluster-enabled=no -- true
test_match "config.cluster-enabled.*'primaries'" .err 'the error names the setting'
test_empty "$(ls "$TMPDIR")" 'no run directory is left'
test_done
