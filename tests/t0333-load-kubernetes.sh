#!/bin/sh
# configs/kubernetes: the manifests agree with the schema of Kubernetes, and their
# commands work.
. "${0%/*}/lib.sh"
. "$tests/npm.sh"

npm_need kubernetes-models@4.4.2 yaml@2.9.1
cat >check.js <<'END'
const fs = require('fs'), yaml = require('yaml');
const m = yaml.parse(fs.readFileSync(process.argv[2], 'utf8'), {merge: true});
if (process.argv[3] === 'print') {
  console.log(JSON.stringify(m));
  process.exit(0);
}
const kinds = require('kubernetes-models/batch/v1');
if (m.apiVersion !== 'batch/v1' || !kinds[m.kind]) throw new Error('no Job or CronJob');
new kinds[m.kind](m).validate();
END
job=$top/configs/kubernetes/vkb-load.yaml
test_that 'the manifest is a valid Job' node check.js "$job"
sed 's/completions: 3/completions: three/' "$job" >bad.yaml
test_status 1 'a manifest with a mistake is not valid' node check.js bad.yaml
node check.js "$job" print >job.json
test_same '["Indexed",true,0,"Never"]' "$(jq -c '.spec | [.completionMode,
  .completions == .parallelism, .backoffLimit, .template.spec.restartPolicy]' job.json)" \
  'all parts run at the same time and are not restarted'
test_same true "$(jq '.spec.completions as $n | .spec.template.spec.containers[0].args |
  index("--client=$(PART)/\($n)") != null' job.json)" 'there are as many pods as parts'
printf '[{"commands":["SET"],"keyspacelen":[9],"data_sizes":[9],"pipelines":[1],"clients":[9],"tls_mode":false,"cluster_mode":false,"warmup":0,"requests":[9]}]\n' >case.json
jq -r '.spec.template.spec.containers[0] | (.command + .args)[]' job.json |
  sed "s/(PART)/0/; s/\\\$0/0/; s,/case/case.json,case.json," >words
echo --plan >>words
test_that 'vkb-load accepts the arguments of the manifest' xargs -a words env

test_same 'true false ALL' "$(jq -r '.spec.template.spec | .securityContext.runAsNonRoot,
  (.containers[0].securityContext | .allowPrivilegeEscalation, .capabilities.drop[])' job.json | xargs)" \
  'the pods of a load are not of root and get no further rights'

# --- the commits of a branch, on a schedule

cron=$top/configs/kubernetes/vkb-continuous.yaml
test_that 'the manifest is a valid CronJob' node check.js "$cron"
sed 's/concurrencyPolicy: Forbid/concurrencyPolicy: Never/' "$cron" >bad.yaml
test_status 1 'a manifest with a mistake is not valid' node check.js bad.yaml
node check.js "$cron" print >cron.json
job='.spec.jobTemplate.spec'
test_same '["Forbid",true,0,"Never"]' "$(jq -c "[.spec.concurrencyPolicy,
  ($job.completions == $job.parallelism), $job.backoffLimitPerIndex,
  $job.template.spec.restartPolicy]" cron.json)" \
  'one job runs at a time, and a pod that fails does not end the others'
test_same 'true true' "$(jq "$job.template.spec | .containers + .initContainers |
  all(.resources.requests == .resources.limits), all(.securityContext.allowPrivilegeEscalation == false)" \
  cron.json | xargs)" 'the pods have the class Guaranteed and no further rights'
test_same '["vkb-database"]' "$(jq -c "[$job.template.spec.containers[].envFrom[].secretRef.name]" cron.json)" \
  'the connection to the database is in a secret'
test_empty "$(jq -r "$job.template.spec | .containers + .initContainers |
  .[] | (.command + .args)[], (.env[] | .value // empty)" cron.json | grep -iE 'pass|@')" \
  'no password is an argument'
test_same 'spec.nodeName /etc/machine-id' "$(jq -r "$job.template.spec |
  (.containers[0].env[] | select(.name == \"VKB_OWNER\").valueFrom.fieldRef.fieldPath),
  (.volumes[] | select(.name == \"machine-id\").hostPath.path)" cron.json | xargs)" \
  'claims have the node, and results the machine'
jq -r "$job.template.spec.containers[0] | (.command + .args)[]" cron.json |
  sed 's,^/config/.*,--help,' >words
test_that 'vkb-continuous accepts the arguments of the manifest' xargs -a words env
. "$tests/repo.sh"
days origin 2
jq -r "$job.template.spec.initContainers[0].args[0]" cron.json >fetch.sh
for what in 'the first start clones the repository' 'the next ones fetch'; do
  test_that "$what" env "REPOSITORY=$PWD/origin" sh fetch.sh
done
test_same 2 "$(git -C valkey.git rev-list --count unstable)" 'the clone has the commits'
test_done
