#!/bin/sh
# The command vkb: what it prints without arguments, that it runs the programs, and its
# completion.
. "${0%/*}/lib.sh"

test_that 'vkb alone succeeds' vkb
cp .out alone
test_match '^Is my branch slower[?] +vkb ab' alone 'it prints questions and the programs that answer them'
sed -n '/^| question/,/^$/p' "$top/README.md" | sed -n 's/^| \([A-Z][^|]*[?]\) |.*/\1/p' >questions
sed -n 's/^\([A-Z].*[?]\)  .*/\1/p' alone >printed
test_same "$(cat questions)" "$(cat printed)" 'the questions are those of the README'
test_empty "$(awk 'length > 80' alone)" 'its output has at most 80 columns'
grep -o 'vkb [a-z]*' alone | grep -v 'vkb is\|vkb help\|vkb ci' | sort -u | while read -r _ name; do
  command -v "vkb-$name" >/dev/null || echo "$name"
done >bad
test_empty_file bad 'all programs that it lists exist'
test_same "$(vkb-stats --version)" "$(vkb stats --version)" 'a program is run by its short name'
test_same "$(vkb-stats --version)" "$(vkb vkb-stats --version)" 'a program is run by its whole name'
test_status 2 'the exit status is that of the program' vkb stats --nonsense
test_match '^vkb-stats: unknown option' .err 'the message is that of the program'
test_same "$(vkb --version)" "$(vkb version)" 'vkb version is vkb --version'
test_status 2 'an option in place of a program' vkb -t set
test_same "vkb: unknown option '-t'; write 'vkb load' before the options of a load (see 'vkb help')" "$(cat .err)" \
  'the error says where it goes'
for bad in nonsense sh-setup ../bin/vkb-stats; do
  test_status 2 "the name '$bad' is refused" vkb "$bad"
  test_match "^vkb: no program is called 'vkb-.*'; the programs are: ab bench .* why$" .err \
    "the programs are listed for '$bad'"
done
mkdir link
ln -s "$top/bin/vkb" link/vkb
test_same "$(vkb-stats --version)" "$(link/vkb stats --version)" 'it finds its programs through a link'
for page in ab vkb-ab config quiet vkb; do
  test_that "the page '$page' opens" env MANPAGER=cat PAGER=cat vkb help $page
done
test_status 2 'a path as a page' vkb help ../x
: >laode # no page: a pattern that finds none must not find files
test_status 2 'a page that does not exist' vkb help laod
test_same "vkb: there is no page 'vkb-laod', did you mean 'load'?" "$(cat .err)" 'the page that is meant is proposed'
test_that 'vkb help succeeds' vkb help
test_same "$(cat alone; echo; vkb load --help)" "$(cat .out)" 'it has the questions, and the usual options of vkb load'
test_status 2 'a program with a letter too few' vkb lod
test_same "vkb: no program is called 'vkb-lod', did you mean 'load'?" "$(cat .err)" 'the program that is meant is proposed'
test_status 2 'a program with a letter too many' vkb bisecct
test_match "did you mean 'bisect'[?]$" .err 'the program that is meant is proposed'

for program in valkey-benchmark memtier_benchmark redis-cli benchmark cli; do
  test_status 2 "a line of $program" vkb $program -t set -n 1000
  test_same "vkb: write 'vkb load' in place of '$program': it has most of its options, and answers the others" \
    "$(cat .err)" 'is answered by what to type'
done

# --- the usual options, and what is answered to others

vkb load --help >help
test_same '5' "$(grep -c '^[A-Z].*:$' help | awk '{ print $1 - 1 }')" 'vkb load --help has five groups, and examples'
test_same ok "$(grep -c '^  .*--' help | awk '{ print ($1 > 24 && $1 < 33 ? "ok" : $1) }')" 'it has about 28 options'
test_empty "$(sed '1,/^What/d; /^Examples/,$d' help | grep -v '^  \(-[a-zA-Z],\|   \) --[a-z-]* .* [^ ]\|^$\|:$')" \
  'each of them has one line'
sed -n '/^Examples/,/^$/s/^  vkb load //p' help >examples
test_same 2 "$(wc -l <examples)" 'it has two examples'
while read -r words; do
  eval "vkb load ${words%-o *} --plan" >.out 2>.err </dev/null || cat .err
done <examples >bad
test_empty_file bad 'the options of the examples are right'
# Whoever has many options has them in groups.
for f in "$VKB_BIN"/vkb-* "$top"/bin/vkb-*; do
  [ -x "$f" ] || continue
  "$f" --help </dev/null | awk -v p="${f##*/}" '
    /^  .*--/ { n++; most = ++here > most ? here : most }
    /^[A-Z].*:$/ { here = 0 }
    END { if (n > 20 && most > 14) print p, n, most }'
done >bad
test_empty_file bad 'the help of a program with many options has them in groups'
for program in serve build trackcommits bench; do
  vkb $program --help >help
  test_empty "$(vkb-$program --dump-options | awk -F '\t' '$2 != "help" && $2 != "version" { print "--" $2 }' |
    while read -r o; do grep -qF -e " $o" help || echo "$o"; done)" "vkb $program --help has all options"
  test_absent 'which has all options' help "vkb $program --help refers to no other list"
done
for f in "$VKB_BIN"/vkb-* "$top"/bin/vkb-*; do
  [ -x "$f" ] || continue
  p=${f##*/}
  "$p" --versoin >.out 2>.err </dev/null
  echo "$? $(wc -l <.err)" | grep -q '^2 [123]$' || echo "$p: --versoin"
  case $p in
  # Other programs check these words.
  vkb-ab | vkb-needs) continue ;;
  esac
  grep -q "^$p: unknown option '--versoin', did you mean '--version'[?]" .err || echo "$p: $(cat .err)"
done | sort -u >bad
test_empty_file bad 'each program answers a wrong option in at most three lines, and proposes the one that is meant'

vkb-completion "$VKB_BIN" out
cat >complete.bash <<'END'
compopt() { :; }
. out/bash/vkb
COMP_WORDS=(vkb "$@")
COMP_CWORD=$#
_vkb
printf '%s\n' "${COMPREPLY[@]}"
END
test_same 'stats' "$(bash complete.bash sta)" 'bash completes the name of a program'
test_same '--text' "$(bash complete.bash stats --te)" 'bash completes an option of this program'
if command -v zsh >/dev/null 2>&1; then
  test_that 'zsh can read the completion' zsh -n out/zsh/_vkb
else
  test_skip 'zsh takes the completion' zsh
fi
test_done
