#!/bin/sh
# vkb-flame's SVG and page in a browser: search, zoom, reset, keys, and hostile names.
. "${0%/*}/lib.sh"

cat >stacks <<'END'
all.c;main;read 20
all.c;main;parse;hash 30
all.c;main;parse;copy 10
all.c;idle 40
END
vkb-flame -t 'A <title> & more' stacks >graph.svg
test_that 'the graph is valid XML' xmllint --noout graph.svg

# --- without a script

test_same 'A <title> & more' \
  "$(xmllint --xpath 'string(/*[local-name()="svg"]/*[local-name()="title"])' graph.svg)" \
  'the title is escaped'
titles() { # titles FILE: the tooltips, a line each
  sed -n 'N; s/^.*class="f"><title>\([^<]*\)\n\([^<]*\)<.*/\1: \2/p; D' "$1"
}
test_same 'all: total 100.00% (100), self 0.00%
all.c: total 100.00% (100), self 0.00%
idle: total 40.00% (40), self 40.00%
main: total 60.00% (60), self 0.00%
parse: total 40.00% (40), self 0.00%
copy: total 10.00% (10), self 10.00%
hash: total 30.00% (30), self 30.00%
read: total 20.00% (20), self 20.00%' "$(titles graph.svg)" 'each frame has a tooltip'
test_match '<text [^>]*>parse</text>' graph.svg 'a frame has its name'
grep -E ' on[a-z]+=|style=|https?://|javascript:' graph.svg |
  grep -v 'xmlns=' | grep -v "ns = 'http\|createElementNS" >bad
test_empty_file bad 'no attribute has a script or style, and nothing is fetched'
vkb-flame -i stacks >icicle.svg
test_same '30 94' "$(for f in icicle graph; do
  sed -n 's/.* y="\([0-9]*\)" width.*<title>all$/\1/p' $f.svg
done | tr '\n' ' ' | sed 's/ $//')" '--icicle: the root is on top'
test_same 3 "$(vkb-flame --min-percent 50 stacks | grep -c 'class="f"')" \
  '--min-percent leaves frames out'
printf '# cmdline : perf\n' >none
test_match 'no samples' "$(vkb-flame none >none.svg; echo none.svg)" \
  'a profile without samples says so'

# --- hostile names

printf '%s\n' '<script>alert(1)</script>;"&\ "]]>;</title><b> 1' >evil
printf 'a\033[31m\001\377\357\277\276;b\302\233 2\n' >>evil
for format in svg table folded; do
  vkb-flame -f $format evil >evil.$format
  test_empty "$(LC_ALL=C tr -d '\012\040-\176\200-\377' <evil.$format)" \
    "$format: the output has no control characters"
done
test_that 'a graph with hostile names is valid XML' xmllint --noout evil.svg
test_same 1 "$(grep -c '<script>' evil.svg)" 'a graph with hostile names has only one script'
vkb-flame -b stacks evil >evil-diff.svg
test_that 'a differential graph with hostile names is valid XML' xmllint --noout evil-diff.svg

# --- in a browser

. "$tests/npm.sh"
# shellcheck disable=SC2119 # no packages
browser_need

# Runs the steps on stdin in the page and prints what they log.
in_page() { # in_page SVG <STEPS
  {
    sed '/^<\/svg>$/d' "$1"
    cat <<'END'
<script><![CDATA[
(function () {
var out = [];
function log(s) { out.push(s); }
function find(name) {
  return Array.from(document.querySelectorAll('svg.f')).find(function (g) {
    return g.querySelector('title').textContent.split('\n')[0] === name;
  });
}
function rect(name) { return find(name).querySelector('rect'); }
function share(name) {
  var r = rect(name);
  if (find(name).getAttribute('display') === 'none') return 'hidden';
  return Math.round(100 * r.getBoundingClientRect().width / innerWidth) + '%';
}
function at(name) {
  var b = rect(name).getBoundingClientRect();
  return document.elementFromPoint(b.x + b.width / 2, b.y + b.height / 2);
}
function click(e) { e.dispatchEvent(new MouseEvent('click', {bubbles: true})); }
function key(k) {
  (document.activeElement || document.documentElement).dispatchEvent(
    new KeyboardEvent('keydown', {key: k, bubbles: true, cancelable: true}));
}
function text(id) { return document.getElementById(id).textContent; }
function top(name) { return rect(name).getBoundingClientRect().y; }
function search(s) {
  var e = document.getElementById('search');
  e.value = s;
  e.dispatchEvent(new Event('input', {bubbles: true}));
}
window.addEventListener('error', function (e) { log('error: ' + e.message); });
try {
END
    cat
    cat <<'END'
} catch (e) { log('error: ' + e); }
var p = document.createElementNS('http://www.w3.org/2000/svg', 'desc');
p.textContent = 'LOG[' + out.join('|') + ']LOG';
document.documentElement.appendChild(p);
}());
]]></script>
</svg>
END
  } >page.svg
  timeout 120 "$browser" --headless --no-sandbox --disable-gpu \
    --disable-dev-shm-usage --no-first-run --user-data-dir="$scratch/browser" \
    --dump-dom "file://$scratch/page.svg" >dom 2>browser.err </dev/null
  sed -n 's/.*LOG\[\(.*\)\]LOG<.*/\1/p' dom
}

test_same '40%|40%|75%|hidden|100%|hidden|40%' "$(in_page graph.svg <<'END'
log(share('idle'));
log(share('parse'));
click(at('parse'));
log(share('hash'));
log(share('idle'));
log(share('main'));
log(share('read'));
click(document.getElementById('reset'));
log(share('parse'));
END
)" 'a click zooms, the button resets'
test_same '40.00% in 2 matches|rgb(230, 122, 230)|20.00% in 1 match|no match||true' \
  "$(in_page graph.svg <<'END'
var color = function (n) { return getComputedStyle(rect(n)).fill; }, was = color('parse');
search('^(parse|hash)$');
log(text('matched'));
log(color('hash'));
search('ea');
log(text('matched'));
search('(');
log(text('matched'));
key('Escape');
log(text('matched'));
log(color('parse') === was);
END
)" 'search: nested matches count once; Escape clears the search'
test_same 'all.c: total 100.00% (100), self 0.00%|idle: total 40.00% (40), self 40.00%|main: total 60.00% (60), self 0.00%|100%|hidden|60%|search|all: total 100.00% (100), self 0.00%' \
  "$(in_page graph.svg <<'END'
key('ArrowUp');
log(text('details'));
key('ArrowUp');
log(text('details'));
key('ArrowRight');
log(text('details'));
key('Enter');
log(share('main'));
log(share('idle'));
key('r');
log(share('main'));
key('/');
log(document.activeElement.id);
key('Escape');
log(text('details'));
END
)" 'arrows, Enter, r, / and Escape work'
test_same 'true|true|true' "$(in_page graph.svg <<'END'
log(top('parse') < top('main'));
click(document.getElementById('invert'));
log(top('parse') > top('main'));
key('i');
log(top('parse') < top('main'));
END
)" 'the button and the key i invert the graph'
test_same '1|<script>alert(1)</script>: total 33.33% (1), self 0.00%' \
  "$(in_page evil.svg <<'END' | sed 's/&lt;/</g; s/&gt;/>/g'
var f = find('<script>alert(1)</script>');
f.dispatchEvent(new MouseEvent('mouseover', {bubbles: true}));
log(document.querySelectorAll('svg.f script, svg.f b').length + 1);
log(text('details'));
END
)" 'hostile names are text'
test_done
