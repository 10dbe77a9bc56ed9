#!/bin/sh
# vkb-flame --baseline: the frames of both sides, which of them differ by more than
# chance, and tables of functions.
# sanitize: differences of stacks.
. "${0%/*}/lib.sh"

# about NAME FILE: prints the second line of the tooltip of that frame in an SVG
about() {
  awk -v want="<title>$1" 'found { sub(/<\/title>.*/, ""); gsub(/&gt;/, ">"); print; exit }
    index($0, want) && substr($0, index($0, want)) == want { found = 1 }' "$2"
}

# fill NAME FILE: prints the colour of that frame
fill() {
  awk -v want="<title>$1" '
    found { sub(/.* fill="/, ""); sub(/".*/, ""); print; exit }
    index($0, want) && substr($0, index($0, want)) == want { found = 1 }' "$2"
}

grey='#d4d4d4' violet='#d9c8ea'

# --- folded and tables

printf '%s\n' 'a;b 100' 'a;c 50' 'a;d 7' >before
printf '%s\n' 'a;b 100' 'a;c 90' 'a;e 8' >after
test_same 'a;b 100 100
a;c 50 90
a;d 7 0
a;e 0 8' "$(vkb-flame -f folded -b before after)" 'the output has both counts of each stack'
test_same '  self    total  function
63.69%   63.69%  b
31.85%   31.85%  c
 4.46%    4.46%  d
 0.00%  100.00%  a' "$(vkb-flame --table before)" '--table prints the shares of functions'
test_same 'f 50.00% 100.00%
g 50.00% 50.00%' "$(printf '%s\n' 'f;g 1' 'f;f 1' | vkb-flame --table |
  awk 'NR > 1 { print $3, $1, $2 }')" 'a recursive function is counted once'
vkb-flame --table -b before after >table
test_match '^ 63.69%   50.51%  -13.1[89]  0.0[0-9]+  lost .* b$' table 'the row of a function that lost'
test_match '^ 31.85%   45.45%  .13.61  0.0[0-9]+  gained .* c$' table 'the row of a function that gained'
test_match '^  4.46%    0.00%   -4.46 .* vanished .* d$' table 'the row of a function that vanished'
test_match '^  0.00%    4.04%   .4.04 .* new .* e$' table 'the row of a new function'
test_same 'c b d e a' "$(awk 'NR > 1 { printf "%s ", $NF }' table | sed 's/ $//')" \
  'the largest change comes first'
# The functions that b calls grew: the total of b changed most, b itself did not.
printf '%s\n' 'a;b 100' 'a;b;c 50' 'a;b;e 50' 'a;d 200' 'a;f 100' >before
printf '%s\n' 'a;b 100' 'a;b;c 150' 'a;b;e 150' 'a;d 100' >after
vkb-flame --table -b before after >totals
test_match '^ 40.00%   80.00%  .40.00 .* gained  *20.00%  20.00%  .* .0.00  b$' totals \
  'a row has the change of the total with its test, and the change of the function itself'
test_same b "$(awk 'NR == 2 { print $NF }' totals)" 'the largest change of the total comes first'
printf '%s\n' 'a;b 100' 'a;c 50' 'a;d 7' >before
printf '%s\n' 'a;b 100' 'a;c 90' 'a;e 8' >after
test_status 2 '--table together with -f is an error' vkb-flame --table -f svg before

# --- colours and tests

vkb-flame -b before before >same.svg
test_same "$grey" "$(grep -c '</title><rect.*#d4d4d4' same.svg | sed 's/^5$/#d4d4d4/')" \
  'a graph of equal sides is grey'
vkb-flame -b before after >there.svg
vkb-flame -b after before >back.svg
test_same '31.85% -> 45.45%, +42.7%, p = 0.019' \
  "$(about c there.svg | sed 's/, offset.*//')" \
  'the frame has both shares, the change and p'
test_same '45.45% -> 31.85%, -29.9%, p = 0.019' \
  "$(about c back.svg | sed 's/, offset.*//')" \
  'swapped sides have the opposite change'
test_match 'd$' there.svg 'the graph has a frame that vanished'
test_match '4.46% -&gt; 0.00%, vanished, too few samples' there.svg \
  'a frame that vanished is shown as vanished'
