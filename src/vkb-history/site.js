/* The charts: the commit and the value under the pointer, or the arrow keys. A
 * click, or Enter, opens the page of the commit. */
(function () {
  var tip = document.getElementById('tip');
  var columns = Array.from(document.querySelectorAll('#columns rect'));
  var commits = columns.map(function (rect) {
    var title = rect.querySelector('title');
    title.remove(); /* the browser would show it as well */
    return { page: 'commit/' + rect.dataset.page + '.html', text: title.textContent };
  });
  var shown = null, at = -1, line = null;

  function place(chart) { /* of its columns on the screen */
    return chart.querySelector('use').getBoundingClientRect();
  }

  function hide() {
    tip.hidden = true;
    if (line) line.remove();
    shown = null;
  }

  function show(chart, k) {
    var values = chart.dataset.values.split(' ');
    var box = place(chart), x, y;
    if (!chart.parentNode || k < 0 || k >= commits.length) return;
    if (line) line.remove();
    line = document.createElementNS(chart.namespaceURI, 'path');
    line.setAttribute('class', 'here');
    line.setAttribute('d', 'M' + (k + .5) + ' 0V1');
    chart.querySelector('svg').prepend(line);
    shown = chart;
    at = k;
    tip.textContent = (values[k] === '-' ? 'not measured' :
      values[k] + ' ' + chart.dataset.unit) + ', ' + commits[k].text;
    tip.hidden = false;
    x = box.left + (k + .5) / commits.length * box.width - tip.offsetWidth / 2;
    y = chart.getBoundingClientRect().bottom + 4;
    if (y + tip.offsetHeight > innerHeight) y = box.top - tip.offsetHeight;
    tip.style.left = Math.max(4, Math.min(x, innerWidth - tip.offsetWidth - 4)) + 'px';
    tip.style.top = Math.max(0, y) + 'px';
  }

  function find(chart, e) {
    var box = place(chart);
    return Math.floor((e.clientX - box.left) / box.width * commits.length);
  }

  document.querySelectorAll('[data-values]').forEach(function (chart) {
    chart.setAttribute('tabindex', 0);
    chart.addEventListener('pointermove', function (e) { show(chart, find(chart, e)); });
    chart.addEventListener('pointerleave', hide);
    chart.addEventListener('blur', hide);
    chart.addEventListener('click', function (e) {
      show(chart, find(chart, e));
      if (shown) location.href = commits[at].page;
    });
    chart.addEventListener('keydown', function (e) {
      var last = commits.length - 1, k = shown === chart ? at : last + 1;
      if (e.key === 'Escape') return hide();
      if (e.key === 'Enter' && shown) location.href = commits[at].page;
      if (e.key === 'ArrowLeft') k--;
      else if (e.key === 'ArrowRight') k++;
      else if (e.key === 'Home') k = 0;
      else if (e.key === 'End') k = last;
      else return;
      e.preventDefault();
      show(chart, Math.max(0, Math.min(k, last)));
    });
  });
  window.addEventListener('scroll', hide, { passive: true });

  /* Two commits: their medians, those that changed most first. */
  var compare = document.getElementById('compare');

  function human(v) { /* as the texts of the charts */
    var size = Math.abs(v), by = 1, unit = '';
    [[1e3, 'K'], [1e6, 'M'], [1e9, 'G'], [1e12, 'T']].forEach(function (step) {
      if (size >= step[0] * .9995) {
        by = step[0];
        unit = step[1];
      }
    });
    size /= by;
    if (size > 0 && size < .0995 && !unit) return v.toPrecision(3);
    return (v / by).toFixed(size >= 99.95 ? unit ? 0 : 1 : size >= 9.995 ? 1 : unit ? 2 : 3) + unit;
  }

  function element(parent, tag, text, className) {
    var e = document.createElement(tag);
    e.textContent = text;
    if (className) e.className = className;
    parent.append(e);
    return e;
  }

  function changed() {
    var ends = ['before', 'after'].map(function (id) { return document.getElementById(id); });
    var to = document.getElementById('compared'), table, body;
    var titles = ['Case', 'Metric', 'Before', 'After', 'Change'];
    var rows = Array.from(compare.querySelectorAll('li')).map(function (li) {
      var all = li.dataset.values.split(' ');
      var v = ends.map(function (e) { return all[e.value] === '-' ? NaN : +all[e.value]; });
      return { of: li.dataset, v: v, ratio: v[1] / v[0] };
    }).filter(function (r) { return !isNaN(r.v[0]) && !isNaN(r.v[1]); });
    rows.sort(function (a, b) {
      return Math.abs(Math.log(b.ratio)) - Math.abs(Math.log(a.ratio)) || 0;
    });
    to.replaceChildren();
    if (ends[0].value === ends[1].value) {
      element(to, 'p', 'Choose two different commits.');
      return;
    }
    if (!rows.length) {
      element(to, 'p', 'These two have no case of one machine in common.');
      return;
    }
    var note = element(to, 'p', 'Medians, without a verdict: two sessions differ ' +
      'even without a change. To judge them, run this in the folder of the history: ', 'quiet');
    element(note, 'code', 'vkb-compare ' + ends.map(function (e) {
      return e.selectedOptions[0].dataset.file;
    }).join(' '));
    table = element(element(to, 'div', '', 'scroll'), 'table', '', 'cards');
    body = element(element(table, 'thead', ''), 'tr', '');
    titles.forEach(function (t, i) {
      element(body, 'th', t, i > 1 ? 'n' : '').scope = 'col';
    });
    body = element(table, 'tbody', '');
    rows.forEach(function (r) {
      var row = element(body, 'tr', '');
      var size = 100 * (r.ratio - 1), unit = r.of.unit && ' ' + r.of.unit;
      element(row, 'th', r.of.case).scope = 'row';
      [r.of.metric + (r.of.machine && ' on ' + r.of.machine), human(r.v[0]) + unit,
        human(r.v[1]) + unit, isFinite(size) ? (size < 0 ? '' : '+') + size.toFixed(1) + '%' : '-'
      ].forEach(function (text, i) {
        element(row, 'td', text, i ? 'n' : '').dataset.head = titles[i + 1];
      });
    });
  }
  if (compare) {
    var before = document.getElementById('before'), after = document.getElementById('after');
    after.append.apply(after, Array.from(before.children, function (e) { return e.cloneNode(true); }));
    after.value = Math.max.apply(null, Array.from(after.options, function (o) { return +o.value; }));
    before.value = Math.max(0, after.value - 1);
    [before, after].forEach(function (e) { e.addEventListener('change', changed); });
    compare.addEventListener('toggle', changed);
    compare.hidden = false;
  }

  var field = document.getElementById('find-case');
  var figures = Array.from(document.querySelectorAll('.cases figure'));
  function filter() {
    var words = field.value.toLowerCase().split(/\s+/), n = 0;
    figures.forEach(function (f) {
      var name = f.querySelector('b').textContent.toLowerCase();
      f.hidden = !words.every(function (w) { return name.includes(w); });
      n += !f.hidden;
    });
    document.getElementById('found-cases').textContent =
      n + ' of ' + figures.length + (figures.length === 1 ? ' case' : ' cases');
  }
  if (field) {
    field.closest('.controls').hidden = false;
    field.addEventListener('input', filter);
    filter();
  }
}());
