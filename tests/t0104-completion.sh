#!/bin/sh
# Bash, zsh and fish can read the completion of all programs and workflows, and offer
# every option and choice.
. "${0%/*}/lib.sh"

mkdir -p out/fish
echo 'complete -c vkb -l gone' >out/fish/vkb-gone.fish
test_that 'completion is written' vkb-completion "$VKB_BIN" out
test_absent '-l gone' out/fish/vkb.fish 'that of a program which is gone is not read'
test_match '^complete -c vkb .*seen_subcommand_from stats. ' out/fish/vkb.fish 'vkb has that of a program'
test_status 2 'one operand that is not a shell is a usage error' vkb-completion "$VKB_BIN"
for shell in bash zsh fish; do
  test_that "completion for $shell is printed" vkb-completion $shell
  cp .out printed.$shell
done

# complete PROGRAM WORD...: prints what bash would offer for the last word.
cat >complete.bash <<'END'
set -u
compopt() { :; } # bash allows it only during a completion
prog=$1
shift
. "out/bash/$prog"
COMP_WORDS=("$prog" "$@")
COMP_CWORD=$#
f=$(complete -p "$prog" | sed 's/.*-F \([^ ]*\).*/\1/')
"$f" "$prog" "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
[ ${#COMPREPLY[@]} -eq 0 ] || printf '%s\n' "${COMPREPLY[@]}"
END
offered() { bash complete.bash "$@" | sort; }

# typed TEXT SEEN: in a real zsh, a tab after TEXT completes it to SEEN.
cat >typed.zsh <<'END'
zmodload zsh/zpty
zpty z zsh -f -i
zpty -w z "PS1=; fpath=($PWD/out/zsh \$fpath); autoload -U compinit"
zpty -w z "compinit -u -d $PWD/compdump; echo rea''dy"
zpty -r -m z seen '*ready*'
zpty -w -n z "$1"$'\t'
zpty -r -m z seen "*$2*"
zpty -d z
END
typed() { timeout 30 zsh -f typed.zsh "$@"; }

# told PROGRAM: prints the options of its --help, one a line
told() {
  "$1" --help |
    sed -n 'h; s/^  \(-[a-zA-Z]\)[, ].*/\1/p; g; s/^ \{2,6\}\(-[a-zA-Z], \)\{0,1\}\(--[a-z0-9][a-z0-9-]*\).*/\2/p' |
    sort -u
}
# longs: prints the long name of each option, or its letter
longs() { awk -F '\t' '{ print $2 == "-" ? "-" $1 : "--" $2 }' options | sort; }

for f in "$VKB_BIN"/vkb-* "$top"/bin/vkb-*; do
  [ ! -x "$f" ] || printf '%s\n' "${f##*/}"
done | sort -u >programs
test_match '^vkb-ab$' programs 'the programs include the workflows'
while read -r p; do
  "$p" --dump-options >options
  awk -F '\t' '{ if ($1 != "-") print "-" $1; if ($2 != "-") print "--" $2 }' options | sort -u >known
  told "$p" >shown
  case $(cat shown) in
  *--version*) test_that "$p: --dump-options has the options of --help" cmp shown known ;;
  *) test_empty "$(comm -23 shown known)" "$p: --dump-options has the usual options" ;;
  esac
  [ -e "out/bash/$p" ] || { vkb-completion "$top/bin" out; }
  test_that "$p: bash can read the completion" bash -n "out/bash/$p"
  test_same "$(longs)" "$(offered "$p" -)" "$p: bash offers every option"
  test_same --help "$(offered "$p" --hel)" "$p: bash completes an option"
  test_same "$(cat known)" "$(sed -n "s/^complete -c $p //p" printed.fish |
    grep -oE -- '-[sl] [a-zA-Z0-9-]+' | sed 's/^-s /-/; s/^-l /--/' | sort -u)" \
    "$p: fish has every option"
  while IFS='	' read -r letter name _ _ choices _; do
    [ "$choices" != - ] || continue
    all=$(printf '%s\n' "$choices" | tr '|' '\n' | sort)
    test_same "$all" "$(offered "$p" "--$name" '')" \
      "$p: bash offers the choices of --$name"
    test_same "$all" "$(offered "$p" "--$name" = '')" \
      "$p: and of --$name="
    [ "$letter" = - ] ||
      test_same "$all" "$(offered "$p" "-$letter" '')" "$p: and of -$letter"
  done <options
  touch 'a file'
  test_same 'a file' "$(offered "$p" 'a f')" "$p: bash completes a file"
  if ! command -v zsh >/dev/null 2>&1; then
    test_skip "$p: zsh can read the completion" zsh
    continue
  fi
  test_that "$p: zsh can read the completion" zsh -n "out/zsh/_$p"
  # _arguments is replaced by a function that prints what it is given.
  zsh -f -c '_arguments() { print -rl -- "$@" }; . "$1"' zsh "out/zsh/_$p" \
    >zsh.out 2>&1
  test_same "$(cat known)" "$(grep -oE -- '(^|[*)])(-[a-zA-Z]|--[a-z0-9][a-z0-9-]*)[=+]?\[' zsh.out |
    tr -d '*)=[+' | sort -u)" "$p: zsh knows every option"
  awk -F '\t' '$3 == "list" { if ($1 != "-") print "-" $1; if ($2 != "-") print "--" $2 }' options | sort >lists
  [ ! -s lists ] || test_same "$(cat lists)" "$(sed -nE 's/^\*(-[a-zA-Z]|--[a-z0-9-]*).*/\1/p' zsh.out | sort -u)" \
    "$p: zsh offers an option again if it may be given more than once"
  test_that "$p: zsh completes an option" typed "$p --hel" "$p --help"
  name=$(awk -F '\t' '$5 != "-" { print $2; exit }' options)
  [ "$name" ] || continue
  word=$(awk -F '\t' '$5 != "-" { sub(/.*\|/, "", $5); print $5; exit }' options)
  test_that "$p: zsh completes a choice" typed "$p --$name=${word%?}" \
    "$p --$name=$word"
