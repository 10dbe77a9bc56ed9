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
