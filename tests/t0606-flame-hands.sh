#!/bin/sh
# slow: vkb-flame's SVG under a hand: what is typed, clicked and pressed in
# Chromium by playwright-core, from npm's registry. What the page does by itself
# is tested by t0604.
. "${0%/*}/lib.sh"
. "$tests/npm.sh"

browser=$(command -v chromium || command -v google-chrome)
if [ -z "$browser" ]; then
  test_unable 'a graph under a hand' 'no chromium'
  test_done
fi
npm_need playwright-core@1.48.2

cat >stacks <<'END'
all.c;main;read 20
all.c;main;parse;hash 30
all.c;main;parse;copy 10
all.c;idle 40
END
vkb-flame stacks >graph.svg

cat >hands.js <<'END'
const { chromium } = require('playwright-core');
(async () => {
  const b = await chromium.launch({
    executablePath: process.argv[2], timeout: 120000,
    args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'] });
  const p = await b.newPage({ viewport: { width: 1280, height: 400 } });
  p.setDefaultTimeout(120000);
  p.on('pageerror', e => console.log('error: ' + e));
  await p.goto('file://' + process.argv[3]);
  const rect = name => p.locator('g.f', { has: p.locator('title',
    { hasText: new RegExp('^' + name + '\\n') }) }).locator('rect');
  const click = async name => {
    const r = await rect(name).boundingBox();
    await p.mouse.click(r.x + r.width / 2, r.y + r.height / 2);
  };
  const say = async (what, names) => {
    const shown = [];
    for (const n of names) {
      const r = await rect(n).isVisible() && await rect(n).boundingBox();
      shown.push(n + ' ' + (r ? Math.round(100 * r.width / 1180) : '-'));
    }
    console.log([what, ...shown].join(', '));
  };
  const matched = async what =>
    console.log(what + ' [' + await p.locator('#matched').textContent() + ']');

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
  console.log('in the box: ' + await p.locator('#search').evaluate(e => e.value));
  await p.keyboard.press('Escape');
  await p.keyboard.press('ArrowUp');
  await p.keyboard.press('ArrowUp');
  await p.keyboard.press('ArrowRight');
  await p.keyboard.press('Enter');
  await say('keys', ['idle', 'main', 'read']);
  await p.keyboard.press('r');
  await say('r', ['idle', 'main', 'read']);
  await b.close();
})().catch(e => { console.log('error: ' + e); process.exit(1); });
END
timeout 300 node hands.js "$browser" \
  "$scratch/graph.svg" >log 2>node.err </dev/null
test_same 'opened, idle 40, parse 40, hash 30
clicked, idle -, parse 100, hash 75
reset, idle 40, parse 40, hash 30
typed [matched 40.00%]
escaped []
slash, typed [matched 0.00%]
in the box: ir/
keys, idle -, main 100, read 33
r, idle 40, main 60, read 20' "$(cat log)" \
  'clicks zoom, the button resets, typing searches, keys walk'
test_done
