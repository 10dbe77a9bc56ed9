#!/bin/sh
# gendata.sh [PERCENT]: CPU seconds of vkb-gendata beside those of what the
# Python tool does, a row at a time with the same modules; python3 is needed.
# Rows are so many that Python takes five seconds or more, or PERCENT of them,
# so that neither is mostly its start. Files are in memory unless TMPDIR says
# where; 'copy' is what it costs to copy the file there: the limit.
set -eu
cd "${0%/*}/../.."
make -s all >&2
PATH=$PWD/bin:$PATH
percent=${1:-100}
dir=$(mktemp -d "${TMPDIR:-/dev/shm}/vkb-bench.XXXXXX")
trap 'rm -rf "$dir"' EXIT

cat >"$dir/rows.py" <<'END'
import csv, random, string, sys

A = string.ascii_lowercase


def letters(n):
    s = ""
    while n >= 0:
        s, n = A[n % 26] + s, n // 26 - 1
    return s


def word(r):
    return "".join(r.choices(A, k=r.randint(8, 10)))


def fuzzy(d):
    term, v = (d - 1) // 4000 + 1, (d - 1) % 4000 // 20
    w = word(random.Random(term))
    if v:
        r = random.Random(term * 1000000 + v)
        for _ in range(3):
            p = r.randint(0, len(w) - 1)
            w = w[:p] + r.choice(A) + w[p + 1:]
    return w


def noise(d):
    t = ["phrase%d_term%d" % ((d - 1) // 1000, i) for i in range(1, 26)]
    p = []
    for x in t[:-1]:
        p.extend([x, x, x, "x", "x"])
    return " ".join(p + [t[-1], t[-1]] + t)


def uuid(d):
    r, c = random.Random(d), A + string.digits
    return " ".join("".join(r.choices(c, k=128)) for _ in range(50))


def tags():
    return "|".join(random.sample(["electronics", "books", "food"], random.randint(1, 2)))


made = {
    "phrases": lambda d, n: [" ".join("phrase%d_term%d" % ((d - 1) // 1000, i) for i in range(1, 6))],
    "noise": lambda d, n: [noise(d)],
    "fuzzy": lambda d, n: [fuzzy(d)],
    "set": lambda d, n: [" ".join(random.Random(d).choice(A[:10]) for _ in range(10)) for _ in range(20)],
    "uuid": lambda d, n: [uuid(d)],
    "unique": lambda d, n: [" ".join(letters((d - 1) * 300 + i) for i in range(300))],
    "progressive": lambda d, n: [" ".join([letters(d - 1) * i for i in range(1, 101)])],
    "hybrid": lambda d, n: ["phrase%d_term1" % ((d - 1) // 1000), str(random.uniform(10, 1000))[:10], tags()],
}
name, n, out = sys.argv[1], int(sys.argv[2]), sys.argv[3]
with open(out, "w", newline="") as f:
    w = csv.writer(f)
    for d in range(1, n + 1):
        w.writerow(made[name](d, n))
END

t() { printf '[{"name":"f","size":%s,"transforms":[%s]}]' "$1" "$2"; }
recipe() {
  case $1 in
  phrases) t 200 '{"type":"proximity_phrase"}' ;;
  noise) t 5000 '{"type":"proximity_phrase","term_count":25,"combinations":2}' ;;
  fuzzy) t 50 '{"type":"fuzzy","variant_count":200,"min_word_length":8,"max_word_length":10,"target_distance":3}' ;;
  uuid) t 100000 '{"type":"uuid_tokens","token_count":50}' ;;
  unique) t 100000 '{"type":"unique_tokens","token_count":300}' ;;
  progressive) t 100000 '{"type":"progressive_prefix","leaf_count":0}' ;;
  text) t 2000 '{"type":"wikipedia"}' ;;
  hybrid)
    printf '[{"name":"a","size":50,"transforms":[{"type":"proximity_phrase","term_count":1}]},
      {"name":"b","size":10,"transforms":[{"type":"numeric_range","min":10,"max":1000}]},
      {"name":"c","size":30,"transforms":[{"type":"tag_list","tags":["electronics","books","food"]}]}]'
    ;;
  esac
}

# cpu COMMAND...: its seconds of both kinds
cpu() {
  python3 -c '
import resource, subprocess, sys
def spent():
    r = resource.getrusage(resource.RUSAGE_CHILDREN)
    return r.ru_utime + r.ru_stime
before = spent()
subprocess.run(sys.argv[1:], check=True)
print("%.3f" % (spent() - before))' "$@"
}

printf '%-12s %8s %9s %9s %8s %9s %9s %9s\n' kind rows 'Python s' 'here s' ratio 'copy s' MB MB/s
for each in phrases:1500 noise:150 fuzzy:350 set:5 uuid:8 unique:30 progressive:20 hybrid:1500 text:100; do
  name=${each%:*}
  n=$((${each#*:} * 10 * percent))
  if [ "$name" = set ]; then
    body='"generate_fields":{"count":20,"size":25,"transforms":[{"type":"random_from_set"}]}'
  else
    body="\"fields\":$(recipe "$name")"
  fi
  printf '{"dataset_generation":{"x.csv":{"doc_count":%s,%s}}}\n' "$n" "$body" >"$dir/x.json"
  python=-
  [ "$name" = text ] || python=$(cpu python3 "$dir/rows.py" "$name" "$n" "$dir/python.csv")
  rm -f "$dir/python.csv"
  here=$(cpu vkb-gendata -f -o "$dir/out" "$dir/x.json")
  copy=$(cpu dd bs=1M status=none if="$dir/out/x.csv" of="$dir/copy.csv")
  rm "$dir/copy.csv"
  printf '%s %s %s %s %s %s\n' "$name" "$n" "$python" "$here" "$copy" "$(wc -c <"$dir/out/x.csv")" |
    awk '{ mb = $6 / 1e6
      printf "%-12s %8d %9s %9s %8s %9s %9.1f %9.0f\n", $1, $2, $3, $4,
        $3 == "-" ? "-" : sprintf("%.0f", $3 / $4), $5, mb, mb / $4 }'
  rm -r "$dir/out"
done
