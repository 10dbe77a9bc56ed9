#!/bin/sh
# The limits of vkb-load's options: the smallest and the largest value are accepted,
# values beyond are refused.
# sanitize: limits of configurations.
. "${0%/*}/lib.sh"

printf '[{"commands":["SET"],"keyspacelen":[10],"data_sizes":[16],"pipelines":[1],"clients":[1],"cluster_mode":false,"tls_mode":false,"warmup":0,"requests":[10]}]\n' >c.json

# limits OPTION LEAST BELOW MOST ABOVE
limits() {
  for value in "$2" "$4"; do
    test_that "--$1 $value" vkb-load --plan --profiles d "--$1=$value" c.json
  done
  for value in "$3" "$5"; do
    test_status 2 "--$1 $value" vkb-load --plan --profiles d "--$1=$value" c.json
    test_match "option '--$1'.* $value|option '--$1'.*'$value'" .err \
      "the error names --$1 and $value"
  done
}
limits seed 1 0 4294967295 4294967296
limits duration 1ms 0.9ms 10000000s 10000001s
limits requests 1 0 9000000000000000 9000000000000001
limits warmup 0s -1s 10000000s 10000001s
limits timeout 1ms 0.9ms 10000000s 10000001s
limits port 1 0 65535 65536
limits profile-time 100ms 99ms 86400s 86401s
limits shard 1/1 0/1 3/3 4/3
test_done
