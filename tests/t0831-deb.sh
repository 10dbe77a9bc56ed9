#!/bin/sh
# slow: the Debian package builds from the tarball, lintian finds nothing, and it
# holds what make install puts there.
. "${0%/*}/lib.sh"

# --- what it builds with is what vkb-needs installs

needs() { # needs SET: names of the packages of apt, the first of each
  sed -n "s/^$1 [^ ]* \([^ |]*\).*/\1/p" "$top/bin/vkb-needs" | grep -vx -
}
list() { # list FIELD: of debian/control, without versions
  awk -v f="$1:" '
    $1 == f { on = 1; $1 = "" }
    /^[^ ]/ && $0 !~ f && NF && substr($0, 1, 1) != " " { on = $1 == "" }
    on' "$top/debian/control" | tr ',' '\n' |
    sed 's/([^)]*)//; s/^ *//; s/ *$//' | grep -v '^$'
}
# The compiler, libc and make are there wherever packages are built; the old name
# of pkgconf is one that only old releases need.
test_same "$(needs build | grep -vx -e gcc -e make -e libc6-dev |
  sed 's/^pkg-config$/pkgconf/' | sort)" \
  "$(list Build-Depends | grep -vx debhelper-compat | sort)" \
  'Build-Depends is what vkb-needs installs to build'
for p in $(needs run) $(needs ci); do
  list Recommends | grep -qx "$p" || echo "$p"
done >lacks
test_empty_file lacks 'Recommends has what it needs to run'

for tool in dpkg-buildpackage dh lintian; do
  command -v "$tool" >/dev/null || {
    test_skip 'the package' "$tool"
    test_done
  }
done

# --- the package

version=$(sed -n 's/^VERSION = //p' "$top/Makefile")
make -s -C "$top" dist >/dev/null
tar -xzf "$top/build/vkb-$version.tar.gz"
cd "vkb-$version" || exit 2
DEB_BUILD_OPTIONS='nocheck noopt parallel=2 optimize=-lto'
export DEB_BUILD_OPTIONS
test_that 'dpkg-buildpackage' dpkg-buildpackage -us -uc -d
cd ..
deb=$(ls vkb_"$version"_*.deb)
# Which standard is the newest, and which is too old, depends on lintian.
test_that 'lintian finds nothing' lintian --profile debian \
  --fail-on error,warning --suppress-tags \
  newer-standards-version,out-of-date-standards-version vkb_*.dsc "$deb"
test_that 'it can be unpacked' dpkg-deb -x "$deb" dest

sed -n 's/^| \(vkb-[a-z]*\) |.*/\1/p' "$top/README.md" | while read -r p; do
  env -i PATH="$scratch/dest/usr/bin:/usr/bin:/bin" "$p" --help </dev/null \
    >/dev/null ||
    echo "$p"
  [ -s "dest/usr/share/man/man1/$p.1.gz" ] || echo "$p.1"
done >lacks
for f in "$top"/src/vkb-*.c; do
  p=$(basename "$f" .c)
  [ -s "dest/usr/share/bash-completion/completions/$p" ] || echo "$p (bash)"
  [ -s "dest/usr/share/zsh/vendor-completions/_$p" ] || echo "$p (zsh)"
done >>lacks
(cd "vkb-$version" && find configs -type f) | while read -r f; do
  cmp "vkb-$version/$f" "dest/usr/share/vkb/$f" || echo "$f"
done >>lacks
test_empty_file lacks 'it has all programs, pages and configurations'
test_same "vkb-stats $version" "$(dest/usr/bin/vkb-stats --version)" \
  'of its version'
dpkg-deb -f "$deb" Depends >depends
for lib in libarchive libcjson libcsv libcurl libdw libelf libexpat libgit2 libhiredis libpq \
  libssl; do
  grep -q "$lib" depends || echo "$lib"
done >lacks
test_empty_file lacks 'and depends on its libraries'
test_done
