#!/bin/sh
. "${0%/*}/lib.sh"

# --- the version, which is defined in the Makefile

version=$(sed -n 's/^VERSION = //p' "$top/Makefile")
test_same "vkb-stats $version" "$(vkb-stats --version)" \
  'the version of the programs is that of the Makefile'
test_same "$version" \
  "$(sed -n 's/^## \([^ ]*\).*/\1/p' "$top/NEWS.md" | head -n 1)" \
  'NEWS.md begins with this version'
test_same "$version" \
  "$(sed -n '1s/^vkb (\([^)]*\)).*/\1/p' "$top/debian/changelog")" \
  'debian/changelog begins with this version'

# --- the packages for the build are those that vkb-needs installs

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
# The compiler, libc and make exist wherever packages are built; the old name
# of pkgconf is one that only old releases need.
test_same "$(needs build | grep -vx -e gcc -e make -e libc6-dev |
  sed 's/^pkg-config$/pkgconf/' | sort)" \
  "$(list Build-Depends | grep -vx debhelper-compat | sort)" \
  'Build-Depends has the packages that vkb-needs installs for the build'
for p in $(needs run) $(needs ci); do
  list Recommends | grep -qx "$p" || echo "$p"
done >lacks
test_empty_file lacks 'Recommends has the packages that programs need at run time'

# --- the tarball, made from a copy, so that this tree is not changed

# files: prints the files of a clone, or of an unpacked tarball without git
files() {
  if [ -e "$top/.git" ]; then
    git -C "$top" ls-files
  else
    (cd "$top" && find . -type f ! -path './build/*' ! -path './results/*' \
      ! -path './lib/vkb/*.so' ! -path './bin/vkb-*' -printf '%P\n'
      sed -n 's/^WORKFLOWS = //p' Makefile | tr ' ' '\n' | sed 's|^|bin/|')
  fi | LC_ALL=C sort
}
SOURCE_DATE_EPOCH=1767225600
export SOURCE_DATE_EPOCH
files >want
mkdir clone
tar -C "$top" -cf - -T want | tar -C clone -xf -
git init -q clone
git -C clone add -A
echo left >clone/left-over
test_same build/vkb-"$version".tar.gz "$(make -s -C clone dist)" \
  'make dist prints the name of the tarball'
tarball=clone/build/vkb-$version.tar.gz
tar -tzf "$tarball" | sed "s|^vkb-$version/||" >got
test_same "$(cat want)" "$(cat got)" 'the tarball has the files that git tracks, and no others'
tar -xzf "$tarball"
mv "vkb-$version" copy
chmod -R go-rwx copy
touch copy/README.md
test_that 'make dist without git is accepted' make -s -C copy dist
test_that 'make dist without git makes the same tarball' \
  cmp "$tarball" "copy/build/vkb-$version.tar.gz"
unset SOURCE_DATE_EPOCH
rm -r copy
tar -xzf "$tarball"
mv "vkb-$version" copy
(cd copy && find . | sort) >before

# --- the Debian package

# Linking takes a third of the time with gold, where it is installed.
link=-Wl,-S
! command -v ld.gold >/dev/null || link="$link -fuse-ld=gold"

# check_pages: what lintian checks of manual pages. It looks for misspelt words line by
# line, which takes as long as all its other checks; here all pages are looked at once.
check_pages() {
  find deb/usr/share/man -type f | sort | while read -r page; do
    file -b "$page" | grep -q 'gzip compressed.*max compression' || echo "$page: not compressed"
    text=${page##*/}
    text=pages/${text%.gz}
    gzip -dc "$page" >"$text"
    [ "${page%/*}" = "deb/usr/share/man/man${text##*.}" ] || echo "$page: not in its folder"
    grep -q "^\.Dt [^ ]* ${text##*.}\$" "$text" || echo "$text: another section"
    lexgrog "$text" >whatis || echo "$text: no line for whatis"
    MANROFFSEQ='' MANWIDTH=120 LC_ALL=C.UTF-8 \
      man --warnings -E UTF-8 -l -Tutf8 -Z "$text" >/dev/null
  done
  # Tables may have a word twice.
  spellintian pages/* | grep -v '(duplicate word)'
}

package() {
  for tool in dpkg-buildpackage dh lintian; do
    command -v "$tool" >/dev/null || {
      test_skip 'the Debian package' "$tool"
      return
    }
  done
  # The modules of this tree are of the same files, which the tarball was compared with:
  # they are not compiled again, but each vkb-*.c and vkb-still.c is, with the flags of
  # Debian.
  {
    echo 'mkdir -p build'
    echo "cd '$VKB_BUILD' && find lib judge vkb-*/ -name '*.o' -exec cp --parents -t '$scratch/copy/build' {} +"
  } >modules
  cd copy || exit 2
  # Packed with little effort, and linked without debug information: neither is compared.
  test_that 'dpkg-buildpackage is accepted' \
    env DEB_BUILD_OPTIONS='nocheck noopt noautodbgsym parallel=2 optimize=-lto' \
    DEB_CFLAGS_APPEND=-g0 DEB_LDFLAGS_APPEND="$link" DPKG_DEB_COMPRESSOR_LEVEL=0 \
    dpkg-buildpackage -us -uc -d --source-option=-z1 --hook-build="sh $scratch/modules"
  cd ..
  deb=$(ls vkb_"$version"_*.deb)
  # Which standard is the newest, and which is too old, depends on lintian. Workflows have
  # texts for other shells and for jq, and the programs are built without optimisation here.
  test_that 'lintian finds nothing' lintian -I --profile debian -X documentation/manual \
    --fail-on error,warning,info --suppress-tags \
    newer-standards-version,out-of-date-standards-version,bash-term-in-posix-shell,hardening-no-fortify-functions \
    vkb_*.dsc "$deb"
  test_that 'the package can be unpacked' dpkg-deb -x "$deb" deb
  mkdir pages
  check_pages >wrong 2>&1
  test_empty_file wrong 'the manual pages are complete and without errors'

  sed -n 's/^| \(vkb-[a-z]*\) |.*/\1/p' "$top/CONTRIBUTING.md" | while read -r p; do
    env -i PATH="$scratch/deb/usr/bin:/usr/bin:/bin" "$p" --help </dev/null \
      >/dev/null ||
      echo "$p"
    [ -s "deb/usr/share/man/man1/$p.1.gz" ] || echo "$p.1"
  done >lacks
  for f in "$top"/src/vkb-*.c "$top/bin/vkb-ab"; do
    p=$(basename "$f" .c)
    [ -s "deb/usr/share/bash-completion/completions/$p" ] || echo "$p (bash)"
    [ -s "deb/usr/share/zsh/vendor-completions/_$p" ] || echo "$p (zsh)"
    [ -s "deb/usr/share/fish/vendor_completions.d/$p.fish" ] || echo "$p (fish)"
  done >>lacks
  (cd copy && find configs -type f) | while read -r f; do
    cmp "copy/$f" "deb/usr/share/vkb/$f" || echo "$f"
  done >>lacks
  test_empty_file lacks 'the package has all programs, pages and configurations'
  test_same "vkb-stats $version" "$(deb/usr/bin/vkb-stats --version)" \
    'the programs of the package have its version'
  echo '[{"commands": ["SET"], "requests": [2000], "keyspacelen": [100], "data_sizes": [16],
    "pipelines": [1], "clients": [2], "cluster_mode": false, "tls_mode": false, "warmup": 0}]' >small.json
  mkdir auto
  test_that "autopkgtest's script accepts the package" env AUTOPKGTEST_TMP="$scratch/auto" \
    PATH="$scratch/deb/usr/bin:/usr/bin:/bin:/usr/sbin:/sbin" copy/debian/tests/measure "$scratch/small.json"
  dpkg-deb -f "$deb" Depends >depends
  for lib in libarchive libcjson libcsv libcurl libexpat libgit2 libhiredis libpq \
    libssl; do
    grep -q "$lib" depends || echo "$lib"
  done >lacks
  test_empty_file lacks 'the package depends on its libraries'
}
package

