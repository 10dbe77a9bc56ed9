#!/bin/sh
# slow: bash and zsh take the completion and offer every option and choice.
. "${0%/*}/lib.sh"

test_that 'completion is written' vkb-completion "$VKB_BIN" out
test_status 2 'one operand is usage' vkb-completion "$VKB_BIN"

# complete PROGRAM WORD...: what bash would offer for the last word.
cat >complete.bash <<'END'
set -u
compopt() { :; } # only allowed while a person completes
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

# typed TEXT SEEN: in a real zsh, TEXT and a tab bring up SEEN.
cat >typed.zsh <<'END'
zmodload zsh/zpty
zpty z zsh -f -i
zpty -w z "PS1=; fpath=($PWD/out/zsh \$fpath); autoload -U compinit"
zpty -w z "compinit -u -D; echo rea''dy"
zpty -r -m z seen '*ready*'
zpty -w -n z "$1"$'\t'
zpty -r -m z seen "*$2*"
zpty -d z
END
typed() { timeout 30 zsh -f typed.zsh "$@"; }

for f in "$VKB_BIN"/vkb-*; do
  [ -x "$f" ] || continue
  case $(head -c 2 "$f") in
  '#!') continue ;;
  esac
  p=${f##*/}
  "$p" --dump-options >options
  test_that "$p: bash takes it" bash -n "out/bash/$p"
  test_same "$(cut -f 2 options | sed 's/^/--/' | sort)" "$(offered "$p" --)" \
    "$p: bash offers every option"
  test_same --help "$(offered "$p" --hel)" "$p: bash completes an option"
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
    test_skip "$p: zsh takes it" zsh
    continue
  fi
  test_that "$p: zsh takes it" zsh -n "out/zsh/_$p"
  # _arguments itself, told to print, sees what it is given.
  zsh -f -c '_arguments() { print -rl -- "$@" }; . "$1"' zsh "out/zsh/_$p" \
    >zsh.out 2>&1
  test_same "$(cut -f 2 options | sort)" \
    "$(grep -oE -- '--[a-z0-9][a-z0-9-]*=?\[' zsh.out | tr -d '=[' |
      sed 's/^--//' | sort -u)" "$p: zsh knows every option"
  test_that "$p: zsh completes an option" typed "$p --versi" "$p --version"
  name=$(awk -F '\t' '$5 != "-" { print $2; exit }' options)
  [ "$name" ] || continue
  word=$(awk -F '\t' '$5 != "-" { sub(/.*\|/, "", $5); print $5; exit }' options)
  test_that "$p: zsh completes a choice" typed "$p --$name=${word%?}" \
    "$p --$name=$word"
done
test_done
