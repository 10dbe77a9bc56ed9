/* Subjects are hidden and shown by their boxes in the legend. */
document.querySelectorAll('[data-subject]').forEach(function (box) {
  box.hidden = false;
  box.addEventListener('change', function () {
    document.body.classList.toggle('hide' + box.dataset.subject, !box.checked);
  });
});

/* A flame graph in a frame tells its state; it is in the URL: #flame-1?STATE. */
(function () {
  var graphs = Array.from(document.querySelectorAll('iframe[id]')), written = '';

  function restore() {
    var part = location.hash.slice(1).split('?'), state = part.slice(1).join('?');
    var graph = graphs.find(function (g) { return g.id === part[0]; });
    if (!graph || location.hash === written) return;
    written = location.hash;
    function tell() { graph.contentWindow.postMessage({ flame: state }, '*'); }
    for (var e = graph; e; e = e.parentElement)
      if (e.tagName === 'DETAILS') e.open = true;
    graph.addEventListener('load', tell, { once: true });
    tell();
    graph.scrollIntoView();
  }
  window.addEventListener('message', function (e) {
    var graph = graphs.find(function (g) { return g.contentWindow === e.source; });
    if (!graph || !e.data || typeof e.data.flame !== 'string') return;
    written = '#' + graph.id + '?' + e.data.flame;
    location.replace(location.href.split('#')[0] + written);
  });
  window.addEventListener('hashchange', restore);
  restore();
}());
