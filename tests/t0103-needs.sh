#!/bin/sh
# vkb-needs with its own PATH and /etc; calls of apt-get are recorded.
. "${0%/*}/lib.sh"

mkdir -p bin tmp root/etc/apt/sources.list.d
for c in sh awk sed tr grep install mktemp rm cat env ln flock; do
  ln -s "$(command -v $c)" bin/$c
done
fake() { # fake NAME: writes a program, whose text is stdin
  {
    echo '#!/bin/sh'
    cat
  } >"bin/$1"
  chmod +x "bin/$1"
}
needs() {
  : >log
  env -i PATH="$scratch/bin" VKB_NEEDS_ROOT="$scratch/root" HERE="$scratch" TMPDIR="$scratch/tmp" \
    CI="${ci:-}" "$top/bin/vkb-needs" "$@"
}

test_status 2 'no set is a usage error' needs
test_status 2 'an unknown word is a usage error' needs build nonsense
test_that '--help answers' needs --help
test_status 2 'missing things with --keep-system' needs --keep-system build run
test_same 'gcc libcjson valkey-server valgrind' "$(grep -x 'gcc\|libcjson\|valkey-server\|valgrind' .out | xargs)" \
  'stdout has the names of what is missing, one a line'
sed -n 's/^\(build\|run\) cmd:\([^ ]*\).*/\2/p' "$top/bin/vkb-needs" >commands
test_same "$(cat commands)" "$(grep -xFf commands .out)" 'among them each command'
test_same "vkb-needs: this is missing: 'vkb-needs build run' installs it" "$(cat .err)" 'a message names the command that installs it'
test_empty_file log 'with --keep-system nothing is installed'

fake id <<'END'
echo 0
END
test_status 2 'without a known package manager' needs build run
test_match 'dnf install gcc.*cjson-devel.*valkey valgrind$' .err 'the advice for dnf has its package names'
test_match 'pacman -S --needed gcc.*cjson.*valkey valgrind$' .err 'the advice for pacman has its package names'
test_match 'apk add gcc.*cjson-dev.*valkey-cli valgrind$' .err 'the advice for apk has its package names'

# An apt that finds valkey only with backports among its sources.
cat >root/etc/os-release <<'END'
ID=debian
VERSION_ID="12"
VERSION_CODENAME=bookworm
END
fake apt-get <<'END'
echo "apt-get $*" >>"$HERE/log"
case " $* " in
*" install "*)
  for p; do
    case $p in
    valkey-tools) ln -sf /bin/true "$HERE/bin/valkey-cli" ;;
    valgrind) ln -sf /bin/true "$HERE/bin/valgrind" ;;
    valkey-server) ln -sf /bin/true "$HERE/bin/valkey-server" ;;
    esac
  done
  ;;
esac
END
fake apt-cache <<'END'
case $2 in
valkey-*)
  cat "$VKB_NEEDS_ROOT"/etc/apt/sources.list.d/vkb-backports.* >/dev/null 2>&1 ||
    exit 0
  ;;
esac
echo '  Candidate: 1.0'
END
cat >root/etc/apt/sources.list.d/debian.sources <<'END'
Types: deb deb-src
# a remark
URIs: http://example.org/security
Suites: bookworm-security
Components: main

Types: deb
URIs: http://example.org/debian
Suites: bookworm bookworm-updates
Components: main
Signed-By: /usr/share/keyrings/k.gpg
END
test_that 'Debian 12 gets valkey from backports' needs run
test_same 'Types: deb
URIs: http://example.org/debian
Suites: bookworm-backports
Components: main
Signed-By: /usr/share/keyrings/k.gpg' \
  "$(cat root/etc/apt/sources.list.d/vkb-backports.sources)" \
  'the source of backports is made from that of the release'
test_match 'install -y --no-install-recommends valkey-server valkey-tools' log \
  'server and tools are installed'
test_match 'DPkg::Lock::Timeout=300' log 'apt-get waits for the lock of another one'
test_match 'port 6379' .err 'a warning says that a server was started'
test_that 'a second call' needs run
test_empty_file log 'a second call installs nothing'

rm -f bin/valkey-* root/etc/apt/sources.list.d/*
cat >root/etc/apt/sources.list <<'END'
deb [signed-by=/k.gpg] http://example.org/debian-security bookworm-security main
#deb http://example.org/old bookworm main
deb [signed-by=/k.gpg] http://example.org/debian bookworm main contrib
END
test_that 'one-line sources' needs run
test_same 'deb [signed-by=/k.gpg] http://example.org/debian bookworm-backports main contrib' \
  "$(cat root/etc/apt/sources.list.d/vkb-backports.list)" 'one line is made for backports'

rm -f bin/valkey-* root/etc/apt/sources.list.d/* bin/install
fake install <<'END'
exit 1
END
test_status 2 'a source that cannot be written' needs run
test_match "vkb-backports.list' is not added: install ended with status 1" .err 'the error names it'
test_empty "$(ls tmp)" 'no temporary file is left'

rm -f root/etc/apt/sources.list
test_status 2 'no source to make that of backports from' needs run
test_match "no source of 'bookworm'" .err 'the error names the release that has no source'

# Another release, which has no such packages.
sed -i 's/^VERSION_ID=.*/VERSION_ID="11"/' root/etc/os-release
test_status 2 'a release without valkey' needs run
test_match "no package 'valkey-server' in the sources" .err 'the error names the missing package'
test_match 'still missing: valkey-server valkey-cli' .err 'the error lists what is still missing'

# Without root sudo is used only if the user agrees, with --yes, or in CI.
sed -i 's/^VERSION_ID=.*/VERSION_ID="13"/' root/etc/os-release
touch root/etc/apt/sources.list.d/vkb-backports.list
fake id <<'END'
echo 1000
END
test_status 2 'not root and no sudo' needs run
test_status 2 "even with --yes" needs --yes run
test_match 'no sudo' .err 'the error says that sudo is missing'
fake sudo <<'END'
echo "sudo $*" >>"$HERE/log"
exec "$@"
END
test_status 2 'no terminal to ask the user on' needs run
test_empty_file log 'without a terminal nothing is installed'
test_that '--yes installs without a question' needs --yes run
test_match '^sudo env DEBIAN_FRONTEND=noninteractive apt-get' log 'the packages are installed with sudo'
rm -f bin/valkey-*
ci=true
test_that 'in CI nothing is asked' needs run
test_done
