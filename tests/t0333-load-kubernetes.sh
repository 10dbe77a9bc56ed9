#!/bin/sh
# configs/kubernetes: the manifest by the schema of Kubernetes, and what it runs.
. "${0%/*}/lib.sh"
. "$tests/npm.sh"

npm_need kubernetes-models@4.4.2 yaml@2.9.1
cat >check.js <<'END'
const fs = require('fs'), yaml = require('yaml');
const m = yaml.parse(fs.readFileSync(process.argv[2], 'utf8'));
if (process.argv[3] === 'print') {
  console.log(JSON.stringify(m));
  process.exit(0);
}
if (m.apiVersion !== 'batch/v1' || m.kind !== 'Job') throw new Error('no Job');
const { Job } = require('kubernetes-models/batch/v1');
new Job(m).validate();
END
job=$top/configs/kubernetes/vkb-load.yaml
test_that 'the manifest is a Job of Kubernetes' node check.js "$job"
sed 's/completions: 3/completions: three/' "$job" >bad.yaml
test_status 1 'a mistake in it would be found' node check.js bad.yaml
node check.js "$job" print >job.json
test_same '["Indexed",true,0,"Never"]' "$(jq -c '.spec | [.completionMode,
  .completions == .parallelism, .backoffLimit, .template.spec.restartPolicy]' job.json)" \
  'all parts run at the same time, and none again'
test_same true "$(jq '.spec.completions as $n | .spec.template.spec.containers[0].args |
  index("--client=$(PART)/\($n)") != null' job.json)" 'there are as many pods as parts'
printf '[{"commands":["SET"],"keyspacelen":[9],"data_sizes":[9],"pipelines":[1],"clients":[9],"tls_mode":false,"cluster_mode":false,"warmup":0,"requests":[9]}]\n' >case.json
jq -r '.spec.template.spec.containers[0] | (.command + .args)[]' job.json |
  sed "s/(PART)/0/; s/\\\$0/0/; s,/case/case.json,case.json," >words
echo --plan >>words
test_that 'vkb-load takes its arguments' xargs -a words env
test_done
