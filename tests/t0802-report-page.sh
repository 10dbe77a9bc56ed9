#!/bin/sh
# Each kind of page in a browser, at three widths, light, dark and printed: the findings of
# axe-core, the focus, what is empty or covered; and the controls of vkb-report's page with
# mouse and keyboard.
. "${0%/*}/lib.sh"
. "$tests/npm.sh"

browser_need playwright-core@1.48.2 axe-core@4.10.2

a=$tests/data/a.jsonl
b=$tests/data/b.jsonl
vkb-compare -f jsonl "$a" "$b" >changes
printf '%s\n' 'all;main;read 20' 'all;idle 40' >stacks
vkb-flame stacks >flame.svg
sed 's|</svg>$|<script>parent.postMessage({flame: "evil"}, "*"); alert(1)</script><rect onclick="alert(2)" width="9" height="9"/>&|
  s|<rect |<rect onmouseover="alert(3)" |' flame.svg >evil.svg
profile() { # profile CASE PATH
  printf '{"type":"profile","v":1,"case":"%s","mode":"cpu","target":{"comm":"valkey-server"},"probed":{},"started":"2026-01-01T00:00:00Z","duration_s":1,"artifacts":{"svg":"%s"},"per_req":{"cycles_per_req":1234},"status":"ok"}\n' "$@"
}
{
  profile GET flame.svg
  profile EVIL evil.svg
  printf '{"type":"env","v":1,"time":"2026-01-01T00:00:00Z","env":{"arch":"x86_64"},"now":{"load1":0.5}}\n'
  printf '{"type":"run","v":1,"subject":{"ref":"my-branch"},"config":{"command":"<b>L</b>"},"run":{},"status":"failed","error":"<script>alert(1)</script>"}\n'
} >others
vkb-report -o page.html changes "$a" "$b" others
for i in 1 2 3 4 5 6 7 8 9 10 11 12; do
  for k in 1 2 3 4; do
    printf '{"type":"run","v":1,"subject":{"commit":"c0000%02d","time":"2026-01-%02dT00:00:00Z","repository":"valkey-io/valkey"},"config":{"command":"SET","pipeline":%d},"run":{"index":%d},"metrics":{"rps":%d},"series":{"at_s":[1,2,3],"rps":[1,2,%d]},"status":"ok"}\n' \
      "$i" "$i" $((1 + k % 2 * 9)) "$k" $((100000 - (i > 6) * 9000 + i * k % 7 * 100)) "$k"
  done
done >history
vkb-detect -f jsonl history >found
test_match '"type":"change"' found 'the history has a change'
vkb-report -o past.html history found


# A thousand cases on each side, of which every 20th is slower.
awk 'BEGIN { split("SET GET INCR LPUSH HSET", name, " ")
  for (i = 0; i < 1000; i++) for (k = 1; k <= 6; k++) for (s = 0; s < 2; s++) {
    rps = (100000 + 7 * i) * (s && i % 20 == 0 ? .9 : 1) * (1 + (k * (7 + s) + i) % 11 / 2000)
    printf "{\"type\":\"run\",\"v\":1,\"subject\":{\"label\":\"%s\"},\"config\":{\"command\":\"%s\",\"pipeline\":%d,\"tls_mode\":false},\"run\":{\"session\":\"s\",\"index\":%d,\"block\":%d},\"metrics\":{\"rps\":%d,\"p50_latency_ms\":%.4f,\"p99_latency_ms\":%.4f},\"status\":\"ok\"}\n",
      s ? "new" : "old", name[i % 5 + 1], i / 5 + 1, 2 * k + s, k, rps, 40000 / rps, 90000 / rps
  } }' >thousand
vkb-compare --baseline old -f jsonl thousand >differ
vkb-report -o many.html thousand differ

# Both sides have the same name and commit, and are still two series.
jq -c 'select(.config.command == "SET") | .subject = {ref: "unstable", commit: "abc"}' "$a" >one
jq -c 'select(.config.command == "SET") | .subject = {ref: "unstable", commit: "abc"}' "$b" >two
vkb-compare -f jsonl one two >twins
vkb-report -o same.html one two twins

# One run on each side, and hostile names.
jq -c 'select(.run.index == 1) | .config.command = "\(.config.command)<script>alert(1)</script>\u202e\"\u0027\("x" * 200)"' \
  "$a" >one
