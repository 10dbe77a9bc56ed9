#!/bin/sh
# slow: make install gives a tree that works; make clean leaves nothing.
. "${0%/*}/lib.sh"

# In a copy, so that cleaning it does not take the programs away.
mkdir copy
(cd "$top" && tar -cf - --exclude=./build --exclude=./.git \
  --exclude=./results --exclude='./bin/vkb-[a-z]*' .) | tar -xf - -C copy
for f in "$top"/bin/*; do
  case $(head -c 2 "$f") in
  '#!' | '# ') cp -p "$f" copy/bin ;;
  esac
done
(cd copy && find . -type f | sort) >before
test_that 'make install' make -s -j2 -C copy CFLAGS=-O0 install \
  DESTDIR="$scratch/dest" PREFIX=/opt/vkb
root=$scratch/dest/opt/vkb

for f in "$top"/src/vkb-*.c; do
  p=$(basename "$f" .c)
  for want in "bin/$p" "share/man/man1/$p.1" \
    "share/bash-completion/completions/$p" "share/zsh/site-functions/_$p"; do
    [ -s "$root/$want" ] || echo "$want"
  done
  env -i PATH="$root/bin:/usr/bin:/bin" "$p" --version >/dev/null || echo "$p"
done >lacks
for f in copy/man/* copy/configs/*.json; do
  find "$root/share" -name "${f##*/}" | grep -q . || echo "$f"
done >>lacks
sed -n "s/^WORKFLOWS = //p" "$top/Makefile" | tr " " "\n" | while read -r w; do
  env -i PATH="$root/bin:/usr/bin:/bin" "$w" --help >/dev/null || echo "$w"
done >>lacks
test_same '' "$(cat lacks)" 'everything is installed and starts'
test_same '' "$(find "$root/bin" -type f ! -perm -111 \
  ! -name vkb-sh-setup)" 'programs can be run'
test_same '' "$(find "$root/share" -type f -perm /111)" 'data can not'
if command -v man >/dev/null 2>&1; then
  test_that 'man finds a page' man -M "$root/share/man" -w vkb-stats
fi
test_same "$(sed -n 's/^VERSION = /vkb-stats /p' "$top/Makefile")" \
  "$("$root/bin/vkb-stats" --version)" 'the version is that of the Makefile'
test_that 'make clean' make -s -C copy clean
(cd copy && find . -type f | sort) >after
test_same "$(cat before)" "$(cat after)" 'make clean leaves nothing'
test_done
