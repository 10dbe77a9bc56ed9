'use strict';
/* Tables in .browse are sorted by their heads, searched and filtered by the
 * controls above them, and shown in pages. Rows begin with their name; a filter
 * of the key K keeps rows with its value among the words of data-K. A row of
 * class group is the head of its tbody, whose rows stay together; one of class
 * also stays below its row. */
(function () {
  /* What a cell is sorted by: a number, or a text in which numbers have zeros in
   * front, so that its order is that of its letters. */
  function sortKey(cell) {
    if (cell.dataset.v !== undefined)
      return +cell.dataset.v;
    return cell.textContent.toLowerCase().replace(/\d+/g, function (d) {
      return d.padStart(20, '0');
    });
  }

  function button(text, parent, act) {
    var b = document.createElement('button');
    b.type = 'button';
    b.append.apply(b, [].concat(text));
    parent.append(b);
    b.addEventListener('click', act);
    return b;
  }

  function browse(box) {
    var table = box.querySelector('table');
    var size = +box.dataset.page, from = 0;
    var find = box.querySelector('input');
    var filters = Array.from(box.querySelectorAll('select'));
    var groups = Array.from(table.tBodies).map(function (body) {
      var rows = Array.from(body.rows);
      var head = rows.length && rows[0].className === 'group' ? [rows.shift()] : [];
      return { body: body, head: head, rows: rows.filter(function (row) {
        return row.className !== 'also';
      }).map(function (row) {
        var next = row.nextElementSibling;
        return { row: row, name: row.cells[0].textContent.toLowerCase(),
          all: next && next.className === 'also' ? [row, next] : [row] };
      }) };
    });
    var pager = document.createElement('div'), shown, back, on;
    var compare; /* once the table is sorted */

    function draw() {
      var words = find ? find.value.toLowerCase().split(/\s+/) : [];
      var kept = groups.map(function (g) {
        return g.rows.filter(function (r) {
          return words.every(function (w) { return r.name.includes(w); }) &&
            filters.every(function (f) {
              return !f.value ||
                r.row.dataset[f.dataset.key].split(' ').includes(f.value);
            });
        });
      });
      var n = kept.reduce(function (sum, v) { return sum + v.length; }, 0);
      var at = 0;
      from = Math.min(from, n ? n - 1 - (n - 1) % size : 0);
      groups.forEach(function (g, i) {
        if (compare && at < from + size && at + kept[i].length > from)
          kept[i].sort(compare);
        var part = kept[i].slice(Math.max(0, from - at), Math.max(0, from + size - at));
        at += kept[i].length;
        g.body.hidden = !part.length;
        g.body.replaceChildren.apply(g.body,
          part.reduce(function (all, r) { return all.concat(r.all); }, g.head));
      });
      table.hidden = !n;
      shown.textContent = !n ? 'no row matches'
        : n > size ? from + 1 + ' to ' + Math.min(from + size, n) + ' of ' + n
        : n + (n === 1 ? ' row' : ' rows');
      pager.hidden = n <= size;
      back.disabled = !from;
      on.disabled = from + size >= n;
    }

    function turn(by) {
      from = Math.max(0, from + by);
      draw();
      box.scrollIntoView();
    }

    function sort(head, i) {
      var down = head.getAttribute('aria-sort') === 'ascending';
      Array.from(head.parentNode.cells).forEach(function (h) {
        h.removeAttribute('aria-sort');
      });
      head.setAttribute('aria-sort', down ? 'descending' : 'ascending');
      groups.forEach(function (g) {
        g.rows.forEach(function (r) { r.key = sortKey(r.row.cells[i]); });
      });
      compare = function (a, b) {
        var x = down ? b.key : a.key, y = down ? a.key : b.key;
        if (typeof x !== typeof y)
          return typeof x === 'number' ? -1 : 1;
        return x < y ? -1 : x > y ? 1 : 0;
      };
      from = 0;
      draw();
    }

    function refilter() {
      from = 0;
      draw();
    }

    Array.from(table.tHead.rows[0].cells).forEach(function (head, i) {
      if (head.textContent && !head.classList.contains('chart'))
        button(Array.from(head.childNodes), head, function () { sort(head, i); });
    });
    filters.concat(find || []).forEach(function (e) {
      e.addEventListener('input', refilter);
    });
    box.querySelectorAll('.controls').forEach(function (c) { c.hidden = false; });
    shown = document.createElement('output');
    pager.className = 'pager';
    back = button('Previous', pager, function () { turn(-size); });
    on = button('Next', pager, function () { turn(size); });
    if (find)
      box.querySelector('.controls').append(shown);
    else
      pager.append(shown);
    box.append(pager);
    draw();
  }
  /* On a narrow screen each row of a table without a style of its own is a card, whose
   * cells begin with the titles of their columns. */
  document.querySelectorAll('.scroll > table:not([class], [id])').forEach(function (table) {
    var titles = Array.from(table.tHead.rows[0].cells, function (head) {
      return head.textContent;
    });
    table.className = 'cards';
    Array.from(table.tBodies[0].rows).forEach(function (row) {
      Array.from(row.cells).forEach(function (cell, i) {
        if (i && titles[i])
          cell.dataset.head = titles[i];
      });
    });
  });
  document.querySelectorAll('.browse').forEach(browse);

  /* Opens the folds around what a link leads to. */
  function reveal() {
    var to = document.getElementById(location.hash.slice(1));
    for (var e = to; e; e = e.parentElement)
      if (e.tagName === 'DETAILS')
        e.open = true;
    if (to)
      to.scrollIntoView();
  }
  window.addEventListener('hashchange', reveal);
  reveal();
}());
