#!/bin/sh
# slow: the page of vkb-report as a browser shows it, at three widths, light and
# dark: its controls under a hand and on a keyboard, and what axe-core says.
. "${0%/*}/lib.sh"
. "$tests/npm.sh"

browser=$(command -v chromium || command -v google-chrome)
if [ -z "$browser" ]; then
  test_skip 'in a browser' chromium
  test_done
fi
npm_need playwright-core@1.48.2 axe-core@4.10.2

a=$tests/data/a.jsonl
b=$tests/data/b.jsonl
vkb-compare -f jsonl "$a" "$b" >changes
printf '%s\n' 'all;main;read 20' 'all;idle 40' >stacks
vkb-flame stacks >flame.svg
{
  printf '{"type":"profile","v":1,"case":"GET","mode":"cpu","target":{"comm":"valkey-server"},"probed":{},"started":"2026-01-01T00:00:00Z","duration_s":1,"artifacts":{"svg":"flame.svg"},"per_req":{"cycles_per_req":1234},"status":"ok"}\n'
  printf '{"type":"env","v":1,"time":"2026-01-01T00:00:00Z","env":{"arch":"x86_64"},"now":{"load1":0.5}}\n'
  printf '{"type":"run","v":1,"subject":{"ref":"my-branch"},"config":{"command":"<b>L</b>"},"run":{},"status":"failed","error":"<script>alert(1)</script>"}\n'
} >others
vkb-report -o page.html changes "$a" "$b" others
for i in 1 2 3 4 5 6 7 8 9 10 11 12; do
  for k in 1 2 3; do
    printf '{"type":"run","v":1,"subject":{"commit":"c0000%02d","time":"2026-01-%02dT00:00:00Z","repository":"valkey-io/valkey"},"config":{"command":"SET","pipeline":%d},"run":{"index":%d},"metrics":{"rps":%d},"series":{"at_s":[1,2,3],"rps":[1,2,%d]},"status":"ok"}\n' \
      "$i" "$i" $((1 + i % 2 * 9)) "$k" $((100000 - (i > 6) * 9000 + i * k % 7 * 100)) "$k"
  done
done >history
vkb-detect -f jsonl history >found
vkb-report -o past.html history found

cat >hands.js <<'END'
const { chromium } = require('playwright-core');
const axe = require('fs').readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');
const [, , browser, dir] = process.argv;
const log = (...a) => console.log(a.join(' '));

async function judged(p, what) {
  await p.evaluate(axe);
  const r = await p.evaluate('axe.run(document, { iframes: false })');
  for (const v of r.violations)
    log(what, v.id, v.nodes.length, v.nodes[0].html.slice(0, 200));
  if (await p.evaluate('document.documentElement.scrollWidth > innerWidth'))
    log(what, 'is wider than the screen');
}

async function controls(p) {
  const rows = p.locator('#rows tbody tr');
  const seen = async () => {
    const all = await rows.evaluateAll(v => v.filter(r => r.offsetParent)
      .map(r => r.cells[0].firstChild.textContent + ' ' +
        r.cells[1].textContent));
    return all.length + ': ' + all.slice(0, 3).join(', ');
  };
  log('opened', await seen());
  await p.locator('#find').click();
  await p.keyboard.type('inc');
  log('typed', await seen(), '|', await p.locator('#shown').textContent(),
    '|', await p.locator('.case:visible').count(), 'case');
  await p.locator('#find').fill('');
  await p.locator('#metric').selectOption('rps');
  log('rps', await seen());
  await p.locator('#which').selectOption('regression');
  log('worse', await seen());
  await p.locator('#which').selectOption('');
  await p.locator('#metric').selectOption('');
  const head = p.locator('#rows thead button', { hasText: 'case' });
  await head.focus();
  await p.keyboard.press('Enter');
  log('sorted', await seen(), '|', await p.locator('th[aria-sort]').getAttribute('aria-sort'));
  await p.keyboard.press('Enter');
  log('turned', await seen(), '|', await p.locator('th[aria-sort]').getAttribute('aria-sort'));
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
  await third.locator('summary').first().click();
  log('closed', await third.evaluate(d => d.open));
  await p.locator('#rows a[href="#case-3"]').first().click();
  await p.waitForFunction('document.getElementById("case-3").open');
  log('the link opens', await third.evaluate(d => d.open));
}

(async () => {
  const b = await chromium.launch({ executablePath: browser, timeout: 120000,
    args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'] });
  for (const [width, colorScheme] of [[400, 'dark'], [800, 'light'], [1280, 'dark']])
    for (const name of ['page', 'past']) {
      const what = name + ' ' + width + ' ' + colorScheme;
      const p = await b.newPage({ viewport: { width, height: 900 }, colorScheme });
      p.setDefaultTimeout(120000);
      p.on('pageerror', e => log(what, 'error:', e));
      p.on('dialog', d => { log(what, 'dialog:', d.message()); d.dismiss(); });
      p.on('request', r => r.url().startsWith('file://' + dir) ||
        r.url() === 'about:srcdoc' || log(what, 'wants', r.url()));
      await p.goto('file://' + dir + '/' + name + '.html');
      await judged(p, what);
      if (name === 'page' && width !== 800) {
        log('-- ' + width);
        await controls(p);
        await judged(p, what + ' afterwards');
      }
      await p.close();
    }
  const p = await b.newPage({ javaScriptEnabled: false });
  p.setDefaultTimeout(120000);
  await p.goto('file://' + dir + '/page.html');
  log('without a script', await p.locator('#rows tbody tr:visible').count(),
    'rows', await p.locator('.controls:visible, input:visible').count(), 'controls');
  await p.emulateMedia({ media: 'print' });
  log('printed', await p.locator('nav:visible').count(), 'links');
  await b.close();
})().catch(e => { log('error: ' + e); process.exit(1); });
END
timeout 600 node hands.js "$browser" "$scratch" >log 2>node.err </dev/null
cat >want <<'END'
opened 9: SET p99_latency_ms, SET rps, SET p50_latency_ms
typed 3: INCR p50_latency_ms, INCR rps, INCR p99_latency_ms | 3 of 9 rows | 1 case
rps 3: SET rps, INCR rps, GET rps
worse 1: SET rps
sorted 9: GET rps, GET p50_latency_ms, GET p99_latency_ms | ascending
turned 9: SET p99_latency_ms, SET rps, SET p50_latency_ms | descending
by change 9: SET rps, INCR p50_latency_ms, INCR p99_latency_ms
dots 24 24
hidden 24 0
shown 24 24
closed false
the link opens true
END
test_same "$(echo '-- 400'; cat want; echo '-- 1280'; cat want
  echo 'without a script 9 rows 0 controls'; echo 'printed 0 links')" \
  "$(cat log)" \
  'find, choose, sort, hide and follow; axe-core finds nothing; nothing is wanted'
sed 's/^/# /' node.err
test_done
