#!/bin/sh
# Each fuzz target runs a thousand inputs, always from the same seed: what is wrong with a
# parser is mostly found by the first hundreds, and more are for a longer run by hand.
. "${0%/*}/lib.sh"

dir=$(clang -print-resource-dir 2>/dev/null)/lib
if ! find "$dir" -name 'libclang_rt.fuzzer*' 2>/dev/null | grep -q .; then
  test_skip 'fuzz targets' "clang's fuzzer runtime"
  test_done
fi
test_that 'the targets are built' make -s -j2 -C "$top" fuzz
for f in "$top"/tests/fuzz/*.c; do
  name=${f##*/}
  name=${name%.c}
  [ "$name" != main ] || continue
  # The first two use libraries that allocate megabytes for each input, the others take
  # milliseconds for one.
  case $name in
  dataset | dump) runs=250 ;;
  report | template) runs=500 ;;
  *) runs=1000 ;;
  esac
  cp -R "$top/tests/data/fuzz/$name" . 2>/dev/null || mkdir "$name" # not each has seeds
  test_that "fuzz: $name" "$top/build/fuzz/$name" -seed=1 -runs=$runs \
    -max_len=4096 -timeout=10 -rss_limit_mb=2048 -close_fd_mask=3 \
    -print_funcs=0 -artifact_prefix="$scratch/crash-$name-" "$name"
  for crash in "crash-$name-"*; do
    [ -e "$crash" ] || continue
    echo "# the input, in base64: $(base64 -w 0 "$crash")"
  done
done
test_done
