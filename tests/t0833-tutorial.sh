#!/bin/sh
# slow: what vkb-tutorial(7) says is typed gives what it says is printed.
# In its literal blocks "$ " and "> " are typed, all in one shell; below
# `.\" varies' stands what another machine prints otherwise, up to `.\" the same';
# "..." is anything, at the end of a line its rest. Lines may be broken for the page.
. "${0%/*}/lib.sh"

test_server 'the tutorial'

# typed: the script, which says before each command the number of its line.
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
test_result "$(($(grep -c '^@' printed) < 10))" 'there are commands'

mkdir folder
vkb=$top
export vkb
in_folder() { (cd folder && sh ../typed 2>&1); }
test_same 1 "$(grep -c '"requests": .20000.' typed)" 'with short runs'
test_that 'they run' in_folder
cp .out got

# Of each line the words up to "...", with N for versions, are looked for in what
# its command printed, one after the other.
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
test_empty_file wrong 'each prints what the page says'
test_that 'and leaves its files' test -s folder/page.html
test_that 'no server is left' no_litter
test_done