jq -c 'select(.run.index == 1) | .config.command = "\(.config.command)<script>alert(1)</script>\u202e\"\u0027\("x" * 200)"' \
  "$b" >two
vkb-compare --on-insufficient ok -f jsonl one two >odd
vkb-report -o odd.html one two odd

# A first measurement, and counts that say what else changed.
vkb-report -o first.html "$a"
for side in a b; do
  jq -c ".metrics.instructions_per_req = $(printf %d "'$side")00 | .counted = true |
    .metrics.bytes_per_key = $(printf %d "'$side")" "$tests/data/$side.jsonl" >count.$side
done
vkb-compare -f jsonl count.a count.b >counts
vkb-report -o counts.html count.a count.b counts
test_match '<tr class="also">' counts.html 'a row has another one with what else changed'

# The other pages.
vkb-flame -f html stacks >flame.html
printf '%s\n' 'all;main;read 900' 'all;main;new 300' 'all;idle 40' |
  vkb-flame -f html -b stacks - >diff.html
perl "$tests/planted.pl" 8 | vkb-history -q add results
vkb-history -q site results site
commit=site/commit/$(find site/commit -name '*.html' | sort | sed -n '2s,.*/,,; 2s,.html$,,p')
if command -v mandoc >/dev/null; then
  sh "$tests/../lib/html/make" "$scratch/manual" 1
  find manual -name '*.html' | sort >pages
  echo 'manual/index.html#search=latency' >>pages
else
  test_skip 'the manual pages' mandoc
fi
for page in page past many same odd first counts flame diff site/index "$commit"; do
  echo "$page.html"
done >>pages

cat >hands.js <<'END'
const { browse, dir, judge, judgeFocus, judgePrint, log, open } = require('browser');

/* Names of ticks that lie on another one of their plot. */
function crowded() {
  const out = [];
  for (const plot of document.querySelectorAll('svg.plot')) {
    const boxes = Array.from(plot.querySelectorAll('.tick'))
      .map(t => [t.textContent, t.getBoundingClientRect()]).filter(([, r]) => r.width);
    boxes.forEach(([name, r], i) => boxes.slice(0, i).forEach(([other, q]) => {
      if (r.left < q.right && q.left < r.right && r.top + 2 < q.bottom && q.top + 2 < r.bottom)
        out.push(plot.getAttribute('aria-label') + ': ' + name + ' on ' + other);
    }));
  }
  return out;
}

/* Lists what is empty: tables without rows, lists and folds without
 * content, plots without marks. */
function hollow() {
  const out = [];
  for (const t of document.querySelectorAll('table'))
    if (!t.tBodies.length || Array.from(t.tBodies).every(b => !b.rows.length)) out.push('table');
  for (const e of document.querySelectorAll('ul, dl, figure, p, h1, h2, h3'))
    if (e.checkVisibility() && !e.textContent.trim()) out.push(e.tagName);
  for (const d of document.querySelectorAll('details'))
    if (d.children.length < 2) out.push('details');
  for (const p of document.querySelectorAll('figure svg.plot'))
    if (!p.querySelector('.dot, .line, .band, .thin')) out.push(p.getAttribute('aria-label'));
  return out;
}

async function judged(p, what, rules) {
  await judge(p, what, rules);
  for (const t of await p.evaluate(crowded)) log(what, 'ticks:', t);
  for (const t of await p.evaluate(hollow)) log(what, 'empty:', t);
}

const texts = rows => rows.evaluateAll(v => v.filter(r => r.offsetParent && r.className !== 'group')
  .map(r => r.cells[0].textContent + ' ' + r.parentNode.rows[0].cells[0].textContent.split(',')[0]));

