#!/bin/sh
# vkb-flame's SVG and page with a user's input: typing, clicks and keys in Chromium with
# playwright-core, from npm's registry. The graph without input is tested by t0604.
. "${0%/*}/lib.sh"
. "$tests/npm.sh"

browser_need playwright-core@1.48.2 axe-core@4.10.2

cat >stacks <<'END'
all.c;main;read 20
all.c;main;parse;hash 30
all.c;main;parse;copy 10
all.c;idle 40
END
vkb-flame stacks >graph.svg
printf '%s\n' 'all.c;main;read 220' 'all.c;main;parse;hash 300' 'all.c;idle 400' \
  'all.c;_[k] 100' 'all.c;<b>x</b>_[j] 100' 'all.c;h_[i] 50' >before
printf '%s\n' 'all.c;main;read 100' 'all.c;main;parse;hash 500' 'all.c;main;new 90' \
  'all.c;idle 400' >after
vkb-flame -b before after >diff.svg
vkb-flame before >colours.svg
for name in get put; do
  printf '%s\n' 'version: 1' 'events: Ir' fn=main '1 100' "cfn=$name" 'calls=3 1' '1 300' \
    "fn=$name" '3 300' >$name.out
done
vkb-flame -b get.out put.out >exact.svg
vkb-flame -f html -b before -t 'A <b>title</b>' after >diff.html

