#!/bin/sh
# Ten runners of vkb-trackcommits share a branch and are killed at random times: no
# commit is measured twice at once, and none is lost.
. "${0%/*}/lib.sh"
. "$tests/repo.sh"
test_postgres 'runners of vkb-trackcommits'

days repo 5

echo '[{"commands":["SET"],"warmup":0}]' >config.json
# shellcheck disable=SC2086 # several words
track() { vkb-trackcommits "$@" $store; }
completed() { track query --format jsonl --status complete; }
titles() {
  jq -r .commit | while read -r sha; do
    git -C repo show -s --format=%s "$sha"
  done | xargs
}

# runner.sh OWNER: claims commits until all are complete
cat >runner.sh <<'END'
bad() { echo "$1: $2" >>bad; exit 1; }
while :; do
  sha=$(vkb-trackcommits claim --repo repo --config-file config.json \
    --lease 10m --owner "$1" --max-commits 1 --format shas $store) ||
    bad "$1" "claim: $?"
  if [ -z "$sha" ]; then
    left=$(vkb-trackcommits query --format jsonl --status complete $store) ||
      bad "$1" "query: $?"
    [ "$(echo "$left" | grep -c .)" -lt 5 ] || exit 0
    perl -e 'select undef, undef, undef, 0.5'
    continue
  fi
  vkb-trackcommits heartbeat --lease 10m --owner "$1" $store "$sha" -- \
    perl work.pl "$sha" "$1" || exit 1
  vkb-trackcommits mark --status complete --owner "$1" \
    --config-file config.json $store "$sha" || bad "$1" "mark: $?"
  echo "$sha" >>marked
done
END

# work.pl SHA OWNER: the work for a commit, which must not run twice at once. In
# the first attempts it kills its parent, and must then be killed itself.
cat >work.pl <<'END'
use Fcntl ':flock';
my ($sha, $owner) = @ARGV;
sub note { open my $f, '>>', shift or die; syswrite $f, "@_\n"; }
open my $f, '>', "busy/$sha" or die;
flock $f, LOCK_EX | LOCK_NB or note('bad', "$sha: twice at once");
my ($slot, $try) = $owner =~ /(\d+)-(\d+)/ or die;
srand($slot * 1000 + $try);
select undef, undef, undef, rand 0.2;
if ($try == 1 || ($try < 4 && rand() < 0.2)) {
  note('died', "holder of $owner");
  open my $stat, '<', '/proc/' . getppid . '/stat' or die; # of the reaper
  kill 9, (split ' ', <$stat>)[3];
  select undef, undef, undef, 300;
}
END

# supervise.pl SLOT: restarts a runner until it ends without error, and sometimes
# kills it and its children. It waits until all of them are dead and the server
# has closed their sessions, and only then shortens their leases, so that no
# lease depends on how busy this machine is.
cat >supervise.pl <<'END'
my $slot = shift;
my @store = split ' ', $ENV{store};
sub note { open my $f, '>>', shift or die; syswrite $f, "@_\n"; }
$^F = 99;
for my $try (1 .. 50) {
  my $owner = "$slot-$try";
  pipe my $in, my $out or die;
  my $pid = fork // die;
  if (!$pid) {
    setpgrp 0, 0;
    close $in;
    $ENV{PGAPPNAME} = $owner;
    exec 'sh', 'runner.sh', $owner or die;
  }
  setpgrp $pid, $pid;
  close $out;
  srand($slot * 1000 + $try + 500);
  my $bits = '';
  vec($bits, fileno $in, 1) = 1;
  if ($try < 4 && rand() < 0.7 && !select $bits, undef, undef, rand 3) {
    note('died', "all of $owner");
    kill 9, -$pid;
  }
  waitpid $pid, 0;
  exit 0 if $? == 0;
  vec($bits, fileno $in, 1) = 1;
  select $bits, undef, undef, 120 or note('bad', "$owner: something survives");
  for (my $end = time + 120; time < $end;) {
    my $n = `psql -XqAt -c "SELECT count(*) FROM pg_stat_activity WHERE application_name = '$owner'"`;
    last if $n eq "0\n";
    select undef, undef, undef, 0.05;
  }
  my $rc = system 'vkb-trackcommits', 'heartbeat', '--owner', $owner,
    '--lease', '1s', @store;
  note('bad', "$owner: heartbeat: $rc") if $rc != 0 && $rc != 256;
}
note('bad', "$slot: never done");
END

dying() {
  what=$1
  export store
  : >bad
  : >died
  : >marked
  rm -rf busy
  mkdir busy
  runners=
  for i in 1 2 3 4 5 6 7 8 9 14; do
    perl supervise.pl $i >/dev/null 2>>said &
    runners="$runners $!"
  done
  # shellcheck disable=SC2086 # several words
  wait $runners
  test_empty_file bad "$what: no commit is measured twice at once"
  test_same 'c5 c4 c3 c2 c1' "$(completed | titles)" "$what: all commits are complete"
  test_empty "$(sort marked | uniq -d)" "$what: no commit is marked twice"
  test_same 5 "$(track query --format jsonl | wc -l)" "$what: each commit has one record"
  test_match 'holder of' died "$what: some heartbeat processes were killed"
  test_match 'all of' died "$what: some runners were killed with their children"
  test_that "$what: determine is accepted at the end" track determine --repo repo --config-file config.json
  test_empty_file .out "$what: no commit is left"
}

store='--file runners.jsonl'
dying file
store='--table runners'
dying table
test_done