async function controls(p) {
  const box = p.locator('#changes .browse');
  const seen = async () => {
    const all = await texts(p.locator('#rows tbody tr'));
    return all.length + ': ' + all.slice(0, 3).join(', ');
  };
  log('changed', (await texts(p.locator('.changed tbody tr'))).join(', '));
  await p.locator('#changes > summary').click();
  log('opened', await seen());
  await box.locator('input').click();
  await p.keyboard.type('inc');
  log('typed', await seen(), '|', await box.locator('output').textContent());
  await box.locator('input').fill('');
  await box.locator('[data-key=metric]').selectOption({ label: 'throughput' });
  log('throughput', await seen());
  await box.locator('[data-key=kind]').selectOption('worse');
  log('worse', await seen());
  await box.locator('input').fill('inc');
  log('none', await box.locator('output').textContent());
  await box.locator('input').fill('');
  await box.locator('[data-key=kind]').selectOption('');
  await box.locator('[data-key=metric]').selectOption('');
  const head = p.locator('#rows thead button', { hasText: 'case' });
  const way = async () => p.locator('#rows th[aria-sort]').getAttribute('aria-sort');
  await head.focus();
  await p.keyboard.press('Enter');
  log('sorted', await seen(), '|', await way());
  await p.keyboard.press('Enter');
  log('turned', await seen(), '|', await way());
  const change = p.locator('#rows thead button', { hasText: 'change' });
  await change.focus();
  await p.keyboard.press(' ');
  log('by change', await seen());
  const dots = i => p.locator('#case-1 .dot.s' + i + ':visible').count();
  log('dots', await dots(0), await dots(1));
  await p.locator('#show1').focus();
  await p.keyboard.press(' ');
  log('hidden', await dots(0), await dots(1));
  await p.locator('label[for=show1]').click();
  log('shown', await dots(0), await dots(1));
  const third = p.locator('#case-3');
  await p.locator('#cases > summary').click();
  log('closed', await third.evaluate(d => d.open || d.parentNode.open));
  await p.locator('#rows a[href="#case-3"]').first().click();
  await p.locator('#case-3[open]').waitFor();
  log('the link opens', await third.evaluate(d => d.open && d.parentNode.open));
}

async function walk(p) {
  const screens = await p.evaluate('document.documentElement.scrollHeight / innerHeight');
  log('screens', screens <= 3 ? 'at most 3' : screens);
  const top = p.locator('#verdict .browse');
  log('first', (await texts(top.locator('tbody tr'))).length, '|', await top.locator('output').textContent());
  await top.locator('button', { hasText: 'Next' }).click();
  log('second', (await texts(top.locator('tbody tr'))).length, '|', await top.locator('output').textContent());
  await p.locator('#changes > summary').click();
  const box = p.locator('#changes .browse'), shown = box.locator('output');
  const next = box.locator('button', { hasText: 'Next' });
  log('all', (await texts(p.locator('#rows tbody tr'))).length, '|', await shown.textContent());
  await box.locator('[data-key=kind]').selectOption('changed');
  log('changed', await shown.textContent());
  await next.click();
  log('last page', await shown.textContent(), '|', await next.isDisabled());
  await box.locator('input').fill('set p21');
  log('found', await shown.textContent(), '|', (await texts(p.locator('#rows tbody tr'))).join(', '));
  await box.locator('input').fill('');
  await box.locator('[data-key=kind]').selectOption('');
  await p.locator('#rows thead button', { hasText: 'change' }).click();
  log('sorted', (await texts(p.locator('#rows tbody tr'))).length, '|', await shown.textContent());
}

/* The graph of a profile is under the hand; its state is in the URL. */
async function graph(p) {
  const f = p.frameLocator('#flame-1'), share = f.locator('#matched');
  const state = async () => decodeURIComponent(new URL(p.url()).hash);
  const frame = name => f.locator('svg.f', { has: p.locator('title', { hasText: name }) });
  await p.locator('#profiles').evaluate(d => { d.open = true; });
  await p.locator('#flame-1').scrollIntoViewIfNeeded();
  log('letters', await frame('idle').locator('text').evaluate(
    t => getComputedStyle(t).fontFamily + ' ' + getComputedStyle(t).fontSize));
  await f.locator('#search').fill('idle');
  await p.waitForURL(u => u.hash.includes('search'));
  log('searched', await share.textContent(), await state());
  await frame('idle').locator('rect').click();
  await p.waitForURL(u => u.hash.includes('zoom'));
  const link = p.url();
  log('zoomed', await share.textContent(), await state());
  await p.goto('about:blank');
  await p.goto(link);
  await share.getByText('match').waitFor();
  await frame('main').waitFor({ state: 'hidden' });
  log('again', await share.textContent(), await f.locator('#search').inputValue());
  await p.goto(link.split('#')[0] + '#flame-1?search=main');
  await frame('main').waitFor();
  log('another state', await share.textContent());

  /* Another script does not run, nor do attributes. */
  const evil = p.frameLocator('#flame-2');
  await p.locator('#flame-2').scrollIntoViewIfNeeded();
  await evil.locator('#search').fill('main');
  await p.waitForURL(u => u.hash.startsWith('#flame-2'));
  await evil.locator('rect').last().dispatchEvent('click');
  await evil.locator('rect').last().dispatchEvent('mouseover');
  log('evil', await state());
}

