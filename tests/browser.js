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

// Reports what axe-core finds outside of frames, and a page that is too wide. Without
// resultTypes axe-core makes a selector for each element in which it finds nothing, too.
async function judge(p, what) {
  await p.evaluate(fs.readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8'));
  const r = await p.evaluate(
    "axe.run(document, { iframes: false, resultTypes: ['violations'] })");
  for (const v of r.violations)
    log(what, v.id, v.nodes.length, v.nodes[0].html.slice(0, 200));
  if (await p.evaluate('document.documentElement.scrollWidth > innerWidth'))
    log(what, 'is wider than the screen');
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

module.exports = { browse, dir, judge, log, open };