cat >hands.js <<'END'
const { browse, dir, judge, log, open } = require('browser');
browse(async b => {
  const p = await open(b, 'graph', { viewport: { width: 1280, height: 400 } });
  await p.goto('file://' + dir + '/graph.svg');
  const rect = name => p.locator('svg.f', { has: p.locator('title',
    { hasText: new RegExp('^' + name + '\\n') }) }).locator('rect');
  const click = async name => {
    const r = await rect(name).boundingBox();
    await p.mouse.click(r.x + r.width / 2, r.y + r.height / 2);
  };
  const say = async (what, names) => {
    const shown = [];
    for (const n of names) {
      const r = await rect(n).isVisible() && await rect(n).boundingBox();
      shown.push(n + ' ' + (r ? Math.round(100 * r.width / p.viewportSize().width) : '-'));
    }
    log([what, ...shown].join(', '));
  };
  const matched = async what =>
    log(what + ' [' + await p.locator('#matched').textContent() + ']');

  await say('opened', ['idle', 'parse', 'hash']);
  await click('parse');
  await say('clicked', ['idle', 'parse', 'hash']);
  await p.locator('#reset').click();
  await say('reset', ['idle', 'parse', 'hash']);
  await p.locator('#search').click();
  await p.keyboard.type('^(parse|hash)$');
  await matched('typed');
  await p.keyboard.press('Escape');
  await matched('escaped');
  await p.keyboard.press('/');
  await p.keyboard.type('ir/');
  await matched('slash, typed');
  log('in the box: ' + await p.locator('#search').evaluate(e => e.value));
  await p.keyboard.press('Escape');
  await p.keyboard.press('ArrowUp');
  await p.keyboard.press('ArrowUp');
  await p.keyboard.press('ArrowRight');
  await p.keyboard.press('Enter');
  await say('keys', ['idle', 'main', 'read']);
  await p.keyboard.press('r');
  await say('r', ['idle', 'main', 'read']);

  // The width follows the window; letters keep their size.
  for (const width of [400, 1280]) {
    await p.setViewportSize({ width, height: 400 });
    const root = await p.locator('svg.vkb-flame').boundingBox();
    const letter = await rect('main').locator('..').locator('text').evaluate(
      t => Math.round(10 * t.getComputedTextLength() / t.textContent.length));
    log('window', width + ':', root.width, letter, await p.evaluate(
      'document.documentElement.scrollWidth <= innerWidth'));
    await say('within', ['idle', 'parse']);
  }
  await p.setViewportSize({ width: 400, height: 400 });
  await p.locator('#search').fill('parse|hash|copy');
  log('nothing covers the graph:', await p.evaluate(() =>
    document.querySelector('.bar').getBoundingClientRect().bottom <= Math.min(
      ...Array.from(document.querySelectorAll('svg.f')).map(f => f.getBoundingClientRect().top))));
  await p.locator('#search').fill('');
  await p.setViewportSize({ width: 1280, height: 400 });
  // The frames move in the next drawing; a click before it hits another one.
  await p.evaluate(() => new Promise(done =>
    requestAnimationFrame(() => requestAnimationFrame(done))));

  // The URL holds the state: another window shows the same, the way back is there.
  const state = async what =>
    log(what, decodeURIComponent(await p.evaluate('location.hash')));
  const visit = async file => {
    await p.goto('about:blank');
    await p.goto('file://' + dir + '/' + file);
  };
  await click('parse');
  await p.locator('#search').fill('ha');
  await p.locator('#invert').click();
  await state('state');
  await visit('graph.svg#zoom=all.c%3Bmain%3Bparse&search=ha&inverted=yes');
  await say('reopened', ['idle', 'parse', 'hash']);
  await matched('reopened');
  log('root on top:', (await rect('all').boundingBox()).y <
    (await rect('hash').boundingBox()).y);
  await click('all');
  await state('zoomed out');
  await p.goBack();
  await rect('idle').waitFor({ state: 'hidden' });
  await say('back', ['idle', 'parse']);
  await visit('graph.svg#zoom=nothing%3Bhere&search=%28');
  await say('a state of another graph', ['idle', 'parse']);

  // Within another page, that page is told the state and can set it.
  const inner = require('fs').readFileSync(dir + '/graph.svg', 'utf8');
  await p.goto('about:blank');
  await p.evaluate(svg => {
    window.told = [];
    addEventListener('message', e => told.push(e.data.flame));
    const f = document.createElement('iframe');
    f.setAttribute('sandbox', 'allow-scripts');
    f.width = 600;
    f.height = 300;
    f.srcdoc = svg;
    document.body.append(f);
  }, inner);
  const f = p.frameLocator('iframe');
  await f.locator('#search').fill('parse');
  log('within a page [' + await f.locator('#matched').textContent() + ']',
    await p.waitForFunction('told.at(-1)').then(h => h.jsonValue()));
  await p.evaluate('frames[0].postMessage({ flame: "search=idle" }, "*")');
  await f.locator('#matched', { hasText: /^40.00% in 1 match$/ }).waitFor();

  // Names are readable on all colours.
  const contrast = async name => {
    await visit(name);
    const found = await p.evaluate(() => {
      const lum = c => {
        const v = c.match(/[\d.]+/g).slice(0, 3).map(x => x / 255)
          .map(x => x <= .03928 ? x / 12.92 : ((x + .055) / 1.055) ** 2.4);
        return .2126 * v[0] + .7152 * v[1] + .0722 * v[2];
      };
      const poor = [];
      let n = 0;
      document.querySelectorAll('svg.f').forEach(g => {
        const t = g.querySelector('text'), r = g.querySelector('rect');
        if (!t || getComputedStyle(g).display === 'none') return;
        const a = lum(getComputedStyle(t).fill), b = lum(getComputedStyle(r).fill);
        const ratio = (Math.max(a, b) + .05) / (Math.min(a, b) + .05);
        n++;
        if (!(ratio >= 4.5) || getComputedStyle(g).opacity !== '1')
          poor.push(g.querySelector('title').textContent + ' ' + ratio);
      });
      return [n, ...poor];
    });
    log('readable:', found.join(', '));
  };
  for (const colorScheme of ['light', 'dark']) {
    await p.emulateMedia({ colorScheme });
    for (const name of ['colours.svg', 'diff.svg', 'exact.svg',
      'graph.svg#zoom=all.c%3Bmain%3Bparse&search=a|h'])
      await contrast(name);
  }

  // The page: the table is searched, and leads to the graph.
  for (const width of [400, 1280]) {
    await p.setViewportSize({ width, height: 700 });
    await visit('diff.html');
    await judge(p, 'page ' + width);
  }
  const rows = p.locator('#functions tbody tr');
  const names = async what =>
    log(what, (await rows.locator('th').allTextContents()).join(' '));
  await names('rows');
  await p.locator('#functions input').fill('rea');
  await names('found');
  await rows.first().locator('a').click();
  await p.locator('#matched', { hasText: 'match' }).waitFor();
  await matched('followed');
  await state('followed');

  // Without scripts the names and the table are there.
  const q = await b.newPage({ javaScriptEnabled: false });
  await q.goto('file://' + dir + '/diff.html');
  log('without scripts', await q.locator('svg.f text:visible').count(),
    'names,', await q.locator('#functions tbody tr:visible').count(), 'rows');
});
END
run_hands hands.js "$scratch"
cat >want <<'END'
opened, idle 40, parse 40, hash 30
clicked, idle -, parse 100, hash 75
reset, idle 40, parse 40, hash 30
typed [40.00% in 2 matches]
escaped []
slash, typed [no match]
in the box: ir/
keys, idle -, main 100, read 33
r, idle 40, main 60, read 20
window 400: 400 72 true
within, idle 40, parse 40
window 1280: 1280 72 true
within, idle 40, parse 40
nothing covers the graph: true
state #zoom=all.c;main;parse&search=ha&inverted=yes
reopened, idle -, parse 100, hash 75
reopened [30.00% in 1 match]
root on top: true
zoomed out #search=ha&inverted=yes
back, idle -, parse 100
a state of another graph, idle 40, parse 40
within a page [40.00% in 1 match] search=parse
readable: 10
readable: 11
readable: 4
readable: 6
readable: 10
readable: 11
readable: 4
readable: 6
rows hash parse main read <b>x</b>_[j] _[k] new h_[i] idle all.c
found read
followed [13.99% in 1 match]
followed #search=^read$
without scripts 11 names, 10 rows
END
test_same "$(cat want)" "$(cat log)" \
  'clicks zoom, the button resets, typing searches, keys move; the URL has the state; names are readable'
sed 's/^/# /' node.err
test_done
