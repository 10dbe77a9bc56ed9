#include "report.h"
#include "brief.h"
#include "json.h"
#include "num.h"
#include "str.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

size_t
report_count_missing(const struct comparison *c)
{
	size_t n = c->unmatched[0];

	for (size_t i = 0; i < c->one_sided_count; i++)
		n += c->one_sided[i].side == 0 && !c->one_sided[i].optional;
	return n;
}

static void
capitalise_at(struct str *s, size_t at)
{
	if (at < s->len)
		s->s[at] = (char)toupper((unsigned char)s->s[at]);
}

static const char *
find_changed_canary(const struct comparison *c)
{
	const struct json *j = json_first(json_get(c->record, "canary"));
	static const char *const texts[] = {
	    "not to be relied on: a canary changed",
	    "not to be relied on: a canary was not measured"};

	for (size_t i = 0; i < c->ncanaries; i++)
		if (!c->canaries[i].ok)
			return texts[c->canaries[i].verdict ==
			    VERDICT_INSUFFICIENT];
	for (; j; j = json_next(j))
		if (!json_get_bool(j, "ok", true))
			return texts[strcmp(json_get_str(j, "verdict")
					     ? json_get_str(j, "verdict")
					     : "",
					 verdict_name(VERDICT_INSUFFICIENT)) ==
			    0];
	return NULL;
}

void
report_caution(struct str *s, const struct comparison *c)
{
	const char *canary = find_changed_canary(c);
	size_t at = s->len;
	struct str same = {0};

	str_add(s, canary ? canary : "");
	capitalise_at(s, at);
	str_add(s, canary ? "." : "");
	report_same_server(&same, c);
	capitalise_at(&same, 0);
	if (same.len)
		str_printf(s, "%s%s", canary ? " " : "", same.s);
	str_free(&same);
}

void
report_outlook(struct str *s, const struct comparison *c)
{
	const char *recorded = json_get_str(c->record, "outlook");

	if (c->record) {
		str_add(s, recorded ? recorded : "");
		return;
	}
	report_advice(s, c);
	if (c->failed_runs > 0)
		str_printf(s, "%s%.0f run%s of the contender failed",
		    s->len ? "; " : "", c->failed_runs,
		    num_plural(c->failed_runs));
	if (report_count_missing(c))
		str_printf(s, "%sthe contender lacks %zu case%s or metric%s",
		    s->len ? "; " : "", report_count_missing(c),
		    num_plural((double)report_count_missing(c)),
		    num_plural((double)report_count_missing(c)));
	if (c->on_likely)
		str_printf(s, "%slikely regressions %s (--on-likely %s)",
		    s->len ? "; " : "",
		    strcmp(c->on_likely, "fail") == 0 ? "fail the job"
						      : "do not fail the job",
		    c->on_likely);
}

/* Adds a sentence, which the text begins without a capital and ends without a
 * full stop, or nothing. */
static void
add_sentence(struct str *s, struct str *text)
{
	capitalise_at(text, 0);
	if (text->len)
		str_printf(s, "%s%s.", s->len ? " " : "", text->s);
	str_clear(text);
}

void
report_headline(struct str *s, const struct comparison *c)
{
	const char *canary = find_changed_canary(c);
	struct brief b;
	struct str t = {0};

	if (c->record) {
		str_add(s, json_get_str(c->record, "headline"));
		return;
	}
	report_same_server(&t, c);
	add_sentence(s, &t);
	str_add(&t, canary ? canary : "");
	add_sentence(s, &t);
	b = brief_collect(c);
	str_add(s, s->len ? " " : "");
	brief_add_summary(s, &b);
	free(b.v);
	report_outlook(&t, c);
	add_sentence(s, &t);
	str_free(&t);
}
