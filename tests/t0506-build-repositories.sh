#!/bin/sh
# vkb-build: kinds of repositories, and names of refs.
. "${0%/*}/lib.sh"
. "$tests/repo.sh"

small_repo
commit one
one=$(head_of HEAD)
in_repo tag v1
echo 1 >repo/file
commit two
two=$(head_of HEAD)
in_repo gc -q
field() { jq -r "$1" .out; }

# gives COMMIT WHAT ARGUMENT...: the arguments build COMMIT and print nothing
gives() {
  want=$1 what=$2
  shift 2
  test_that "$what" vkb-build -q "$@"
  test_same "ok $want" "$(field '"\(.status) \(.subject.commit)"')" \
    "$what: the commit is built"
  test_empty_file .err "$what: nothing is printed on stderr"
}

# --- repositories

git clone -q --bare repo bare.git
rm bare.git/config
gives "$one" 'a bare repository without a config' -C bare.git v1
mkdir store
mv bare.git/objects store/those
ln -s ../store/those bare.git/objects
gives "$two" 'a bare repository whose objects are behind a symbolic link' -C bare.git main
gives "$two" 'a fetched repository whose objects are behind a symbolic link' --repo bare.git main
ln -s repo link
gives "$two" 'a symbolic link to a repository' -C link HEAD
git clone -q --mirror repo mirror.git
echo 'ref: refs/heads/gone' >mirror.git/HEAD
gives "$two" 'a mirror whose HEAD is gone' -C mirror.git main
test_status 2 'the missing HEAD itself is an error' vkb-build -C mirror.git HEAD
rm mirror.git/HEAD
test_status 2 'a folder without HEAD is an error' vkb-build -C mirror.git main
test_match "cannot open the repository 'mirror.git'" .err \
  'the error says that the repository cannot be opened'

git clone -q --shared repo shared
git clone -q --shared shared again
gives "$two" 'objects in another repository that has them from a third one' -C again HEAD
gives "$two" 'a fetched repository with objects in two others' --repo again HEAD
echo ../../../repo/.git/objects >shared/.git/objects/info/alternates
gives "$two" 'objects at a relative path' -C shared HEAD
in_repo worktree add -q ../linked v1
gives "$one" 'a linked work tree' -C linked HEAD
gives "$one" 'a linked work tree with --worktree' --worktree linked
git clone -q --separate-git-dir=apart.git repo apart
gives "$two" 'a repository apart from its work tree' -C apart HEAD
gives "$two" 'a folder within a repository' -C repo/src HEAD

git clone -q --depth 1 "file://$scratch/repo" shallow
gives "$two" 'a shallow repository' -C shallow HEAD
gives "$two" 'the work tree of a shallow repository' --worktree shallow
cp -r repo extended
printf '[core]\nrepositoryformatversion = 1\n[extensions]\n%s' \
  'worktreeConfig = true
preciousObjects = true
relativeWorktrees = true
partialClone = origin
' >>extended/.git/config
gives "$two" 'a repository with extensions, as of git sparse-checkout' -C extended HEAD
test_status 2 'a commit that a shallow repository lacks is an error' \
  vkb-build -C shallow HEAD~1
test_match "'HEAD~1' in .*which is shallow; get the rest with 'git fetch --unshallow'" .err \
  'the error says how to get the rest of the commits'
git init -q --object-format=sha256 long 2>/dev/null &&
  test_status 2 'a repository with SHA-256 ids is an error' \
    vkb-build -C long HEAD
test_match "cannot open the repository 'long'" .err \
  'the error names the repository with SHA-256 ids'

# --- a submodule, and later a folder in its place

git init -q part
git -C part commit -q --allow-empty -m part
in_repo -c protocol.file.allow=always submodule --quiet add "$scratch/part" \
  deps/part
commit submodule
gives "$(head_of HEAD)" 'a submodule is left out' -C repo HEAD
gives "$(head_of HEAD)" 'a submodule is left out with --worktree' --worktree repo
in_repo rm -q deps/part
mkdir -p repo/deps/part
echo '#define MORE 1' >repo/deps/part/more.h
echo '#include "../deps/part/more.h"' >>repo/src/valkey-cli.c
commit 'a folder'
gives "$(head_of HEAD)" 'a folder in the place of the submodule' -C repo HEAD
gives "$(head_of HEAD~1)" 'the commit with the submodule after that' -C repo --cflags=-O1 HEAD~1

# --- names

in_repo branch "it's"
in_repo branch "a\"b;c|d&e\$(f)"
in_repo update-ref refs/tags/-q HEAD
for name in "it's" "a\"b;c|d&e\$(f)" @ ':/folder' 'HEAD@{0}' 'l l=main'; do
  gives "$(head_of HEAD)" "$name" -C repo "$name"
done
gives "$(head_of HEAD)" 'a ref -q after --' -C repo -- -q
nl='a
b'
for name in 'x y' "$nl" 'v1^{tree}' main:src a..b ../x '=HEAD' 'x=' ''; do
  test_status 2 "'$(printf %s "$name" | tr '\n' ' ')' is not a commit" \
    vkb-build -C repo -- "$name"
  test_empty_file .out 'nothing is written of it'
done
test_empty "$(in_repo status --porcelain)" 'the work tree is unchanged'
test_done
