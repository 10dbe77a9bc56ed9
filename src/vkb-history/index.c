#include "index.h"
#include "asset.h"
#include "casename.h"
#include "clock.h"
#include "html.h"
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

extern const char index_style[];
ASSET(index_style, "src/vkb-history/index.css");

static void
write_day(struct str *s, double time)
{
	char buf[CLOCK_ISO];

	str_printf(s, "%.10s", isnan(time) ? "?" : clock_iso_of(buf, time));
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

	markup_printf(
	    s, "<a href=\"" INDEX_PAGES "/%s.html\">%s</a>", e->key, name);
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
	const char *way = json_str(json_path(rec, "trend.direction"));

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
		html_text(s, commit ? commit : "?");
	markup_printf(s, "</td><td>%s</td><td>%s</td><td class=\"n %s\">", name,
	    json_get_str(rec, "metric"), way ? way : kind);
	if (isnan(ratio))
		str_add(s, "?");
	else
		str_printf(s, "%+.1f%%", 100 * (ratio - 1));
	markup_printf(s, "</td><td>%s%s</td></tr>\n", way ? "slow " : "",
	    way ? way : kind);
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
		html_table(s, "Changes", NULL,
		    "First seen|Commit|Case|Metric|>Change|Kind", NULL, 0);
	for (size_t i = 0; i < kept && i < MOST; i++)
		write_change_row(s, archive, names, v[i]);
	if (kept)
		html_table_end(s);
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
	const char *id = json_get_str(e->subject, "commit"),
		   *version = json_get_str(e->subject, "server_version");

	str_add(s, "<tr><td>");
	write_day(s, e->time);
	str_add(s, "</td><td>");
	write_page_link(s, e);
	if (url && id && strspn(id, "0123456789abcdef") == strlen(id))
		markup_printf(s, " <a href=\"%s%s\">source</a>", url, id);
	markup_printf(s,
	    "</td><td>%s</td><td>%s</td><td class=\"n\">%zu</td>"
	    "<td class=\"n\">%zu",
	    e->title ? e->title : "", version ? version : "", e->cases,
	    e->runs);
	if (e->failed)
		str_printf(s, ", <span class=\"regression\">%zu failed</span>",
		    e->failed);
	str_add(s, "</td></tr>\n");
}

void
index_page(struct str *s, const struct archive *archive,
    struct json *const *changes, size_t nchanges, const char *url)
{
	str_add(s,
	    "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
	    "<meta http-equiv=\"Content-Security-Policy\" content=\""
	    "default-src 'none'; base-uri 'none'; form-action 'none'; "
	    "style-src ");
	html_source_hash(s, index_style);
	str_printf(s,
	    "\">"
	    "<meta name=\"viewport\" content=\"width=device-width, "
	    "initial-scale=1\"><title>Benchmark history</title><style>%s"
	    "</style></head><body><main>\n<h1>Benchmark history</h1>\n<p>%zu "
	    "commit%s",
	    index_style, archive->n, num_plural((double)archive->n));
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
	str_add(s, "<h2>Commits</h2>\n");
	html_table(s, "Commits", NULL, "Date|Commit|Title|Version|>Cases|>Runs",
	    NULL, 0);
	for (size_t i = archive->n; i-- > 0;)
		write_commit_row(s, &archive->v[i], url);
	html_table_end(s);
	str_add(s, "</main></body></html>\n");
}
