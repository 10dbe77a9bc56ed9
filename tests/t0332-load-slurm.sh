#!/bin/sh
# configs/slurm on a Slurm cluster of three nodes, which all run on this machine: the
# tasks are the parts of a load, or share the commits of a branch.
. "${0%/*}/lib.sh"

test_server 'a load by Slurm'
. "$tests/repo.sh"
PATH=$PATH:/usr/sbin
for need in munged slurmctld slurmd sbatch srun; do
  command -v $need >/dev/null && continue
  test_skip 'a load by Slurm' $need
  test_done
done
if [ "$(id -u)" -ne 0 ]; then
  test_unable 'a load by Slurm' 'slurmd runs as root'
  test_done
fi
printf '{"type":"spec","v":1,"id":"other"}\n' >spec
test_other spec
cat >case.json <<'END'
[{"commands":["SET"],"keyspacelen":[999],"data_sizes":[16],"pipelines":[4],
  "clients":[7],"tls_mode":false,"cluster_mode":false,"warmup":0,"duration":3,
  "rate":999}]
END

# munge needs a folder that no other user can write to.
chmod 755 "$scratch"
mkdir munge state spool
dd if=/dev/urandom of=munge/key bs=128 count=1 2>/dev/null
chmod 400 munge/key
free_ports() { perl -MIO::Socket::INET -e '
  my @s = map { IO::Socket::INET->new(Listen => 1, LocalAddr => "127.0.0.1") } 1 .. 4;
  print join(" ", map { $_->sockport } @s)'; }
# shellcheck disable=SC2046 # four words
set -- $(free_ports)
cat >slurm.conf <<END
ClusterName=vkb
SlurmctldHost=$(uname -n)(127.0.0.1)
SlurmctldPort=$1
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket=$scratch/munge/socket
CredType=cred/munge
MpiDefault=none
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
SelectType=select/cons_tres
SlurmdParameters=config_overrides
ReturnToService=2
StateSaveLocation=$scratch/state
SlurmdSpoolDir=$scratch/spool.%n
SlurmctldPidFile=$scratch/slurmctld.pid
SlurmdPidFile=$scratch/slurmd.%n.pid
SlurmctldLogFile=$scratch/slurmctld.log
SlurmdLogFile=$scratch/slurmd.%n.log
NodeName=n1 NodeHostname=$(uname -n) NodeAddr=127.0.0.1 Port=$2 CPUs=2
NodeName=n2 NodeHostname=$(uname -n) NodeAddr=127.0.0.1 Port=$3 CPUs=2
NodeName=n3 NodeHostname=$(uname -n) NodeAddr=127.0.0.1 Port=$4 CPUs=2
PartitionName=all Nodes=n[1-3] Default=YES State=UP
END
export SLURM_CONF="$scratch/slurm.conf"
daemons=
start() {
  "$@" 3>&- 4<&- >>daemons.log 2>&1 &
  daemons="$! $daemons"
}
start munged --foreground --force --num-threads=2 --key-file="$scratch/munge/key" \
  --socket="$scratch/munge/socket" --pid-file="$scratch/munge/pid" \
  --seed-file="$scratch/munge/seed" --log-file="$scratch/munge/log"
wait_until 60 test -S munge/socket
start slurmctld -D
for i in 1 2 3; do start slurmd -D -N n$i; done
stop_slurm() {
  # shellcheck disable=SC2086 # a list
  kill $daemons
  exec 3>&- 4<&-
  wait
}
test_cleanup() { stop_slurm; }
idle() { [ "$(sinfo -h -N -t idle -o %N 2>/dev/null | sort -u | wc -l)" -eq 3 ]; }
test_that 'three nodes are ready' wait_until 60 idle

for f in part-1.jsonl runs.jsonl; do echo mine >$f; done
test_that 'a job of three tasks succeeds' sbatch --wait --quiet --nodes=3 \
  --export=ALL --output=job.out "$top/configs/slurm/vkb-load.sbatch" \
  --host 127.0.0.1 --port "$port" --runs 2 --timeout 30s case.json
sed 's/^/# /' job.out
# On a busy machine a part may begin later than the others, which the run says.
test_same '["ok",999,3] ["ok",999,3]' "$(jq -c '[if .status == "ok" or
  (.error | test("^its parts measured at the same time for 9")) then "ok" else .error end, .metrics.offered_rps,
  (.run.parts | length)]' runs-*.jsonl | xargs -d '\n')" 'its runs are of three parts in step'
test_same '333 333 333 333 333 333' \
  "$(jq .metrics.offered_rps part-*-?.jsonl | xargs)" 'the parts made equal shares'
test_same 'mine mine' "$(cat part-1.jsonl runs.jsonl | xargs)" 'files of the user, and of other jobs, are kept'

# --- the commits of a branch, with one database

test_postgres 'a branch by Slurm'
test_cleanup() {
  postgres_stop
  stop_slurm
}
mkdir -p repo/src
cat >repo/src/server.sh <<'END'
#!/bin/sh
exec valkey-server "$@"
END
printf 'valkey-server:\n\tinstall server.sh $@\n%%:\n\t@:\n' >repo/src/Makefile
git init -q -b unstable repo
for i in 1 2 3 4 5; do
  echo "# $i" >>repo/src/server.sh
  commit "c$i"
done
cat >set.json <<'END'
[{"commands":["SET"],"keyspacelen":[99],"data_sizes":[16],"pipelines":[4],
  "clients":[2],"tls_mode":false,"cluster_mode":false,"warmup":0,"requests":[500]}]
END
# Five commits, of which each task measures at most two: all three tasks are needed.
test_that 'an array of three tasks succeeds' sbatch --wait --quiet --array=0-2 \
  --export=ALL --output='task-%a.out' "$top/configs/slurm/vkb-continuous.sbatch" \
  -C repo --max-commits 2 set.json -- --runs 2 -- --cache cache
sed 's/^/# /' task-?.out
test_same '5 complete' "$(vkb-trackcommits query --format jsonl | jq -r .status | sort | uniq -c |
  sed 's/^ *//')" 'the tasks have measured all five commits'
test_same '10|5|10' "$(sql "SELECT count(*), count(DISTINCT commit),
  count(DISTINCT (commit, vkb_index)) FROM benchmark_metrics")" 'each commit was measured once'
test_same 'n1 n2 n3' "$(vkb-trackcommits query --format jsonl | jq -r .owner |
  sed 's/.*continuous-results.//' | sort -u | xargs)" 'each node has measured commits'
test_that 'a second array succeeds without work' sbatch --wait --quiet --array=0-2 \
  --export=ALL --output='task-%a.out' "$top/configs/slurm/vkb-continuous.sbatch" \
  -C repo -q set.json -- --runs 2 -- --cache cache
test_empty "$(cat task-?.out)" 'it prints nothing'
test_done
