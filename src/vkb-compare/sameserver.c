#include "sameserver.h"
#include "intern.h"
#include "json.h"
#include "judge.h"
#include "markup.h"
#include "mem.h"
#include "report.h"
#include "str.h"

#include <math.h>
#include <stdlib.h>

#define ROUNDING 1e-9 /* standard deviation of what is not noise */

enum { LONGEST = 100 }; /* bytes of a name */

/* Have both subjects this value, or neither? */
static bool
is_same_value(const struct comparison *c, const char *key)
{
	return json_equal(
	    json_get(c->subject[0], key), json_get(c->subject[1], key));
}

/* Are the files of the server and its module the same, by their SHA-256? What a
 * script starts is not known: it may use other files. */
static bool
is_same_server(const struct comparison *c)
{
	for (size_t i = 0; i < c->npairs; i++)
		if (c->pairs[i].note) /* their configurations may differ */
			return false;
	return json_get(c->subject[0], "binary_sha256") &&
	    is_same_value(c, "binary_sha256") &&
	    !json_get(c->subject[0], "script_sha256") &&
	    !json_get(c->subject[1], "script_sha256") &&
	    is_same_value(c, "module_sha256");
}

/* A value that differs by the same factor in all rounds is not noise, nor is an
 * exact count. */
bool
sameserver_is_unchanged(const struct comparison *c, const struct row *r)
{
	return r->facts.paired && !r->exact && !r->common &&
	    r->model.noise[0].var > ROUNDING * ROUNDING && !c->ndifferences &&
	    is_same_server(c);
}

/* Adds ": rps differs by up to 4.2%", with each primary metric. */
static void
add_size_of_noise(struct str *s, const struct comparison *c)
{
	struct intern *names = intern_new();
	double *most = mem_array(c->nrows + 1, sizeof *most);

	for (size_t i = 0; i < c->nrows; i++) {
		const struct row *r = &c->rows[i];
		size_t k;

		if (!r->primary || r->common || r->exact ||
		    isnan(r->facts.ratio))
			continue;
		k = intern_id(names, r->name);
		most[k] = fmax(most[k], fabs(r->facts.ratio - 1));
	}
	for (size_t k = 0; k < intern_count(names); k++) {
		str_add(s, k ? ", " : ": ");
		markup_cut(s, intern_text(names, k), LONGEST);
		str_printf(s, " differs by up to %.1f%%", 100 * most[k]);
	}
	free(most);
	intern_free(names);
}

/* Did the sides take turns in all rows that are not counted? Where values are
 * missing, few rounds may be left: they are turns, too. */
static bool
has_turns(const struct comparison *c)
{
	for (size_t i = 0; i < c->nrows; i++)
		if (!c->rows[i].facts.paired && !c->rows[i].model.rounds &&
		    !c->rows[i].exact && !c->rows[i].common)
			return false;
	return true;
}

void
report_same_server(struct str *s, const struct comparison *c)
{
	const char *recorded = json_get_str(c->record, "same_server");

	str_add(s, recorded ? recorded : "");
	if (c->record || !is_same_server(c))
		return;
	str_printf(s,
	    "both sides are the same server%s, so differences in time are ",
	    json_get(c->subject[0], "module_sha256") ? " and module" : "");
	str_add(s,
	    c->ndifferences    ? "noise or come from the environment, which "
				 "differs too"
		: has_turns(c) ? "this machine's noise"
			       : "noise or come from what changed between the "
				 "measurements");
	add_size_of_noise(s, c);
}