done <programs

# --- the completion can be printed, and read by a shell as the page says

cat >eval.bash <<'END'
compopt() { :; }
. ./printed.bash
COMP_WORDS=(vkb "$@") COMP_CWORD=$#
_vkb
printf '%s\n' "${COMPREPLY[@]}"
END
test_same '--no-count' "$(bash eval.bash ab --no-c)" 'bash: vkb ab has the options of vkb-ab'
test_same '--text' "$(bash eval.bash stats --te)" 'bash: vkb stats has the options of vkb-stats'
if command -v zsh >/dev/null 2>&1; then
  sed 's/zpty -w z "compinit/zpty -w z "compinit -u -D; . .\/printed.zsh; : compinit/' typed.zsh >eval.zsh
  test_that 'zsh: an option of a workflow is completed' timeout 30 zsh -f eval.zsh 'vkb-ab --no-c' 'vkb-ab --no-count'
  test_that 'zsh: an option after vkb and the name is completed' timeout 30 zsh -f eval.zsh 'vkb ab --no-c' 'vkb ab --no-count'
fi
if command -v fish >/dev/null 2>&1; then
  test_that 'fish can read the completion' fish --no-config -n printed.fish
  fished() { HOME=$scratch fish --no-config -c "source printed.fish; complete -C '$1'" | cut -f 1; }
  test_same --no-count "$(fished 'vkb-ab --no-c')" 'fish: an option of a workflow is completed'
  test_same --no-count "$(fished 'vkb ab --no-c')" 'fish: an option after vkb and the name is completed'
  test_same stats "$(fished 'vkb sta')" 'fish: the name of a program is completed'
  test_same 'slices' "$(fished 'vkb-load --order sli')" 'fish: a choice is completed'
else
  test_skip 'fish takes it' fish
fi
test_done
