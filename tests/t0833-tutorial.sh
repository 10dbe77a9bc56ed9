#!/bin/sh
# In its literal blocks "$ " and "> " begin commands, all for one shell; below
# `.\" varies' is output that differs between machines, up to `.\" the same';
# "..." is any text, at the end of a line its rest. Lines may be broken for the page.
. "${0%/*}/lib.sh"

unset VKB_ENV_RECORD # as for those who type it
test_server 'the tutorial'

# typed: prints the script, with the number of the line before each command
awk '
  /^\.Sh / { on = $0 == ".Sh TUTORIAL" }
  /^\.Bd -literal/ { block = on; next }
  /^\.Ed/ { block = 0; next }
  !block { next }
  { gsub(/\\&/, ""); gsub(/\\e/, "\\") }
  { sub(/"duration": 1,/, "\"requests\": [20000],") } # the test is not to take a minute
  /^\$ / { print "echo \"@ " NR "\"\n" substr($0, 3); next }
  /^> / { print substr($0, 3) }' "$top/man/vkb-tutorial.7" >typed
awk '
  /^\.Sh / { on = $0 == ".Sh TUTORIAL" }
  /^\.Bd -literal/ { block = on; varies = 0; next }
  /^\.Ed/ { block = 0; next }
  !block || /^> / { next }
  { gsub(/\\&/, ""); gsub(/\\e/, "\\") }
  /^\.\\" varies/ { varies = 1; next }
  /^\.\\" the same/ { varies = 0; next }
  /^\$ / { print "@ " NR "\t" $0; next }
  !varies' "$top/man/vkb-tutorial.7" >printed
test_result "$(($(grep -c '^@' printed) < 10))" 'the page has commands'

mkdir folder
vkb=$top
export vkb
in_folder() { (cd folder && sh ../typed 2>&1); }
test_same 1 "$(grep -c '"requests": .20000.' typed)" 'the script has short runs'
test_that 'the script succeeds' in_folder
cp .out got

# The words of each line up to "...", with N for versions, are searched in the output of
# its command, one after the other.
words() {
  sed 's/\.\.\..*//; s/[0-9]\{1,\}\.[0-9]\{1,\}\.[0-9]\{1,\}/N/g' | tr -s ' \n' ' ' |
    sed 's/^ //; s/ $//'
}
part() { # part FILE LINE: what stands there under that command
  awk -v at="$2" '/^@ [0-9]+/ { on = $2 == at; next } on' "$1"
}
grep '^@' printed | while read -r _ line command; do
  part got "$line" | words >all
  part printed "$line" >said
  rest=$(cat all)
  while read -r expected; do
    expected=$(printf '%s\n' "$expected" | words)
    [ "$expected" ] || continue
    case $rest in
    *"$expected"*) rest=${rest#*"$expected"} ;;
    *)
      printf '%s: no "%s" in: %s\n' "$command" "$expected" "$rest"
      break
      ;;
    esac
  done <said
done >wrong
test_empty_file wrong 'each command prints what the page shows'
test_that 'the files of the commands exist' test -s folder/page.html
test_that 'no server is left' no_litter
test_done
