#!/bin/sh
# Clients in parallel, on a cluster and on one server: one record, one exact
# histogram, CPUs for each client.
. "${0%/*}/lib.sh"

test_server 'clients in parallel'
cat >c.json <<'END'
{"cluster_mode": [true, false], "cluster_nodes": 3, "keyspacelen": [1000],
 "test_groups": [{"group": 1, "scenarios": [
  {"id": "a", "type": "write", "command": "SET {tag}:__rand_int__ __data__",
   "requests": 300, "clients": 2, "data_size": 20, "flush_before": true,
   "cluster_execution": "parallel"},
  {"id": "b", "type": "read", "command": "GET {tag}:__rand_int__",
   "requests": 200, "parallel_clients": 4}]}]}
END
test_that 'parallel clients on a cluster and on one server are accepted' vkb-load --runs 1 c.json
jq -c 'select(.type == "run")' .out >runs
test_same '[true,"1_a",900,2] [true,"1_b",800,1] [false,"1_a",300,2] [false,"1_b",800,1]' \
  "$(jq -c '[.config.cluster_mode, .config.test_id, .metrics.requests, .config.clients]' runs |
    xargs -d '\n')" 'there is a client for each node, or the configured number'
test_same true "$(jq -s 'all(.[]; .status == "ok" and .metrics.errors == 0 and
  .metrics.rps > 0 and .metrics.p50_latency_ms <= .metrics.p99_latency_ms)' runs)" \
  'no request has an error'
cat >cpus.json <<'END'
{"cluster_mode": true, "cluster_nodes": 2,
 "cpu_allocation": {"cores_per_server": 2, "cores_per_client": 3},
 "test_groups": [{"group": 1, "scenarios": [
  {"id": "a", "type": "write", "command": "SET a b", "requests": 9,
   "cluster_execution": "parallel"}]}]}
END
test_same '[["0-1","2-3"],"4-6",["4-6","7-9"]]' \
  "$(vkb-load --plan cpus.json </dev/null | jq -c '[.server.cpus, .client.cpus, .client.each]')" \
  'each client has its CPUs'
vkb-load --plan cpus.json </dev/null | jq -c '.client.each[1] = "x"' >bad
test_status 2 'a value that is not a list is an error' vkb-load --plan bad
test_match "'client.each' is not a list of CPU lists" .err 'the error names the value that is not a list'
if [ "$(nproc)" -gt 1 ]; then
  printf '%s\n' '{"cpu_allocation": {"cores_per_server": 1, "cores_per_client": 1,
    "servers": ["0"], "clients": ["1", "1"]}, "test_groups": [{"scenarios": [
    {"id": "a", "type": "write", "command": "SET a b", "requests": 99,
     "parallel_clients": 3}]}]}' >pin.json
  test_that 'pinned clients are accepted' vkb-load --runs 1 pin.json
  test_same '["ok","0","1 1",297]' "$(jq -c 'select(.type == "run") | [.status,
    .env.server_cpus, .env.client_cpus, .metrics.requests]' .out)" 'the record has the CPUs of server and clients'
else
  test_skip 'pinned clients' 'two CPUs'
fi
test_done
