#!/bin/sh
# vkb-build: release archives, valid and invalid ones.
# sanitize: archives.
. "${0%/*}/lib.sh"
. "$tests/repo.sh"

small_repo
ln -s version.h repo/src/link.h
ln -s ../src/version.h repo/deps/up.h
chmod +x repo/src/release.sh
commit one
in_repo tag 1
echo '#define VERSION "9.0.1"' >repo/src/version.h
commit two
in_repo tag 2

field() { jq -r "$1" .out; }
how() { field '"\(.status) \(.incremental) \(.cached) \(.version)"'; }
release() { in_repo archive --prefix="valkey-$1/" -o "../valkey-$1.$2" "$1"; }
for kind in tar tar.gz zip; do
  release 1 $kind
done
release 2 tar.gz
xz -k valkey-1.tar

# --- valid archives

test_that 'a release archive is accepted' vkb-build ./valkey-1.tar.gz
test_same 'ok false false 9.0.0' "$(how)" \
  'a release archive is built from nothing'
test_same "valkey-1.tar.gz $(sha256sum <valkey-1.tar.gz | cut -d ' ' -f 1) null" \
  "$(field '"\(.subject.ref) \(.subject.archive_sha256) \(.subject.commit)"')" \
  'the subject has the name and the hash of the archive'
test_same "$(in_repo show -s --format=%ct 1)" \
  "$(field '.subject.time | fromdate')" \
  'the time of the subject is that of the files'
test_same null "$(field .git_sha)" 'a build of an archive has no commit'
tree=$(find cache/vkb/trees -name up.h | sed 's,/deps/up.h,,')
test_same '../src/version.h' "$(readlink "$tree/deps/up.h")" \
  'symbolic links of the archive are extracted'
test_that 'executable files of the archive are executable' \
  test -x "$tree/src/release.sh"
test_that 'other files of the archive are not executable' \
  test ! -x "$tree/src/version.h"
test_that 'the same archive is accepted again' vkb-build valkey-1.tar.gz
test_same 'ok false true 9.0.0' "$(how)" 'the same archive comes from the cache'
for kind in tar tar.xz zip; do
  test_that "an archive of the kind $kind is accepted" vkb-build valkey-1.$kind
  test_same 'ok false true 9.0.0' "$(how)" \
    "an archive of the kind $kind comes from the cache"
done
test_that 'the archive of the next release is accepted' \
  vkb-build new=valkey-2.tar.gz
test_same 'ok true false 9.0.1' "$(how)" \
  'the next release reuses the objects of the last'
test_same new "$(field .subject.label)" 'the label is that of the argument'
test_that 'an archive and a commit are built together' \
  vkb-build -C repo valkey-2.tar.gz 1
test_same "null
$(head_of 1)" "$(field .subject.commit)" 'in order'
git init -q outer
git -C outer commit -q --allow-empty -m outer
test_that 'a cache inside a repository is accepted' \
  vkb-build --cache outer/cache valkey-1.tar.gz
test_same null "$(field .git_sha)" \
  'the commit of the repository around the cache is not used'

# Two builds of an archive at once, without a cache.
vkb-build --cache both valkey-1.tar.gz >a.out 2>a.err &
a=$!
vkb-build --cache both valkey-1.tar.gz >b.out 2>b.err &
b=$!
wait $a
test_same 0 $? 'the first of two builds of an archive succeeds'
wait $b
test_same 0 $? 'the second of two builds of an archive succeeds'
test_same 'false
true' "$(jq -r .cached a.out b.out | sort)" \
  'one of two equal builds builds, the other waits'

# --- files that are not archives, or not safe to extract

bad() { # bad WHAT FILE PATTERN: FILE fails with an error that matches PATTERN
  test_status 2 "$1" vkb-build good=valkey-1.tar.gz "$2"
  test_empty_file .out "$1: nothing is built"
  test_match "$3" .err "$1: the error has the reason"
}
mkdir x x/top x/other
echo 'evil' >x/top/file
ln -s /etc x/top/absolute
ln -s ../.. x/top/up
ln -s file/../../.. x/top/round
ln x/top/file x/top/hard
mkfifo x/top/fifo
echo 1 >x/other/file
pack() { # pack NAME ARGUMENT...
  name=$1
  shift
  tar -czPf "$name.tar.gz" -C x "$@"
}
pack absolute --transform 's,^top/file,/tmp/evil,' top/file
bad 'an absolute path' absolute.tar.gz "the path '/tmp/evil' leads outside"
pack dots --transform 's,^top/file,top/../../evil,' top/file
bad 'a path with ..' dots.tar.gz "the path 'top/../../evil' leads outside"
pack git --transform 's,^top/file,top/.git/config,' top/file
bad 'git itself' git.tar.gz "cannot store the file '.git/config'"
for link in absolute up round; do
  pack link top/$link
  bad "a link: $link" link.tar.gz "the link '$link' leads outside of the archive, to '"
done
pack hard top/file top/hard
bad 'a hard link' hard.tar.gz "'hard' is neither a file nor a symbolic link"
pack fifo top/fifo
bad 'a pipe' fifo.tar.gz "'fifo' is neither a file nor"
pack two top/file other/file
bad 'two folders' two.tar.gz "'other/file' is not in the folder 'top'"
pack none --transform 's,^top/,,' top/file
bad 'no folder' none.tar.gz "'file' is not in a folder"
tar -cf empty.tar -T /dev/null
bad 'an empty archive' empty.tar "'empty.tar' is empty"
: >zero.tar
bad 'an empty file' zero.tar "'zero.tar'"
echo 'not an archive' >junk.tar.gz
bad 'junk' junk.tar.gz "'junk.tar.gz' cannot be read as an archive"
size=$(wc -c <valkey-1.tar.gz)
head -c $((size / 2)) valkey-1.tar.gz >half.tar.gz
bad 'half of a compressed archive' half.tar.gz "'half.tar.gz' cannot be read as an archive"
head -c 5000 valkey-1.tar >half.tar
bad 'half of an uncompressed archive' half.tar "'half.tar' cannot be read as an archive"
truncate -s 65M x/top/large
pack large top/large
bad 'a large file' large.tar.gz "'large' is larger than 64 MiB"
rm x/top/large
bad 'a file that does not exist' nothing.tar.gz "cannot read 'nothing.tar.gz': No such file"
mkdir folder.tar
bad 'a folder' folder.tar "cannot read 'folder.tar': Is a directory"
bad 'by URL' https://127.0.0.1:1/valkey.tar.gz 'archives are not downloaded'
name=$(printf 'top/\033[31mred')
pack hostile --transform "s,^top/fifo,$name," top/fifo
bad 'a name with control characters' hostile.tar.gz '\\x1b\[31mred'
test_empty "$(find . /tmp/evil -name 'evil*' 2>/dev/null)" \
  'no file is written outside the folder'

# A folder that is a link first and a folder later: a link is not followed.
mkdir sink
ln -s ../top x/top/dir
pack swap --transform 's,^top/file,top/dir/file,' top/dir top/file
bad 'a link that becomes a folder' swap.tar.gz "leads outside of the archive, to '../top'"
ln -sfn . x/top/dir
pack swap --transform 's,^top/file,top/dir/file,' top/dir top/file
test_status 2 'a link that becomes a folder inside the archive fails' \
  vkb-build swap.tar.gz
test_match "'swap.tar.gz' has no src/Makefile" .err \
  'a link that becomes a folder leaves nothing to make'
test_same false "$(find cache/vkb/trees -name dir -type l | grep -q . && echo true ||
  echo false)" 'a link that becomes a folder leaves no link'
test_done
