#!/bin/sh
# vkb-continuous measures a release beside each commit, and a former release beside a new one.
. "${0%/*}/lib.sh"
test_server 'a reference of a branch'
. "$tests/repo.sh"

# A server is a copy of the installed one with the name of its commit appended.
small_repo
cat >repo/src/Makefile <<END
valkey-server: name
	cat '$server' name >\$@
	chmod +x \$@
valkey-%:
	touch \$@
END
for i in 1 2 3 4; do
  echo "$i" >repo/src/name
  GIT_COMMITTER_DATE=2026-01-0${i}T00:00:00Z commit "c$i"
  [ "$i" != 1 ] || in_repo tag 9.0.0
  [ "$i" != 2 ] || in_repo tag 9.1.0
done
in_repo branch -m unstable
cat >cfg.json <<'END'
[{"commands": ["SET"], "duration": 0.1, "keyspacelen": [100], "data_sizes": [16],
  "pipelines": [1], "clients": [4], "cluster_mode": false, "tls_mode": false,
  "warmup": 0}]
END
cfg=cfg.json
next() { # next DIR OPTION...: measures one more commit
  in=$1
  shift
  vkb-continuous -C repo --results "$in" --file "$in.t" --max-commits 1 "$@" "$cfg" -- --runs 2
}
hash_of() { # hash_of TAG: prints the hash of its server
  { cat "$server" && in_repo show "$1:src/name"; } | sha256sum | cut -d ' ' -f 1
}
beside() { # beside COMMIT...: prints the references beside the runs of the commits
  for of; do
    jq -r 'select(.metrics.rps_ratio > 0).env.reference_sha256' \
      "r/$(head_of "$of")"/*.jsonl
  done | sort -u
}

in_repo tag -d 9.1.0 >/dev/null
in_repo tag v2.0.1 unstable
test_that 'a branch with a release' next r
test_match "^vkb-continuous: '9.0.0' is measured beside each commit, which takes twice the time" .err \
  'a message says what it costs'
test_same "$(hash_of 9.0.0)" "$(beside unstable)" 'the runs have ratios to the release'
in_repo tag 9.1.0 unstable~2
test_that 'a newer release' next r -q
test_empty_file .err '-q prints nothing'
test_same "$(hash_of 9.0.0)" "$(beside unstable~1)" 'the first one stays the reference'
test_empty "$(find r/reference -name '*.jsonl')" 'the releases are not measured'

test_that 'another release by the option' next r --reference 9.1.0
test_match "measuring the former reference beside '9.1.0'" .err 'a message says that both are measured'
test_same "$(hash_of 9.1.0)" "$(beside unstable~2)" 'it is the reference now'
test_same "$(hash_of 9.0.0) $(hash_of 9.1.0)" "$(jq -r 'select(.metrics.rps_ratio > 0) |
  "\(.subject.binary_sha256) \(.env.reference_sha256)"' r/reference/*.jsonl | sort -u)" \
  'the runs of the former one have ratios to it'

test_that 'no reference' next r --reference none
test_absent 'is measured beside' .err 'no message names one'
test_empty "$(beside unstable~3)" 'the runs have no ratios'

test_that 'a first start without a reference' next z -q --reference none
test_that 'the next start' next z
test_absent 'is measured beside' .err 'has none either'
test_same none "$(cat z/reference/ref)" 'which is noted'
rm -r z/reference
test_that 'runs without a reference' next z
test_match 'no reference is measured: earlier runs in .* have none \(--reference REF\)' .err \
  'are continued without one, and a message says so'

test_that 'two configurations' next h -q --reference 9.0.0
tr 4 8 <cfg.json >eight.json
cfg=eight.json
test_that 'with one folder' next h -q
cfg=cfg.json
test_that 'another release for one' next h -q --reference 9.1.0
cfg=eight.json
test_that 'another release for the other' next h -q --reference 9.1.0
cfg=cfg.json
test_same '4 8' "$(jq -r .config.clients h/reference/*.jsonl | sort -u | xargs)" \
  'the former one is measured for both'

test_that 'a release' next g -q --reference 9.0.0
rm "$(jq -r .server g/reference/*.build)"
test_that 'another one, when the cache has the former one no longer' next g --reference 9.1.0
test_match "'9.1.0' begins another series: the former reference, '.*', was removed" .err 'a message says so'

jq -c '.[0].reference = "9.1.0"' cfg.json >key.json
cfg=key.json
test_that 'a release that the configuration names' next k
test_match "'9.1.0' is measured beside each commit" .err 'is taken before the newest'
for by in 'vkb-ab --no-page -C repo 9.0.0 9.1.0 -- --runs 1 key.json' \
  'vkb-bench --valkey-path repo --commits 9.0.0 --runs 1 --config key.json'; do
  # shellcheck disable=SC2086 # several words
  $by >.out 2>.err
  test_match "the reference '9.1.0' of the configuration is not measured: " .err "${by%% *}: a message says so"
done
test_same "$(for tag in 9.0.0 9.1.0; do hash_of $tag; done | sort)" "$(jq -r 'select(.type == "run" and
  .status == "ok").subject.binary_sha256' ab-results/*.jsonl | sort -u)" 'commits are measured without it'
test_same 1 "$(find results -name '*.json' ! -path '*/.*' | wc -l)" 'also by vkb-bench'
jq -c --arg server "$server" '.[0].reference = $server' cfg.json >key.json
test_that 'a server that the configuration names' next p
test_absent 'is measured beside' .err 'is none of the repository'
test_same "$(sha256sum <"$server" | cut -d ' ' -f 1)" \
  "$(jq -r .env.reference_sha256 "p/$(head_of unstable)"/*.jsonl | sort -u)" 'and is measured'
cfg=cfg.json
test_status 2 'a commit that does not exist' next e --reference 7.7.7
test_match "the reference '7.7.7' cannot be built \(--reference REF: another commit, or none\)" .err \
  'a message names it and the way on'
in_repo tag -d 9.0.0 9.1.0 v2.0.1 >/dev/null
test_that 'a branch without a release' next n
test_match 'no reference is measured: no commit is tagged as a release' .err 'a message says so'

test_done
