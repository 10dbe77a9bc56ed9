(function () {
'use strict';
var svg = document.currentScript && document.currentScript.ownerSVGElement ||
  document.documentElement;
var ns = 'http://www.w3.org/2000/svg';
var num = function (e, a) { return parseFloat(e.getAttribute(a)); };
var width = num(svg, 'width'), height = num(svg, 'height');
var top = num(svg, 'data-top'), bottom = num(svg, 'data-bottom');
var row = num(svg, 'data-row'), icicle = svg.hasAttribute('data-icicle');
var pad = num(svg, 'data-pad');
var open = [];
var frames = Array.from(svg.querySelectorAll('g.f')).map(function (g, i) {
  var r = g.querySelector('rect'), lines = g.querySelector('title').textContent;
  var y = num(r, 'y');
  var f = {
    g: g, r: r, t: g.querySelector('text'), i: i, fill: r.getAttribute('fill'),
    name: lines.slice(0, lines.indexOf('\n')), all: lines.replace('\n', ': '),
    x: num(r, 'x'), w: num(r, 'width'), last: i,
    depth: Math.round((icicle ? y - top : height - bottom - row - y) / row)
  };
  open.length = f.depth;
  f.parent = f.depth ? open[f.depth - 1] : null;
  open.push(f);
  for (var p = f.parent; p; p = p.parent) p.last = i;
  return f;
});
var byGroup = new Map(frames.map(function (f) { return [f.g, f]; }));
var root = frames[0];
if (!root) return;
var zoomed = root, chosen = null;

function label(f, w) {
  var room = Math.floor((w - 6) / 7.2), s = f.name;
  if (room < 3) s = '';
  else if (s.length > room) s = s.slice(0, room - 2) + '..';
  if (f.t) f.t.textContent = s;
  else if (s) {
    f.t = document.createElementNS(ns, 'text');
    f.t.textContent = s;
    f.g.appendChild(f.t);
  }
}

function place(f, x, w) {
  var y = icicle ? top + f.depth * row : height - bottom - (f.depth + 1) * row;
  f.r.setAttribute('x', x);
  f.r.setAttribute('width', Math.max(w, 0));
  f.r.setAttribute('y', y);
  label(f, w);
  if (f.t) {
    f.t.setAttribute('x', x + 3);
    f.t.setAttribute('y', y + row - 5);
  }
}

function draw() {
  var k = root.w / zoomed.w, up = zoomed.parent;
  frames.forEach(function (f) {
    var inside = f.i >= zoomed.i && f.i <= zoomed.last;
    var above = f.i < zoomed.i && f.last >= zoomed.last;
    f.g.setAttribute('display', inside || above ? 'inline' : 'none');
    f.g.setAttribute('opacity', above ? '0.55' : '1');
    if (above) place(f, root.x, root.w);
    else if (inside) place(f, root.x + (f.x - zoomed.x) * k, f.w * k);
  });
  reset.setAttribute('visibility', up ? 'visible' : 'hidden');
}

function zoom(f) {
  zoomed = f;
  draw();
}

function choose(f) {
  if (chosen) chosen.r.removeAttribute('stroke');
  chosen = f;
  if (f) f.r.setAttribute('stroke', '#000');
  tell(f);
}

function tell(f) {
  details.textContent = f ? f.all : '';
}

function search(term) {
  var test = null, sum = 0, until = -1;
  if (term) try {
    var re = new RegExp(term);
    test = function (s) { return re.test(s); };
  } catch (e) {
    test = function (s) { return s.indexOf(term) >= 0; };
  }
  frames.forEach(function (f) {
    var hit = test !== null && test(f.name);
    f.r.setAttribute('fill', hit ? '#e600e6' : f.fill);
    if (hit && f.i > until) {
      sum += f.w;
      until = f.last;
    }
  });
  share.textContent = test ?
    'matched ' + (100 * sum / root.w).toFixed(2) + '%' : '';
}

function text(id, x, y, anchor, s) {
  var t = document.createElementNS(ns, 'text');
  t.setAttribute('id', id);
  t.setAttribute('class', 'ink');
  t.setAttribute('x', x);
  t.setAttribute('y', y);
  t.setAttribute('text-anchor', anchor);
  t.textContent = s;
  svg.appendChild(t);
  return t;
}

function button(id, x, anchor, s, act) {
  var t = text(id, x, 20, anchor, s);
  t.setAttribute('class', 'ink button');
  t.setAttribute('role', 'button');
  t.setAttribute('tabindex', '0');
  t.addEventListener('click', act);
  t.addEventListener('keydown', function (e) {
    if (e.key === 'Enter' || e.key === ' ') {
      e.preventDefault();
      e.stopPropagation();
      act();
    }
  });
  return t;
}

var details = text('details', pad, height - 8, 'start', '');
var share = text('matched', width - pad, height - 8, 'end', '');
var reset = button('reset', pad, 'start', 'Reset zoom',
  function () { zoom(root); });
button('invert', pad + 90, 'start', 'Invert', invert);

var box = document.createElementNS(ns, 'foreignObject');
var input = document.createElementNS('http://www.w3.org/1999/xhtml', 'input');
box.setAttribute('x', width - pad - 160);
box.setAttribute('y', 5);
box.setAttribute('width', 160);
box.setAttribute('height', 24);
input.setAttribute('id', 'search');
input.setAttribute('type', 'search');
input.setAttribute('size', '14');
input.setAttribute('placeholder', 'Search (/)');
input.setAttribute('aria-label', 'search functions, by regular expression');
input.addEventListener('input', function () { search(input.value); });
box.appendChild(input);
svg.appendChild(box);

function invert() {
  icicle = !icicle;
  draw();
}

function frame(e) {
  var g = e.target.closest ? e.target.closest('g.f') : null;
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
  if (e.target === input) return;
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
reset.setAttribute('visibility', 'hidden');
}());
