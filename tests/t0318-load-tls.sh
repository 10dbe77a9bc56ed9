#!/bin/sh
# A TLS connection that cannot be made: the error has the reason.
# sanitize: TLS.
. "${0%/*}/lib.sh"
. "$tests/engine.sh"

test_server 'TLS errors'
ENGINE=$engine
export ENGINE

# certificate NAME AUTHORITY SUBJECT-ALTERNATIVE-NAME DAYS...: makes NAME.crt for the
# key.
certificate() {
  certificate_of=$1 authority=$2
  printf 'subjectAltName=%s\n' "$3" >extensions
  shift 3
  openssl x509 -req -in request -CA "$authority.crt" -CAkey "$authority.key" \
    -set_serial 7 -extfile extensions "$@" -out "$certificate_of.crt"
}
{
  for name in ours other; do
    openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj "/CN=$name" \
      -keyout $name.key -out $name.crt
  done
  openssl req -newkey rsa:2048 -nodes -subj /CN=server -keyout key -out request
  certificate good ours IP:127.0.0.1 -days 2
  certificate name ours DNS:elsewhere.example -days 2
  certificate authority other IP:127.0.0.1 -days 2
  # OpenSSL has options for the dates from 3.4 on.
  certificate expired ours IP:127.0.0.1 -not_before 20200101000000Z \
    -not_after 20200102000000Z || certificate expired ours IP:127.0.0.1 -days -1
} >openssl.log 2>&1
test_result $? 'certificates'
cat >case.json <<'END'
[{"commands":["SET"],"keyspacelen":[50],"data_sizes":[16],"pipelines":[1],"clients":[2],"cluster_mode":false,"tls_mode":true,"warmup":0,"requests":[100]}]
END
sed 's/"tls_mode":true/"tls_mode":false/' case.json >plain.json

cat >secure <<'END'
tls="--tls --cert $VKB_TLS_CERT --key $VKB_TLS_KEY --cacert $PWD/ours.crt"
for of in good name authority expired; do
  valkey-cli -s "$VKB_SOCKET" config set tls-cert-file "$PWD/$of.crt" \
    tls-key-file "$PWD/key" >set
  "$ENGINE" -p "$VKB_PORT" $tls -n 10 >"$of.out" 2>&1; echo "exit $?" >>"$of.out"
  vkb-load --port "$VKB_PORT" $tls --flush --runs 1 case.json >"$of.run" 2>"$of.err"
done
valkey-cli -s "$VKB_SOCKET" config set tls-cert-file "$PWD/good.crt" \
  tls-key-file "$PWD/key" >set
for of in SET GET; do
  "$ENGINE" -p "$VKB_PORT" $tls -t $of --fill -d 200000 -r 20 -P 20 -c 5 -n 400 \
    --timeout 20 >"large.$of"; echo "exit $?" >>"large.$of"
done
"$ENGINE" -p "$VKB_PORT" --tls --cacert "$PWD/ours.crt" -n 10 \
  --timeout 10 >client.out 2>&1
echo "exit $?" >>client.out
vkb-load --port "$VKB_PORT" --runs 1 plain.json 2>plain.err
echo "exit $?" >>plain.err
END
test_that 'a server with TLS' vkb-serve -q --tls --unixsocket -- sh -u ./secure
test_match '^exit 0' good.out 'a good certificate'
for of in SET GET; do
  test_same '400 0 exit 0' \
    "$(value requests large.$of) $(value unanswered large.$of) $(tail -n 1 large.$of)" \
    "$of with replies of many TLS records"
done
test_match '"status":"ok"' good.run 'vkb-load measures with a valid certificate'
# says NAME PATTERN: the errors of the engine, and of vkb-load, which connects before
# the load.
says() {
  test_match "cannot connect to '127.0.0.1:[0-9]+': $2" "$1.out" "$1: the engine"
  test_match '^exit 2' "$1.out" "$1: the engine exits with 2"
  test_match "cannot reach the server at 127.0.0.1:[0-9]+: $2" "$1.err" \
    "$1: vkb-load"
}
says name "the server's certificate is not for the name '127.0.0.1'"
says authority "the server's certificate is not signed by the authority in '.*/ours.crt'"
says expired "the server's certificate expired on [A-Z][a-z][a-z] +[0-9]+ "
# With TLS 1.3 the alert comes after the first request, and the connection may be reset
# before.
test_match "connect.* '127.0.0.1:[0-9]+'.*: (the server requires a client certificate|Connection reset by peer|Broken pipe)" \
  client.out 'a load without a certificate'
test_match '^exit 2' client.out 'without a certificate the engine exits with 2'
test_match 'it ended, or this port needs TLS$' plain.err 'a plain connection to a TLS port'
test_match '^exit 2' plain.err 'with a plain connection the engine exits with 2'

cat >insecure <<'END'
"$ENGINE" -p "$VKB_PORT" --tls --cacert "$PWD/ours.crt" -n 10 --timeout 0.5 2>engine.err
vkb-load --port "$VKB_PORT" --tls --cacert "$PWD/ours.crt" --timeout 500ms \
  --runs 1 case.json 2>load.err
echo "exit $?" >>load.err
END
test_that 'a server without TLS' vkb-serve -q -- sh -u ./insecure
# Such a server takes a TLS handshake for the beginning of a command, and usually waits
# for the rest.
for said in engine.err load.err; do
  test_match "cannot (connect to|reach).*127.0.0.1:.*(no answer to the TLS handshake.* \(the port may not speak TLS\)|does not speak TLS on this port)" \
    $said "$said: a TLS connection to a plain port"
done
test_match '^exit 2' load.err 'a TLS connection to a plain port exits with 2'
test_litter 10 'no server and no file is left'
test_done
