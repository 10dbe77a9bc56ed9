#include "index.h"
#include "casename.h"
#include "clock.h"
#include "json.h"
#include "markup.h"
#include "mem.h"
#include "num.h"
#include "record.h"
#include "archive.h"
#include "str.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MOST 100 /* changes in the list */

/* A test checks style_hash, the SHA-256 of this text. */
static const char page_style[] =
    ":root{color-scheme:light dark;--ink:#1d2026;--page:#fff;--link:#0b57a4;"
    "--line:#8886;--bad:#b3261e;--good:#1b6e3c}"
    "@media(prefers-color-scheme:dark){:root{--ink:#e4e6ea;--page:#16181d;"
    "--link:#8ab8f5;--bad:#ff8a80;--good:#7fd6a2}}"
    "body{background:var(--page);color:var(--ink);font:16px/1.5 system-ui,"
    "sans-serif;margin:0 auto;max-width:70rem;padding:1rem}"
    "a{color:var(--link)}"
    ".wide{overflow-x:auto}"
    "table{border-collapse:collapse;width:100%}"
    "th,td{border-bottom:1px solid var(--line);padding:.3rem .6rem;"
    "text-align:left;vertical-align:top}"
    ".n{text-align:right;font-variant-numeric:tabular-nums}"
    ".regression{color:var(--bad)}.improvement{color:var(--good)}";
static const char style_hash[] = "UUC+hj+wBSinGTa3gkSxsUZVCq8gVLloaMBH1WLjtKk=";

static void
write_escaped(struct str *s, const char *value)
{
	if (value)
		markup_xml(s, value);
}

static void
write_day(struct str *s, double time)
{
	char buf[CLOCK_ISO];

	if (isnan(time))
		str_add(s, "?");
	else
		str_printf(s, "%.10s", clock_iso_of(buf, time));
}

static const struct archive_entry *
find_entry(const struct archive *archive, const char *commit)
{
	for (size_t i = archive->n; commit && i-- > 0;) {
		const char *id = json_get_str(archive->v[i].subject, "commit");

		if (id && strcmp(id, commit) == 0)
			return &archive->v[i];
	}
	return NULL;
}

/* Keys need no escapes: archive_read takes plain file names only. */
static void
write_page_link(struct str *s, const struct archive_entry *e)
{
	char *name = record_subject_title(e->subject);

	str_printf(s, "<a href=\"" INDEX_PAGES "/%s.html\">", e->key);
	write_escaped(s, name);
	str_add(s, "</a>");
	free(name);
}

static void
write_change_row(struct str *s, const struct archive *archive,
    const struct casename *names, const struct json *rec)
{
	const char *kind = json_get_str(rec, "kind"),
		   *commit = json_get_str(rec, "commit"),
		   *seen = json_get_str(rec, "first_seen");
	const struct archive_entry *e = find_entry(archive, commit);
	char *name = casename_of(names, json_get(rec, "config"));
	double ratio = json_get_num(rec, "ratio", NAN);

	str_add(s, "<tr><td>");
	str_printf(s, "%.10s",
	    seen && str_utf8(seen, strlen(seen)) &&
		    strspn(seen, "0123456789-") >= 10
		? seen
		: "?");
	str_add(s, "</td><td>");
	if (e)
		write_page_link(s, e);
	else
		write_escaped(s, commit ? commit : "?");
	str_add(s, "</td><td>");
	write_escaped(s, name);
	str_add(s, "</td><td>");
	write_escaped(s, json_get_str(rec, "metric"));
	str_add(s, "</td><td class=\"n ");
	write_escaped(s, kind);
	str_add(s, "\">");
	if (isnan(ratio))
		str_add(s, "?");
	else
		str_printf(s, "%+.1f%%", 100 * (ratio - 1));
	str_add(s, "</td><td>");
	write_escaped(s, kind);
	str_add(s, "</td></tr>\n");
	free(name);
}

static int
compare_by_index(const void *a, const void *b)
{
	const struct json *x = *(struct json *const *)a,
			  *y = *(struct json *const *)b;
	double i = json_get_num(x, "index", 0), k = json_get_num(y, "index", 0);

	return (i < k) - (i > k);
}

static void
write_changes(struct str *s, const struct archive *archive,
    struct json *const *changes, size_t n)
{
	struct json **v = mem_array(n + 1, sizeof *v);
	struct casename *names;
	size_t kept = 0, spikes;

