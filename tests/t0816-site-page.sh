#!/bin/sh
# The site of vkb-history in a browser, at three widths, light and dark: mouse, keyboard,
# links and search, and the findings of axe-core.
. "${0%/*}/lib.sh"
. "$tests/npm.sh"

browser_need playwright-core@1.48.2 axe-core@4.10.2

perl "$tests/planted.pl" >planted
# release VERSION COMMIT FACTOR: prints the runs of a release, which is a commit behind this
# one of the branch, with its throughput multiplied by FACTOR
release() {
  jq -c --arg version "$1" --arg commit "$2" --argjson factor "$3" '
    (.subject.commit // .commit) as $own | select($own | startswith($commit)) |
    ("8" + $own[1:]) as $new |
    if .type == "commit" then .commit = $new | .parents = [$own] | .title = "Release \($version)"
    else .subject.commit = $new | .subject.ref = $version | .metrics.rps *= $factor end' planted
}
release 8.0.1 9e3779b1 1 >releases
release 8.1.0-rc1 daa66d13 .9 >>releases
vkb-history -q add results planted releases
test_that 'a site of 60 commits and 24 cases is accepted' vkb-history site results site
test_match '^vkb-history: 63 pages made' .err 'each commit has a page'
ends=$(sed -n 's/^slow regression from \([0-9a-f]*\) .* to \([0-9a-f]*\) .*/from \1 to \2/p' site/changes.txt)
test_match '^from [0-9a-f]{8} to [0-9a-f]{8}$' "$(echo "$ends" >ends; echo ends)" 'a slow regression has two ends'
test_same "$ends" "$(sed -n 's/.*from <a[^>]*>\([0-9a-f]*\)<.*<br>to <a[^>]*>\([0-9a-f]*\)<.*/from \1 to \2/p' site/index.html)" \
  'the page has the ends that vkb-detect reports'

cat >hands.js <<'END'
const { browse, dir, judge, log, open } = require('browser');

// Texts of a chart that cover each other, or leave the window.
const covered = p => p.evaluate(() => {
  let bad = 0;
  document.querySelectorAll('[data-values]').forEach(chart => {
    const v = Array.from(chart.querySelectorAll('text')).map(t => t.getBoundingClientRect());
    v.forEach((a, i) => {
      if (a.left < 0 || a.right > innerWidth) bad++;
      v.slice(i + 1).forEach(b => {
        if (a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom)
          bad++;
      });
    });
  });
  return bad;
});

browse(async b => {
  const p = await open(b, 'index');
  const openIndex = async (width, colorScheme) => {
    await p.setViewportSize({ width, height: 900 });
    await p.emulateMedia({ colorScheme });
    await p.goto('file://' + dir + '/index.html');
  };
  // All rules once, and those of contrast in the other light, as in t0802.
  for (const [width, scheme, rules] of [[400, 'dark'], [800, 'light', ['color-contrast']], [1280, 'dark', []]]) {
    await openIndex(width, scheme);
    await judge(p, 'index ' + width, rules);
    log(width, 'texts that cover each other:', await covered(p));
    await p.locator('#others summary').first().click();
    await judge(p, 'index with all changes ' + width, rules);
  }

  await openIndex(1280, 'light');
  const text = async s => (await p.locator(s).innerText()).replace(/\s+/g, ' ').trim();
  log(await text('.verdict'));
  log('charts:', await p.locator('.cases > figure').count());
  log('first cases:', (await p.locator('figcaption b').allTextContents()).slice(0, 3).join(', '));

  // The pointer and the keyboard.
  const chart = p.locator('figure', { has: p.locator('b', { hasText: /^HSET P10 16B$/ }) })
    .locator('[data-values]').first();
  const columns = chart.locator('use');
  await chart.scrollIntoViewIfNeeded();
  const box = await columns.boundingBox();
  await p.mouse.move(box.x + box.width * 40.5 / 60, box.y + 50);
  log('hover:', await text('#tip'));
  await p.mouse.move(box.x + box.width / 2, box.y - 60);
  log('left:', await p.locator('#tip').isVisible());
  await chart.focus();
  await p.keyboard.press('End');
  await p.keyboard.press('ArrowLeft');
  log('keys:', await text('#tip'));
  await p.keyboard.press('Escape');
  log('escaped:', await p.locator('#tip').isVisible());
  await p.keyboard.press('Home');
  await p.keyboard.press('ArrowRight');
  await p.keyboard.press('Enter');
  await p.waitForURL(/commit/);
  log('page:', await text('h1'));
  await p.locator('a[rel=next]').click();
  log('next:', await text('h1'));
  await p.locator('a[rel=prev]').click();
  log('previous:', await text('h1'));
  await judge(p, 'commit');
  await p.getByRole('link', { name: 'History', exact: true }).click();
  log('back:', await text('h1'));
  await chart.scrollIntoViewIfNeeded();
  const again = await columns.boundingBox();
  await p.mouse.click(again.x + again.width * 40.5 / 60, again.y + 50);
  await p.waitForURL(/commit/);
  log('clicked:', await text('h1'), '|', await text('nav p'));
  await p.locator('nav p a').first().click();
  log('change:', await p.locator('tr:target .size').innerText());

  // Links, search, and the table of commits.
  await p.locator('tr:target .series a').first().click();
  log('case:', await p.locator('figure:target b').innerText());
  await p.locator('#find-case').fill('hset 256');
  log('found:', await p.locator('.cases > figure:visible b').allTextContents(), '|',
    await text('#found-cases'));
  await p.locator('#find-case').fill('nothing');
  log('found:', await text('#found-cases'));
  const rows = p.locator('.browse tbody tr');
  log('commits:', await rows.count());
  await p.locator('.browse input').fill('leak');
  log('commits of a title:', await rows.count());
  await p.locator('.browse input').fill('');
  await p.locator('.browse select').selectOption('changed');
  log('with changes:', await rows.count());
  // Any two commits.
  const compare = async () => (await p.locator('#compared tbody tr').allInnerTexts())
    .map(t => t.replace(/\s+/g, ' ').trim());
  log('facts:', (await text('main > .quiet')).replace(/made on [0-9-]{10}/, 'made on a day'));
  await p.locator('#compare > summary').click();
  log('compared:', (await compare()).length, '|', await text('#compared code'));
  log('releases:', (await p.locator('#before optgroup[label=Releases] option').allTextContents()).join(', '));
  for (const [id, release] of [['#before', '8.0.1,'], ['#after', '8.1.0-rc1,']])
    await p.locator(id).selectOption(await p.locator(id + ' option', { hasText: release }).getAttribute('value'));
  log('of releases:', (await compare()).slice(0, 2).join(' | '), '|', await text('#compared code'));
  for (const width of [400, 1280]) {
    await p.setViewportSize({ width, height: 900 });
    await judge(p, 'two commits ' + width);
  }
  await p.locator('.browse select').selectOption('');
  log('marked:', (await p.locator('.browse .release').allInnerTexts()).join(', '));
  await p.emulateMedia({ media: 'print' });
  log('printed:', await p.locator('.controls:visible').count(), 'controls');
  await p.close();

  const q = await b.newPage({ javaScriptEnabled: false });
  await q.goto('file://' + dir + '/index.html');
  log('without scripts:', await q.locator('.cases > figure:visible').count(), 'charts,',
    await q.locator('.browse tbody tr:visible').count(), 'commits,',
    await q.locator('#columns title').count(), 'titles,',
    await q.locator('.controls:visible').count(), 'controls');
});
END
run_hands hands.js "$scratch/site"
cat >want <<'END'
400 texts that cover each other: 0
800 texts that cover each other: 0
1280 texts that cover each other: 0
1 open regression, 1 slow regression, 1 reverted regression, 2 improvements, 1 spike that went away.
charts: 24
first cases: HSET P1 16B, HSET P10 16B, HSET P10 256B
hover: 930K req/s, 2026-03-07 56e27d59 Refactor the event loop, part II: timers & files (#41)
left: false
keys: 924K req/s, 2026-04-05 76c90bcb Refactor the event loop, part II: timers & files (#59)
escaped: false
page: 3c6ef362 Embed the key in the dict entry (#2)
next: daa66d13 Revert "Prefetch the hash table" (#3)
previous: 3c6ef362 Embed the key in the dict entry (#2)
back: Benchmark history
clicked: 56e27d59 Refactor the event loop, part II: timers & files (#41) | regression up to -7.3% in 9 cases
change: -7.3%
case: LPUSH P1 16B
found: HSET P10 256B | 1 of 24 cases
found: 0 of 24 cases
commits: 62
commits of a title: 10
with changes: 6
facts: Project valkey-io/valkey. 62 commits, 24 cases, 2026-01-02 to 2026-04-07. Page made on a day. All cases: 50 clients, 10 s.
compared: 72 | vkb-compare 76c90bcb0000000000000000000000000000003b.jsonl 1500857c0000000000000000000000000000003c.jsonl
releases: 8.1.0-rc1, 2026-01-05 8aa66d13 Release 8.1.0-rc1, 8.0.1, 2026-01-02 8e3779b1 Release 8.0.1
of releases: LPUSH P10 16B throughput 1.22M req/s 1.08M req/s -11.6% | SADD P10 16B throughput 996K req/s 882K req/s -11.4% | vkb-compare 8e3779b100000000000000000000000000000001.jsonl 8aa66d1300000000000000000000000000000003.jsonl
marked: 8.1.0-rc1, 8.0.1
printed: 0 controls
without scripts: 24 charts, 62 commits, 60 titles, 0 controls
END
test_same "$(cat want)" "$(cat log)" \
  'charts, keys, links and search work; axe-core finds nothing; nothing is fetched'
sed 's/^/# /' node.err
test_done
