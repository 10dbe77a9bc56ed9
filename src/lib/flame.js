(function () {
'use strict';
var svg = document.querySelector('svg.vkb-flame');
var ns = 'http://www.w3.org/2000/svg', xhtml = 'http://www.w3.org/1999/xhtml';
var LETTER = 7.2, TITLE_LETTER = 9.7, LINE = 18;
var num = function (e, a) { return parseFloat(e.getAttribute(a)); };
var top = num(svg, 'data-top'), bottom = num(svg, 'data-bottom');
var row = num(svg, 'data-row'), pad = num(svg, 'data-pad');
var height = num(svg, 'height'), width = num(svg, 'width');
var upright = svg.hasAttribute('data-icicle'), icicle = upright;
var title = svg.querySelector('text.title');
var heading = title && title.textContent;
var keys = Array.from(svg.querySelectorAll('g.key'));
var open = [], deepest = 0;
var frames = Array.from(svg.querySelectorAll('svg.f')).map(function (g, i) {
  var lines = g.querySelector('title').textContent, y = num(g, 'y');
  var end = lines.indexOf('\n');
  var f = {
    g: g, t: g.querySelector('text'), i: i, last: i,
    name: lines.slice(0, end), about: lines.slice(end + 1),
    x: num(g, 'x'), w: num(g, 'width'),
    depth: Math.round((icicle ? y - top : height - bottom - row - y) / row)
  };
  deepest = Math.max(deepest, f.depth);
  open.length = f.depth;
  f.parent = f.depth ? open[f.depth - 1] : null;
  open.push(f);
  for (var p = f.parent; p; p = p.parent) p.last = i;
  return f;
});
var byGroup = new Map(frames.map(function (f) { return [f.g, f]; }));
var root = frames[0];
if (!root) return;
var zoomed = root, chosen = null, written = '';

/* --- the frames */

function label(f, w) {
  var room = Math.floor((w - 6) / LETTER), s = f.name;
  if (room < 3) s = '';
  else if (s.length > room) s = s.slice(0, room - 2) + '..';
  if (s && !f.t) {
    f.t = f.g.appendChild(document.createElementNS(ns, 'text'));
    f.t.setAttribute('x', 3);
    f.t.setAttribute('y', row - 5);
  }
  if (f.t) f.t.textContent = s;
}

function place(f, x, w) {
  f.g.setAttribute('x', x + '%');
  f.g.setAttribute('width', Math.max(w, 0) + '%');
  f.g.setAttribute('y', icicle ? top + f.depth * row :
    height - bottom - (f.depth + 1) * row);
  label(f, w / 100 * width);
}

function draw() {
  var k = root.w / zoomed.w;
  frames.forEach(function (f) {
    var inside = f.i >= zoomed.i && f.i <= zoomed.last;
    var above = f.i < zoomed.i && f.last >= zoomed.last;
    f.g.setAttribute('display', inside || above ? 'inline' : 'none');
    f.g.classList.toggle('above', above);
    if (above) place(f, root.x, root.w);
    else if (inside) place(f, root.x + (f.x - zoomed.x) * k, f.w * k);
  });
}

function measure() { return Math.ceil(bar.getBoundingClientRect().height); }

/* Arranges what is above the frames for the width of the window. */
function layout() {
  var x = pad, y = title ? 30 : 0, most;
  width = svg.getBoundingClientRect().width;
  reset.hidden = zoomed === root;
  if (title) {
    most = Math.floor((width - 2 * pad) / TITLE_LETTER);
    title.textContent = heading.length <= most ? heading :
      heading.slice(0, Math.max(most - 2, 0)) + '..';
  }
  box.setAttribute('y', y);
  box.setAttribute('height', measure());
  y += measure();
  keys.forEach(function (key) {
    var w = num(key, 'data-width');
    if (x > pad && x + w > width - pad) {
      x = pad;
      y += LINE;
    }
    key.setAttribute('transform', 'translate(' + x + ' ' + y + ')');
    x += w + 2 * LETTER;
  });
  top = y + (keys.length ? LINE + 4 : 0);
  height = top + (deepest + 1) * row + bottom;
  svg.setAttribute('height', height);
  draw();
}

function zoom(f) {
  zoomed = f;
  layout();
  save(true);
}

function choose(f) {
  if (chosen) chosen.g.classList.remove('chosen');
  chosen = f;
  if (f) f.g.classList.add('chosen');
  tell(f);
}

function tell(f) {
  f = f || zoomed;
  details.firstChild.textContent = f.name;
  details.lastChild.textContent = ': ' + f.about;
}

function search(term) {
  var test = null, sum = 0, n = 0, until = -1;
  if (term) try {
    var re = new RegExp(term);
    test = function (s) { return re.test(s); };
  } catch (e) {
    test = function (s) { return s.indexOf(term) >= 0; };
  }
  frames.forEach(function (f) {
    var hit = test !== null && f.i > 0 && test(f.name);
    f.g.classList.toggle('hit', hit);
    n += hit;
    if (hit && f.i > until) {
      sum += f.w;
      until = f.last;
    }
  });
  share.textContent = !test ? '' : !n ? 'no match' :
    (100 * sum / root.w).toFixed(2) + '% in ' + n +
    (n === 1 ? ' match' : ' matches');
  if (measure() !== num(box, 'height')) layout();
}

function invert() {
  icicle = !icicle;
  draw();
  save();
}

/* --- the state, which is in the URL after '#' */

function path(f) {
  return f.parent ? path(f.parent).concat(f.name) : [];
}

function find(names) {
  return names.reduce(function (up, name) {
    return up && frames.slice(up.i + 1, up.last + 1).find(function (f) {
      return f.parent === up && f.name === name;
    });
  }, root);
}

/* Within another page, the state is sent to that page, which may set it. An entry
 * of the browser's history is made only if 'push' is set. */
function save(push) {
  var s = new URLSearchParams();
  if (zoomed !== root) s.set('zoom', path(zoomed).join(';'));
  if (input.value) s.set('search', input.value);
  if (icicle !== upright) s.set('inverted', 'yes');
  s = s.toString();
  if (s === written) return;
  written = s;
  if (location.protocol !== 'about:') { /* else the text of another page */
    if (push) location.hash = s;
    else location.replace(location.href.split('#')[0] + '#' + s);
  }
  if (window.parent !== window) window.parent.postMessage({ flame: s }, '*');
}

function restore(text) {
  var s = new URLSearchParams(text), to = s.get('zoom');
  written = s.toString();
  zoomed = to && find(to.split(';')) || root;
  icicle = s.has('inverted') ? !upright : upright;
  input.value = s.get('search') || '';
  search(input.value);
  choose(null);
  layout();
}

/* A link to another state, or a step in the browser's history. */
function follow() {
  if (new URLSearchParams(location.hash.slice(1)).toString() === written) return;
  restore(location.hash.slice(1));
  svg.scrollIntoView({ block: 'nearest' });
}

/* --- what is above the frames */

function add(to, tag, values, text) {
  var e = document.createElementNS(xhtml, tag);
  Object.keys(values).forEach(function (k) { e.setAttribute(k, values[k]); });
  e.textContent = text || '';
  return to.appendChild(e);
}

var box = document.createElementNS(ns, 'foreignObject');
box.setAttribute('width', '100%');
box.setAttribute('height', 100);
svg.insertBefore(box, root.g);
var bar = add(box, 'div', { class: 'bar' });
var input = add(bar, 'input', { id: 'search', type: 'search',
  placeholder: 'Search (/)', 'aria-label': 'search functions, by regular expression' });
var share = add(bar, 'span', { id: 'matched', role: 'status' });
add(bar, 'button', { id: 'invert', type: 'button' }, 'Upside down')
  .addEventListener('click', invert);
var reset = add(bar, 'button', { id: 'reset', type: 'button' }, 'Reset zoom');
reset.addEventListener('click', function () { zoom(root); });
var details = add(bar, 'p', { id: 'details' });
add(details, 'b', {});
add(details, 'span', {});
input.addEventListener('input', function () {
  search(input.value);
  save();
});

/* --- mouse and keys */

function frame(e) {
  var g = e.target.closest ? e.target.closest('svg.f') : null;
  return g && byGroup.get(g) || null;
}

function sibling(f, step) {
  for (var i = f.i + step; frames[i] && i > 0; i += step) {
    if (frames[i].parent === f.parent) return frames[i];
    if (frames[i].depth < f.depth) break;
  }
  return f;
}

svg.addEventListener('click', function (e) {
  var f = frame(e);
  if (!f) return;
  choose(f);
  zoom(f);
});
svg.addEventListener('mouseover', function (e) { tell(frame(e) || chosen); });

document.addEventListener('keydown', function (e) {
  var f = chosen || zoomed, to = null, child;
  if (e.ctrlKey || e.altKey || e.metaKey) return;
  if (e.key === 'Escape') {
    input.value = '';
    input.blur();
    search('');
    choose(null);
    zoom(root);
    return;
  }
  if (e.target.closest && e.target.closest('input, button, a, summary')) return;
  child = f.last > f.i ? frames[f.i + 1] : f;
  if (e.key === '/') {
    e.preventDefault();
    input.focus();
    return;
  }
  if (e.key === 'i') return invert();
  if (e.key === 'r') return zoom(root);
  if (e.key === 'Enter') return zoom(f);
  if (e.key === 'ArrowUp') to = icicle ? f.parent || f : child;
  if (e.key === 'ArrowDown') to = icicle ? child : f.parent || f;
  if (e.key === 'ArrowLeft') to = sibling(f, -1);
  if (e.key === 'ArrowRight') to = sibling(f, 1);
  if (!to) return;
  e.preventDefault();
  choose(to);
  if (to.i < zoomed.i || to.i > zoomed.last) zoom(to);
});
window.addEventListener('hashchange', follow);
window.addEventListener('resize', layout);
window.addEventListener('message', function (e) {
  if (e.source === window.parent && e.data && typeof e.data.flame === 'string')
    restore(e.data.flame);
});
svg.setAttribute('width', '100%');
restore(location.hash.slice(1));
}());
