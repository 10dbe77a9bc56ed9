// Lists the pages that have all words of the search, those with a word in their name or
// title first, and the place of the first one. words.js has the texts.
(function () {
  var input = document.getElementById("search"), found = document.getElementById("found");
  var page = document.getElementById("page");

  function escape(s) {
    return s.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/"/g, "&quot;");
  }

  function show() {
    var words = input.value.toLowerCase().split(/\s+/).filter(Boolean), rows = [];

    page.hidden = words.length > 0;
    if (words.length)
      pages.forEach(function (p) {
        var text = p[2].toLowerCase(), title = (p[0] + " " + p[1]).toLowerCase(), at, rank = 0;

        if (!words.every(function (w) { return text.includes(w) || title.includes(w); }))
          return;
        words.forEach(function (w) {
          rank += (title.includes(w) ? 1000 : 0) + Math.min(99, text.split(w).length);
        });
        at = text.indexOf(words[0]);
        rows.push([rank, "<a href=\"" + p[0] + ".html\">" + escape(p[0]) + "</a> " + escape(p[1]) +
          (at < 0 ? "" : "<p>..." + escape(p[2].slice(Math.max(0, at - 60), at)) + "<mark>" +
          escape(p[2].slice(at, at + words[0].length)) + "</mark>" +
          escape(p[2].slice(at + words[0].length, at + 140)) + "...</p>")]);
      });
    rows.sort(function (a, b) { return b[0] - a[0]; });
    found.innerHTML = !words.length ? "" : rows.length ?
      "<h1>Pages found</h1>" + rows.map(function (r) { return r[1]; }).join("\n") :
      "<h1>No page has these words</h1>";
  }

  input.addEventListener("input", show);
  if (location.hash.indexOf("#search=") === 0) {
    input.value = decodeURIComponent(location.hash.slice(8));
    show();
  }
})();
