#!/bin/sh
# TLS of the load: ciphers and versions, sessions that are resumed, and servers whose
# certificate is not verified.
. "${0%/*}/lib.sh"

test_server 'ciphers'

# config FILE KEYS: writes a case with TLS.
config() {
  printf '[{"commands":["SET"],"requests":[600],"clients":[2],"keyspacelen":[100],"tls_mode":true,"cluster_mode":false,%s}]\n' \
    "$2" >"$1"
}
config resumed.json '"reconnect":10,"tls_resumption":true'
config full.json '"reconnect":10'
for version in 1.2 1.3; do
  config "only-$version.json" "\"tls_protocol\":\"TLSv$version\",\"reconnect\":10,\"tls_resumption\":true"
done
config cipher.json '"tls_protocol":"TLSv1.2","tls_ciphers":"ECDHE-RSA-AES256-GCM-SHA384:ECDHE-ECDSA-AES256-GCM-SHA384"'
config suite.json '"tls_ciphersuites":"TLS_CHACHA20_POLY1305_SHA256"'
config none.json '"tls_ciphers":"NONSENSE"'

# A script that vkb-serve runs, on a server whose settings it changes.
cat >servers <<'END'
tls="--tls --cert $VKB_TLS_CERT --key $VKB_TLS_KEY --cacert $VKB_TLS_CACERT"
set_to() { valkey-cli -s "$VKB_SOCKET" config set "$@" >>set.log; }
load() {
  name=$1
  shift
  vkb-load -q --port "$VKB_PORT" $tls --flush --runs 1 "$@" >"$name.run" 2>"$name.err"
  echo "exit $?" >>"$name.err"
}
load resumed resumed.json
load full full.json
load only-1.2 only-1.2.json
load only-1.3 only-1.3.json
load none none.json
set_to tls-protocols TLSv1.2
load old only-1.2.json
load new only-1.3.json
set_to tls-ciphers ECDHE-RSA-AES256-GCM-SHA384:ECDHE-ECDSA-AES256-GCM-SHA384
load cipher cipher.json
set_to tls-ciphers ECDHE-RSA-AES128-GCM-SHA256:ECDHE-ECDSA-AES128-GCM-SHA256
load other cipher.json
set_to tls-ciphers DEFAULT tls-protocols TLSv1.3 \
  tls-ciphersuites TLS_CHACHA20_POLY1305_SHA256
load suite suite.json
set_to tls-ciphersuites TLS_AES_256_GCM_SHA384
load othersuite suite.json
load any full.json
tls="--tls --cert $VKB_TLS_CERT --key $VKB_TLS_KEY --insecure"
load insecure full.json
tls="--uri valkeys://127.0.0.1:$VKB_PORT --cert $VKB_TLS_CERT --key $VKB_TLS_KEY"
port=$VKB_PORT
VKB_PORT=
vkb-load -q $tls --cacert "$VKB_TLS_CACERT" --flush --runs 1 full.json >uri.run 2>uri.err
echo "exit $?" >>uri.err
VKB_TLS_CACERT='' vkb-load -q $tls --flush --runs 1 full.json >stranger.run 2>stranger.err
echo "exit $?" >>stranger.err
END
test_that 'a server with TLS' vkb-serve -q --tls --unixsocket -- sh -u ./servers

# ok NAME FILTER WHAT: the run is ok and the filter is true
ok() { test_same true "$(jq -c ".status == \"ok\" and ($2)" "$1.run")" "$1: $3"; }
# bad NAME PATTERN: the run fails with such an error
bad() {
  test_match '^exit 2' "$1.err" "$1: fails"
  test_match "$2" "$1.err" "$1: says why"
}
ok resumed '.metrics.connects > 40 and .metrics.resumed == .metrics.connects' \
  'each reopened connection resumes its session'
ok full '.metrics.connects > 40 and .metrics.resumed == 0' \
  'without tls_resumption no session is resumed'
ok only-1.2 '.metrics.resumed == .metrics.connects and .config.tls_protocol == "TLSv1.2"' \
  'sessions of TLS 1.2'
ok only-1.3 '.metrics.resumed == .metrics.connects' 'sessions of TLS 1.3'
bad none "cannot use TLS ciphers 'NONSENSE'"
ok old true 'a server with only TLS 1.2'
bad new "none of the client's versions of TLS \('tls_protocol'\)"
ok cipher '.config.tls_ciphers | startswith("ECDHE")' 'a cipher that both have'
bad other "none of the client's ciphers \('tls_ciphers', 'tls_ciphersuites'\)"
ok suite true 'a ciphersuite that both have'
bad othersuite "none of the client's ciphers"
ok any true 'a load that offers all ciphers'
ok insecure true 'an unknown certificate is accepted with --insecure'
ok uri true 'valkeys:// has TLS'
bad stranger "is not signed by the authority in 'the files of the system'"

config wrong.json '"tls_protocol":"TLSv1.1"'
test_status 2 'TLS 1.1' vkb-load --plan wrong.json
test_match 'tls_protocol.*one of TLSv1.2, TLSv1.3' .err 'the error has the path of the key'
printf '{"commands":["SET"],"tls_ciphers":"X"}' >plain.json
test_status 2 'ciphers without TLS' vkb-load --plan plain.json
test_match "'tls_ciphers' needs a 'tls_mode' of true" .err 'the error says that TLS is needed'
printf '{"commands":["SET"],"tls_mode":[false,true],"tls_ciphers":"X"}' >both.json
test_same '[null,"X"]' "$(vkb-load --plan both.json | jq -s -c 'map(.config.tls_ciphers)')" \
  'ciphers are part of the identity of cases with TLS only'
test_status 2 '--insecure without TLS' vkb-load --host h --insecure -t set
test_match "'--insecure' needs '--tls'" .err 'the error says that TLS is needed'
test_status 2 '--insecure with an authority' vkb-load --tls --insecure --cacert x -t set
test_match "'--cacert' cannot be combined with it" .err 'the error says that they exclude each other'
test_litter 10 'no server and no file is left'
test_done
