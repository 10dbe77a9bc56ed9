// Shared by the tests that open pages in Chromium: node hands.js BROWSER DIR.
const { chromium } = require('playwright-core');
const fs = require('fs');
const [, , executablePath, dir] = process.argv;
const log = (...a) => console.log(a.join(' '));

// A new page, which reports script errors, dialogs and requests that leave the folder.
async function open(b, what, options) {
  const p = await b.newPage(options);
  p.setDefaultTimeout(120000);
  p.on('pageerror', e => log(what, 'error:', e));
  p.on('dialog', d => { log(what, 'dialog:', d.message()); d.dismiss(); });
  p.on('request', r => r.url().startsWith('file://' + dir) ||
    r.url() === 'about:srcdoc' || log(what, 'wants', r.url()));
  return p;
}

// Reports the tables of a phone that are wider than their place, also in what is folded.
async function judgeTables(p, what) {
  const wide = await p.evaluate(() => {
    const folds = Array.from(document.querySelectorAll('details:not([open])'));
    folds.forEach(d => { d.open = true; });
    const names = Array.from(document.querySelectorAll('.scroll'))
      .filter(e => e.scrollWidth > e.clientWidth + 1).map(e => e.getAttribute('aria-label'));
    folds.forEach(d => { d.open = false; });
    return names;
  });
  for (const name of wide)
    log(what, 'has a table wider than the screen:', name);
}

// Reports a page that is too wide, and what axe-core finds outside of frames, by all its
// rules or by these. Without resultTypes axe-core makes a selector for each element in which
// it finds nothing, too.
async function judge(p, what, rules) {
  if (await p.evaluate('document.documentElement.scrollWidth > innerWidth'))
    log(what, 'is wider than the screen');
  if (await p.evaluate('innerWidth < 500'))
    await judgeTables(p, what);
  if (rules && !rules.length)
    return;
  if (!await p.evaluate('!!window.axe')) {
    await p.evaluate(fs.readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8'));
    await p.evaluate(
      'axe.configure({ rules: axe.getRules().map(r => ({ id: r.ruleId, enabled: true })) })');
  }
  const r = await p.evaluate(only => axe.run(document, { iframes: false,
    resultTypes: ['violations'], ...only }), rules ? { runOnly: rules } : {});
  for (const v of r.violations)
    log(what, v.id, v.nodes.length, v.nodes[0].html.slice(0, 200));
}

// Reports what cannot be read on paper, of a browser that is dark: what is pale, has a
// dark ground, or is wider than the paper.
async function judgePrint(p, what) {
  await p.emulateMedia({ media: 'print', colorScheme: 'dark' });
  await p.setViewportSize({ width: 718, height: 1000 }); // A4 without its margins
  await judge(p, what + ' printed', ['color-contrast']);
  for (const dark of await p.evaluate(() => Array.from(document.querySelectorAll('body, body *'))
    .filter(e => {
      const [r, g, b, alpha = 1] = getComputedStyle(e).backgroundColor.match(/[\d.]+/g);
      return e.checkVisibility() && +alpha > 0 && .2 * r + .7 * g + .1 * b < 150;
    }).map(e => e.outerHTML.slice(0, 100))))
    log(what, 'printed is dark:', dark);
  await p.emulateMedia({ media: 'screen', colorScheme: 'light' });
}

// Reports what has the focus and does not show it, of what Tab reaches first.
async function judgeFocus(p, what, most) {
  for (let i = 0; i < most; i++) {
    await p.keyboard.press('Tab');
    const bad = await p.evaluate(() => {
      const e = document.activeElement;
      return e !== document.body && getComputedStyle(e).outlineStyle === 'none' &&
        e.outerHTML.slice(0, 100);
    });
    if (bad)
      log(what, 'does not show the focus:', bad);
  }
}

// Calls work(BROWSER), and ends the browser.
async function browse(work) {
  try {
    const b = await chromium.launch({ executablePath, timeout: 120000,
      args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'] });
    await work(b);
    await b.close();
  } catch (e) {
    log('error: ' + e);
    process.exit(1);
  }
}

module.exports = { browse, dir, judge, judgeFocus, judgePrint, log, open };
