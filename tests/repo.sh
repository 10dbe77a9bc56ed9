# shellcheck shell=sh
# Sourced after lib.sh: a git that no setting of the user reaches, and a small
# repository for vkb-build, in repo.
# shellcheck disable=SC2016,SC2154 # make expands it; $scratch is of lib.sh

HOME=$scratch/home XDG_CACHE_HOME=$scratch/cache
GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1
export HOME XDG_CACHE_HOME GIT_CONFIG_GLOBAL GIT_CONFIG_NOSYSTEM
mkdir "$HOME"
git() {
  command git -c user.name=t -c user.email=t@t -c init.defaultBranch=main \
    -c commit.gpgsign=false "$@"
}
in_repo() { git -C repo "$@"; }
commit() { in_repo add -A && in_repo commit -qm "$1"; }
head_of() { in_repo rev-parse "$1"; }

# days REPO N: makes a branch unstable with an empty commit cI on each of N days.
days() {
  git init -q -b unstable "$1"
  for i in $(seq "$2"); do
    GIT_COMMITTER_DATE=$(printf '2026-01-%02dT00:00:00Z' "$i") \
      git -C "$1" commit -q --allow-empty -m "c$i"
  done
}

# small_repo: makes a repository that builds like Valkey's, without a commit.
small_repo() {
  mkdir -p repo/src repo/deps
  cat >repo/src/valkey-server.c <<'END'
#include "release.h"
#include "version.h"
#include <stdio.h>
int
main(void)
{
	printf("Valkey server v=%s sha=%s:%d malloc=libc bits=64 build=1\n",
	    VERSION, SHA, DIRTY);
}
END
  echo '#define VERSION "9.0.0"' >repo/src/version.h
  echo 'int main(void) { return 0; }' >repo/src/valkey-cli.c
  cat >repo/src/release.sh <<'END'
sha=$( (git show-ref --head --hash=8 2>/dev/null || echo 00000000) | head -n1)
dirty=$(git diff --no-ext-diff -- ../src ../deps 2>/dev/null | wc -l)
printf '#define SHA "%s"\n#define DIRTY %d\n' "$sha" "$dirty" >release.new
cmp -s release.new release.h || cp release.new release.h
END
  cat >repo/src/Makefile <<'END'
ignored := $(shell sh release.sh)
valkey-%: valkey-%.o
	$(CC) -o $@ $^
valkey-benchmark: valkey-cli
	cp valkey-cli $@
%.o: %.c
	@echo compiled $< $(SERVER_CFLAGS) $(MALLOC) $(BUILD_TLS)
	$(CC) $(SERVER_CFLAGS) -MMD -c -o $@ $<
.SECONDARY:
-include *.d
END
  printf '*.o\n*.d\nrelease.*\n!release.sh\nvalkey-server\nvalkey-cli\nvalkey-benchmark\n' \
    >repo/.gitignore
  git init -q repo
}

# real_repo: makes a repository whose server is the installed one, slowed down for each
# read from a client as src/burn.h says: those of its start ask for fewer bytes. A library
# does that, which is built as valkey-benchmark. What a server does by itself is little, so
# that it does not count where a few requests take a minute.
real_repo() {
  mkdir -p repo/src
  cat >repo/src/burn.c <<'END'
#define _GNU_SOURCE
#include "burn.h"
#include <dlfcn.h>
#include <unistd.h>
ssize_t
read(int fd, void *buf, size_t n)
{
	static ssize_t (*real)(int, void *, size_t);

	if (!real)
		real = (ssize_t (*)(int, void *, size_t))dlsym(RTLD_NEXT, "read");
	for (volatile int i = n < 16384 ? BURN : 0; i < BURN; i++)
		;
	return real(fd, buf, n);
}
END
  printf '#!/bin/sh\nLD_PRELOAD=${0%%/*}/valkey-benchmark exec %s "$@" --hz 1\n' \
    "$server" >repo/src/server.sh
  cat >repo/src/Makefile <<'END'
valkey-server: server.sh valkey-benchmark
	cp server.sh $@
	chmod +x $@
valkey-benchmark: burn.c burn.h
	cc -O1 -shared -fPIC -o $@ burn.c -ldl
valkey-cli:
	touch $@
END
  git init -q repo
  burn 0 fast
}

# exact_repo: makes a repository whose server is a copy of the installed one with burn.h
# appended, because a script cannot be counted. A library that is preloaded into all
# programs reads there how many loops and allocations each read() takes, and how many loops
# more in every other server: a folder is made and removed in turn.
exact_repo() {
  mkdir -p repo/src
  cat >burn.c <<'END'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int loops, allocations, more;

void
burn_loops(void)
{
	for (volatile int i = 0; i < loops; i++)
		;
}

void
burn_memory(void)
{
	void *volatile p = malloc(100);

	free(p);
}

static void
read_numbers(void)
{
	char path[4096], end[64] = "";
	ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);
	FILE *f;
	char *at;

	path[n < 0 ? 0 : n] = '\0';
	f = fopen(path, "r");
	if (!f)
		return;
	if (fseek(f, -40, SEEK_END) == 0 && fread(end, 1, 40, f) == 40 &&
	    (at = memmem(end, 40, "BURN ", 5)))
		sscanf(at, "BURN %d %d %d", &loops, &allocations, &more);
	fclose(f);
	if (more && mkdir(TURN, 0700) == 0)
		loops += more;
	else if (more)
		rmdir(TURN);
}

ssize_t
read(int fd, void *buf, size_t n)
{
	static ssize_t (*real)(int, void *, size_t);

	if (!real) {
		real = (ssize_t (*)(int, void *, size_t))dlsym(RTLD_NEXT, "read");
		read_numbers();
	}
	if (loops)
		burn_loops();
	for (int i = 0; i < allocations; i++)
		burn_memory();
	return real(fd, buf, n);
}
END
  cc -O1 -fno-inline -shared -fPIC -DTURN="\"$scratch/turn\"" -o "$scratch/burn.so" \
    burn.c -ldl
  cat >repo/src/Makefile <<END
valkey-server: burn.h
	grep -q 'BURN [0-9]' burn.h
	cat $server burn.h >\$@
	chmod +x \$@
valkey-benchmark valkey-cli:
	touch \$@
END
  git init -q repo
  burn 0 fast
}

# burn LOOPS TEXT: commits a server that is slower by so many loops.
burn() {
  echo "#define BURN $1" >repo/src/burn.h
  commit "$2"
}

# two_servers: makes a small_repo with the tags 1 and 2, which have different headers
# for modules.
two_servers() {
  small_repo
  for i in 1 2; do
    echo "#define API $i" >repo/src/valkeymodule.h
    commit "server $i"
    in_repo tag $i
  done
}