	for (size_t i = 0; i < n; i++) {
		const char *kind = json_get_str(changes[i], "kind");

		if (kind && strcmp(kind, "spike") != 0)
			v[kept++] = changes[i];
	}
	names = casename_new(
	    (const struct json *const *)archive->configs, archive->nconfigs);
	qsort(v, kept, sizeof *v, compare_by_index);
	str_add(s, "<h2>Changes</h2>\n");
	spikes = n - kept;
	if (!kept)
		str_add(s, "<p>No case changed its level for good.</p>\n");
	if (spikes)
		str_printf(s,
		    "<p>%zu spike%s that went away %s in the <a "
		    "href=\"" INDEX_TRENDS "\">trends</a>.</p>\n",
		    spikes, num_plural((double)spikes),
		    spikes == 1 ? "is" : "are");
	if (kept)
		str_add(s,
		    "<div class=\"wide\" tabindex=\"0\" role=\"region\" "
		    "aria-label=\"Changes\"><table><thead><tr><th "
		    "scope=\"col\">First "
		    "seen</th><th scope=\"col\">Commit</th><th "
		    "scope=\"col\">Case</th><th scope=\"col\">Metric</th>"
		    "<th scope=\"col\" class=\"n\">Change</th><th "
		    "scope=\"col\">Kind</th></tr></thead>"
		    "<tbody>\n");
	for (size_t i = 0; i < kept && i < MOST; i++)
		write_change_row(s, archive, names, v[i]);
	if (kept)
		str_add(s, "</tbody></table></div>\n");
	if (kept > MOST)
		str_printf(s,
		    "<p>And %zu older ones, in the <a href=\"" INDEX_TRENDS
		    "\">trends</a>.</p>\n",
		    kept - MOST);
	casename_free(names);
	free(v);
}

static void
write_commit_row(struct str *s, const struct archive_entry *e, const char *url)
{
	const char *id = json_get_str(e->subject, "commit");

	str_add(s, "<tr><td>");
	write_day(s, e->time);
	str_add(s, "</td><td>");
	write_page_link(s, e);
	if (url && id && strspn(id, "0123456789abcdef") == strlen(id)) {
		str_add(s, " <a href=\"");
		write_escaped(s, url);
		write_escaped(s, id);
		str_add(s, "\">source</a>");
	}
	str_add(s, "</td><td>");
	write_escaped(s, e->title);
	str_add(s, "</td><td>");
	write_escaped(s, json_get_str(e->subject, "server_version"));
	str_printf(s, "</td><td class=\"n\">%zu</td><td class=\"n\">%zu",
	    e->cases, e->runs);
	if (e->failed)
		str_printf(s, ", <span class=\"regression\">%zu failed</span>",
		    e->failed);
	str_add(s, "</td></tr>\n");
}

void
index_page(struct str *s, const struct archive *archive,
    struct json *const *changes, size_t nchanges, const char *url)
{
	str_printf(s,
	    "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
	    "<meta http-equiv=\"Content-Security-Policy\" content=\""
	    "default-src 'none'; style-src 'sha256-%s'; base-uri 'none'; "
	    "form-action 'none'\">"
	    "<meta name=\"viewport\" content=\"width=device-width, "
	    "initial-scale=1\"><title>Benchmark history</title><style>%s"
	    "</style></head><body><main>\n<h1>Benchmark history</h1>\n<p>%zu "
	    "commit%s",
	    style_hash, page_style, archive->n, num_plural((double)archive->n));
	if (archive->n) {
		str_printf(s, ", %zu case%s, ", archive->nconfigs,
		    num_plural((double)archive->nconfigs));
		write_day(s, archive->v[0].time);
		str_add(s, " to ");
		write_day(s, archive->v[archive->n - 1].time);
		str_add(s, ". <a href=\"" INDEX_TRENDS "\">Trends</a>");
	}
	str_add(s, ".</p>\n");
	write_changes(s, archive, changes, nchanges);
	str_add(s,
	    "<h2>Commits</h2>\n<div class=\"wide\" tabindex=\"0\" "
	    "role=\"region\" aria-label=\"Commits\"><table><thead><tr>"
	    "<th scope=\"col\">Date</th><th scope=\"col\">Commit</th><th "
	    "scope=\"col\">Title</th><th scope=\"col\">Version</th>"
	    "<th scope=\"col\" class=\"n\">Cases</th><th scope=\"col\" "
	    "class=\"n\">Runs</th></tr></thead>"
	    "<tbody>\n");
	for (size_t i = archive->n; i-- > 0;)
		write_commit_row(s, &archive->v[i], url);
	str_add(s, "</tbody></table></div>\n</main></body></html>\n");
}