# --- make install from the tarball, which makes what is missing: a program, the library and
# the completion, or all where there was no package

rm -rf copy/bin/vkb-stats copy/lib/vkb/vkb-still.so copy/build/completion
test_that 'make install is accepted' make -s -j2 -C copy CFLAGS=-O0 LDFLAGS="$link" install \
  DESTDIR="$scratch/dest" PREFIX=/opt/vkb
root=$scratch/dest/opt/vkb

for f in "$top"/src/vkb-*.c; do
  p=$(basename "$f" .c)
  for want in "bin/$p" "share/man/man1/$p.1" \
    "share/bash-completion/completions/$p" "share/zsh/site-functions/_$p" \
    "share/fish/vendor_completions.d/$p.fish"; do
    [ -s "$root/$want" ] || echo "$want"
  done
  env -i PATH="$root/bin:/usr/bin:/bin" "$p" --version >/dev/null || echo "$p"
done >lacks
(cd copy && find man configs -type f) | while read -r f; do
  case $f in
  man/*) to=share/man/man${f##*.}/${f##*/} ;;
  *) to=share/vkb/$f ;;
  esac
  cmp "copy/$f" "$root/$to"
done >>lacks 2>&1
sed -n "s/^WORKFLOWS = //p" "$top/Makefile" | tr " " "\n" | while read -r w; do
  env -i PATH="$root/bin:/usr/bin:/bin" "$w" --help >/dev/null || echo "$w"
done >>lacks
test_empty_file lacks 'everything is installed and starts'
test_empty "$(find "$root/bin" -type f ! -perm -111)" 'programs are executable'
test_same "$(cd copy && find configs -name '*.sbatch' | sort)" \
  "$(cd "$root/share/vkb" && find . -type f -perm /111 | sed 's|^./||' | sort)" \
  'of the data files only the scripts of Slurm are executable'
test_empty "$(find "$root/share" -type f -perm /111 ! -name '*.sbatch')" 'nor is a page'
test_empty "$(find "$scratch/dest" -type f ! -path "$root/*")" \
  'nothing is outside PREFIX'
if command -v man >/dev/null 2>&1; then
  test_that 'man finds a page' man -M "$root/share/man" -w vkb-stats
fi
test_same "vkb-stats $version" "$("$root/bin/vkb-stats" --version)" \
  'the page has the same version'

# --- make uninstall and make clean

mkdir -p "$root/share/vkb/configs"
echo mine >"$root/share/vkb/configs/mine.json"
echo other >"$root/bin/other"
test_that 'make uninstall is accepted' make -s -C copy uninstall \
  DESTDIR="$scratch/dest" PREFIX=/opt/vkb
test_same "$(printf '%s\n' bin/other share/vkb/configs/mine.json)" \
  "$(cd "$root" && find . -type f | sed 's|^./||' | sort)" \
  'make uninstall leaves only foreign files'
rm "$root/bin/other" "$root/share/vkb/configs/mine.json"
test_that 'make uninstall can be repeated' make -s -C copy uninstall \
  DESTDIR="$scratch/dest" PREFIX=/opt/vkb
test_same 'dest/opt' "$(find dest -empty)" 'nothing is left without them'
test_that 'make clean is accepted' make -s -C copy clean
[ ! -e copy/debian/vkb ] || (cd copy && dh_clean)
(cd copy && find . | sort) >after
test_same "$(cat before)" "$(cat after)" 'make clean leaves no file'
test_done
