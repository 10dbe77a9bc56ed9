'use strict';
(function () {
  var find = document.getElementById('find');
  var metric = document.getElementById('metric');
  var which = document.getElementById('which');
  var shown = document.getElementById('shown');
  var table = document.getElementById('rows');
  var rows = table ? Array.from(table.tBodies[0].rows) : [];

  document.querySelectorAll('[data-subject]').forEach(function (box) {
    box.hidden = false;
    box.addEventListener('change', function () {
      document.body.classList.toggle('hide' + box.dataset.subject, !box.checked);
    });
  });

  function filter() {
    var words = find.value.toLowerCase().split(/\s+/), n = 0;
    rows.forEach(function (row) {
      var name = row.cells[0].firstChild.textContent.toLowerCase();
      var on = words.every(function (w) { return name.includes(w); }) &&
        (!metric.value || row.cells[1].textContent === metric.value) &&
        (!which.value || row.classList.contains(which.value));
      row.hidden = !on;
      n += on;
    });
    document.querySelectorAll('.case').forEach(function (c) {
      var name = c.querySelector('h3').textContent.toLowerCase();
      c.hidden = !words.every(function (w) { return name.includes(w); });
    });
    shown.textContent = n + ' of ' + rows.length + ' rows';
  }

  function key(row, i) {
    var cell = row.cells[i];
    return cell.dataset.v === undefined ?
      cell.firstChild.textContent : +cell.dataset.v;
  }

  function sort(head, i) {
    var down = head.getAttribute('aria-sort') === 'ascending';
    Array.from(head.parentNode.cells).forEach(function (h) {
      h.removeAttribute('aria-sort');
    });
    head.setAttribute('aria-sort', down ? 'descending' : 'ascending');
    rows.sort(function (a, b) {
      var x = key(a, i), y = key(b, i);
      var c = typeof x === 'number' ? x - y :
        x.localeCompare(y, 'en', { numeric: true });
      return down ? -c : c;
    });
    table.tBodies[0].append.apply(table.tBodies[0], rows);
  }

  if (table) {
    document.querySelector('.controls').hidden = false;
    [find, metric, which].forEach(function (e) {
      e.addEventListener('input', filter);
    });
    Array.from(table.tHead.rows[0].cells).forEach(function (head, i) {
      var button = document.createElement('button');
      if (head.classList.contains('chart')) return;
      button.type = 'button';
      button.append.apply(button, Array.from(head.childNodes));
      head.append(button);
      button.addEventListener('click', function () { sort(head, i); });
    });
    filter();
  }

  function reveal() {
    var to = document.getElementById(location.hash.slice(1));
    if (to && to.tagName === 'DETAILS') {
      to.hidden = false;
      to.open = true;
      to.scrollIntoView();
    }
  }
  window.addEventListener('hashchange', reveal);
  reveal();

  window.addEventListener('beforeprint', function () {
    document.querySelectorAll('details').forEach(function (d) { d.open = true; });
  });
}());