test_match 'stroke-dasharray' there.svg \
  'a frame that vanished has a dashed border'
test_match '0.00% -&gt; 4.04%, new' there.svg 'a new frame is shown as new'

# The shares add up to 100 %: if one function grows, all others shrink.
printf '%s\n' 'm;a 300' 'm;b 300' 'm;c 400' >before
printf '%s\n' 'm;a 300' 'm;b 300' 'm;c 700' >after
vkb-flame -b before after >full.svg
fill c full.svg >colour
test_match '^#ff' colour 'the function that grew is red'
test_same "$violet $violet" "$(fill a full.svg) $(fill b full.svg)" \
  'the functions whose shares shrank are not marked as changed'
test_match 'offset by c' full.svg 'the tooltip says that the shift is offset by c'

# A function with a new name.
printf '%s\n' 'm;a 300' 'm;b 300' 'm;old;x 400' >before
printf '%s\n' 'm;a 310' 'm;b 290' 'm;new;x 390' >after
vkb-flame -b before after >moved.svg
test_same "$violet $violet $grey" \
  "$(fill old moved.svg) $(fill new moved.svg) $(fill a moved.svg)" \
  'a cost that moved to a sibling is not marked as changed'
test_match 'offset by new' moved.svg 'the tooltip of the old name has the new one'
test_same "$violet" "$(fill x moved.svg)" \
  'frames below a moved frame have not changed'

# A function grows with its caller.
printf '%s\n' 'm;a 500' 'm;b;x 300' 'm;b;y 200' >before
printf '%s\n' 'm;a 500' 'm;b;x 600' 'm;b;y 200' >after
vkb-flame -b before after >up.svg
fill x up.svg >colour
test_match '^#ff' colour 'the called function that grew is red'

# Chance: few samples; profiles that differ more than their numbers of samples explain.
printf '%s\n' 'm;a 5' 'm;b 14' >before
printf '%s\n' 'm;a 14' 'm;b 5' >after
test_same "$grey" "$(vkb-flame -b before after >few.svg; fill a few.svg)" \
  'a difference of few samples is not significant'
for i in 1 2 3 4; do
  printf '%s\n' "m;a $((200 + 100 * i))" "m;b $((800 - 100 * i))" >a$i
  printf '%s\n' "m;a $((250 + 100 * i))" "m;b $((750 - 100 * i))" >b$i
done
vkb-flame -b a1 -b a2 -b a3 -b a4 b1 b2 b3 b4 >vary.svg
test_same "$grey" "$(fill a vary.svg)" 'a change within the variation between profiles is not significant'
cat a? >a
cat b? >b
vkb-flame -b a b >as-one.svg
test_same 1 "$(fill a as-one.svg | grep -vc "$grey")" \
  'the samples of both sides are compared as rates'

# A weight may be a sum of periods instead of a number of samples.
printf '%s\n' 'm;a 10000' 'm;b 14000' >before
printf '%s\n' 'm;a 14000' 'm;b 10000' >after
vkb-flame -b before after >periods.svg
test_same '41.67% -> 58.33%, +40.0%, too few samples to tell' \
  "$(about a periods.svg)" 'folded periods are not tested as samples'
event='p 1 1.5: 250000 cycles:\n\tf1 f (/x)\n\n'
printf '%b' "$event$event$event" >in
test_same '100.00% -> 100.00%, +0.0%, too few samples to tell' \
  "$(vkb-flame -b in in >perf.svg; about f perf.svg)" 'periods of perf are not tested as samples'

# Profiles of different length.
printf '%s\n' 'm;a 1000' 'm;b 1000' >before
printf '%s\n' 'm;a 100' 'm;b 100' >after
vkb-flame -b before after >long.svg
test_same '50.00% -> 50.00%, +0.0%, p = 1' "$(about a long.svg)" \
  'equal shares in profiles of different length have not changed'

# --- the reference

if test_reference diff-folded 'files of inferno-diff-folded'; then
  d=$acceptance/diff-folded
  test_same "$(sort "$d/default.txt")" \
    "$(vkb-flame -f folded -b "$d/before.txt" "$d/after.txt" | sort)" \
    'the output is that of inferno-diff-folded'
fi
test_done
