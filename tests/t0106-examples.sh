#!/bin/sh
# The EXAMPLES of every page and the sh blocks of README.md do what they say. Each
# literal block is one script, run in an empty folder with configs and tests-data (our
# tests/data) in it. "# exits N" at the end of a line is the expected exit status; after
# "; echo $?" it may be 0 or 1, as the machine may be busy. So that this takes minutes,
# runs have 2000 requests instead of a second and more.
# slow: what the examples run is tested with the sanitizers elsewhere
. "${0%/*}/lib.sh"

# blocks FILE PREFIX: writes each block to PREFIX.N
page_blocks() {
  awk -v out="$2" '
    /^\.Sh / { in_examples = $0 ~ /^\.Sh EXAMPLES/; next }
    in_examples && /^\.Bd .*-literal/ { file = out "." ++n; next }
    /^\.Ed/ { if (file) close(file); file = ""; next }
    file {
      gsub(/\\\(aq/, "\047")
      gsub(/\\\(dq/, "\"")
      gsub(/\\-/, "-")
      gsub(/\\&/, "")
      gsub(/\\e/, "\\")
      print > file
    }' "$1"
}

readme_blocks() {
  awk -v out="$2" '
    /^```sh$/ { file = out "." ++n; next }
    /^```/ { if (file) close(file); file = ""; next }
    file { print > file }' "$1"
}

# shorten FILE: prints the file with short runs, which a busy machine can do, too
shorten() {
  sed 's/"duration": [0-9]*/"requests": [2000]/; s/--duration [0-9]*s/--requests 2000/' "$1"
}

# expected FILE: prints a script that fails if a command of the block does.
expected() {
  echo 'set -e'
  awk '
    function run(line, test) {
      print "was=0; {\n" line "\n} || was=$?; [ $was " test " ]"
    }
    /\\$/ && !/# exits [0-9]+$/ {
      held = held substr($0, 1, length($0) - 1)
      next
    }
    { line = held $0; held = "" }
    line ~ /# exits [0-9]+$/ {
      want = line
      sub(/.*# exits /, "", want)
      run(line, "-eq " want)
      next
    }
    sub(/; echo \$\?$/, "", line) {
      run(line, "-le 1")
      next
    }
    { print line }' "$1"
}

in_folder() { # in_folder DIR COMMAND...
  (cd "$1" && shift && "$@")
}

shell='sh'
run_blocks() { # run_blocks PREFIX NAME
  for block in "$1".*; do
    [ -e "$block" ] || continue
    dir=$scratch/run/$2.${block##*.}
    mkdir -p "$dir"
    ln -s "$scratch/configs" "$dir/configs"
    ln -s "$top/tests/data" "$dir/tests-data"
    shorten "$block" >"$dir/.block"
    expected "$dir/.block" >"$dir/.script"
    # shellcheck disable=SC2086 # words
    test_that "$2: example ${block##*.}: $(head -n 1 "$block")" \
      in_folder "$dir" $shell .script
  done
}

cp -R "$top/configs" configs
shorten "$top/configs/quick.json" >configs/quick.json
test_status 1 'configs/quick.json has short runs here' \
  cmp -s "$top/configs/quick.json" configs/quick.json
for page in "$top"/man/*.[1-8]; do
  name=${page##*/}
  page_blocks "$page" "$scratch/$name"
  case $name in
  *.1) [ -e "$scratch/$name.1" ] || test_result 1 "$name has EXAMPLES" ;;
  esac
  run_blocks "$scratch/$name" "$name"
done
readme_blocks "$top/README.md" "$scratch/README.md"
[ -e "$scratch/README.md.1" ] || test_result 1 'README.md has a pipeline'
shell='bash -o pipefail' # a load that fails before a pipe is a failure
run_blocks "$scratch/README.md" README.md
test_done