browse(async b => {
  const pages = require('fs').readFileSync(dir + '/pages', 'utf8').trim().split('\n');
  // One page shows them all: a new one, with processes of its own, takes as long as most.
  const all = await open(b, 'a page');
  for (const name of pages) {
    const p = all;
    await p.setViewportSize({ width: 390, height: 844 });
    await p.emulateMedia({ media: 'screen', colorScheme: 'dark' });
    await p.goto('file://' + dir + '/' + name);
    for (const e of await p.locator('.lead, .verdict, #verdict tbody tr').all())
      if ((await e.boundingBox()).y > 600 && !await e.evaluate(e => e.previousElementSibling))
        log(name, 'has its answer below the first screen');
    // All manual pages have one style: one of them has all of it, the others only a width.
    // Thousands of rows are as the few of another page, and take axe-core minutes.
    if (name.startsWith('manual/vkb') && !/record.5/.test(name) || name === 'many.html') {
      await judge(p, name, []);
      continue;
    }
    for (const [width, colorScheme] of [[390, 'dark'], [800, 'dark'], [1280, 'light']]) {
      await p.setViewportSize({ width, height: 844 });
      await p.emulateMedia({ colorScheme });
      await judged(p, [name, width, colorScheme].join(' '),
        { 390: undefined, 800: [], 1280: ['color-contrast'] }[width]);
    }
    await judgeFocus(p, name, 12);
    await judgePrint(p, name);
  }
  for (const [width, colorScheme] of [[390, 'dark'], [1280, 'light']])
    for (const [name, work] of [['page', controls], ['many', walk]]) {
      log('-- ' + name + ' ' + width);
      const p = await open(b, name, { viewport: { width, height: 900 }, colorScheme });
      await p.goto('file://' + dir + '/' + name + '.html');
      await work(p);
      await judged(p, name + ' ' + width + ' afterwards', name === 'many' ? [] : undefined);
      if (name === 'page')
        await graph(p);
      await p.close();
    }
  const p = await open(b, 'without a script', { javaScriptEnabled: false });
  await p.goto('file://' + dir + '/page.html');
  await p.locator('#changes > summary').click();
  log('without a script', (await texts(p.locator('#rows tbody tr'))).length,
    'rows', await p.locator('.controls:visible, input:visible').count(), 'controls');
  await p.emulateMedia({ media: 'print' });
  log('printed', await p.locator('nav:visible').count(), 'links');
  await p.goto('file://' + dir + '/same.html');
  log('two series', await p.locator('.legend li').count(), await p.locator('#case-1 .dot.s0').count(),
    await p.locator('#case-1 .dot.s1').count());
});
END
run_hands hands.js "$scratch"
cat >want <<'END'
changed SET throughput, INCR throughput
opened 9: SET throughput, INCR throughput, GET throughput
typed 3: INCR throughput, INCR p50, INCR p99 | 3 rows
throughput 3: SET throughput, INCR throughput, GET throughput
worse 1: SET throughput
none no row matches
sorted 9: GET throughput, INCR throughput, SET throughput | ascending
turned 9: SET throughput, INCR throughput, GET throughput | descending
by change 9: SET throughput, GET throughput, INCR throughput
dots 24 24
hidden 24 0
shown 24 24
closed false
the link opens true
letters monospace 12px
searched 66.67% in 1 match #flame-1?search=idle
zoomed 66.67% in 1 match #flame-1?zoom=all;idle&search=idle
again 66.67% in 1 match idle
another state 33.33% in 1 match
evil #flame-2?search=main
END
cat >walked <<'END'
screens at most 3
first 20 | 1 to 20 of 50
second 20 | 21 to 40 of 50
all 100 | 1 to 100 of 3000
changed 1 to 100 of 150
last page 101 to 150 of 150 | true
found 3 rows | SET P21 throughput, SET P21 p50, SET P21 p99
sorted 100 | 1 to 100 of 3000
END
test_same "$(for width in 390 1280; do
  echo "-- page $width"
  cat want
  echo "-- many $width"
  cat walked
done
  echo 'without a script 9 rows 0 controls'; echo 'printed 0 links'
  echo 'two series 2 24 24')" \
  "$(cat log)" \
  'finding, choosing, sorting, paging, hiding and links work; axe-core finds nothing; nothing is fetched'
sed 's/^/# /' node.err
test_done
