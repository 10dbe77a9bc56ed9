#include "report.h"
#include "json.h"
#include "judge.h"
#include "num.h"
#include "sessions.h"
#include "str.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

/* Returns the margin as given, in percent: "+10%" is stored as 1 - 1/1.1. */
static double
margin_percent(const struct row *r)
{
	return 100 *
	    (r->margin_sign == '+' ? r->margin / (1 - r->margin) : r->margin);
}

/* Writes " +10%", " 2 to 5%" if the margins of the cases differ, or of slow
 * requests " 1.5x". */
static void
write_margin(struct str *s, const struct comparison *c, const char *name)
{
	double least = INFINITY, most = 0, rare = 0;
	char sign[2] = "", *first = NULL;

	for (size_t k = 0; k < c->nrows; k++) {
		const struct row *r = &c->rows[k];

		if (strcmp(r->name, name) != 0)
			continue;
		if (r->rare) {
			rare = 1 / (1 - r->margin);
			continue;
		}
		least = fmin(least, margin_percent(r));
		most = fmax(most, margin_percent(r));
		if (!first)
			*(first = sign) = r->margin_sign;
		else if (*sign != r->margin_sign)
			*sign = '\0';
	}
	if (most - least > 1e-9)
		str_printf(s, " %s%.3g to", sign, least);
	if (first)
		str_printf(s, " %s%.3g%%", sign, most);
	if (rare > 0)
		str_printf(s, "%s %.3gx", first ? " or" : "", rare);
}

static void
write_margins(struct str *s, const struct comparison *c)
{
	for (size_t i = 0; i < c->noverall; i++) {
		str_add(s, i ? ", " : " Margins: ");
		report_label(s, c->overall[i].name);
		write_margin(s, c, c->overall[i].name);
	}
	if (c->noverall)
		str_addc(s, '.');
}

/* Returns the most rounds that the sides of a judged unpaired row share. */
static size_t
find_shared_rounds(const struct comparison *c)
{
	size_t most = 0;

	for (size_t i = 0; i < c->nrows; i++)
		if (c->rows[i].gate && !c->rows[i].facts.paired &&
		    c->rows[i].model->rounds > most)
			most = c->rows[i].model->rounds;
	return most;
}

static void
write_pairing(struct str *s, const struct comparison *c, size_t rows)
{
	size_t most = find_shared_rounds(c);

	if (c->paired == rows && rows)
		str_add(s, "Paired by round");
	else if (c->paired)
		str_printf(
		    s, "%zu of %zu results paired by round", c->paired, rows);
	else
		str_add(s,
		    most ? "Not paired: "
			 : "Not paired: the sides did not run in the same "
			   "rounds");
	if (most)
		str_printf(s,
		    "%sthe sides share only %zu round%s, too few to pair them",
		    c->paired ? "; where not, " : "", most, num_plural(most));
}

void
report_sessions(struct str *s, const struct metric_facts *of)
{
	bool assumed = strcmp(of->from, "default") == 0;
	double sd = of->prior.session_sd / (assumed ? 1 : of->prior.sizes);

	str_add(s, assumed ? "allowing " : "which differ by ");
	if (sd > .5)
		str_printf(s, "a factor of %.2g", exp(sd));
	else
		str_printf(s, "%.3g%%", 100 * sd);
	str_printf(s,
	    assumed ? " between sessions (%s)" : " according to the %s",
	    assumed ? of->assumed : of->from);
}

static void
write_session_noise(struct str *s, const struct comparison *c)
{
	if (!c->sessions[0])
		return;
	str_add(s, "; intervals allow for different sessions, ");
	if (c->assumed)
		report_sessions(s, c->assumed);
	else
		str_printf(s, "whose differences were measured in %zu of them",
		    c->sessions[0]);
}

static void
write_claims(struct str *s, const struct comparison *c, const struct rules *r)
{
	if (c->claims < 2)
		return;
	str_printf(s, "; %zu results were judged together, so that %s",
	    c->claims,
	    r->strict ? "it is unlikely that a claimed change is false"
		      : "few of the claimed changes are false");
}

void
report_method(struct str *s, const struct comparison *c, const struct rules *r)
{
	size_t rows = c->waived, held = 0;
	struct str t = {0};

	for (size_t i = 0; i < VERDICTS; i++)
		rows += c->count[i];
	if (c->record) {
		str_add(s, json_get_str(c->record, "method"));
		return;
	}
	if (!c->nrows) {
		str_add(s, "Nothing was compared.");
		return;
	}
	write_pairing(s, c, rows);
	write_session_noise(s, c);
	write_claims(s, c, r);
	str_addc(s, '.');
	if (c->unnamed_sessions)
		str_add(s,
		    " No sessions recorded: each side counts as one of its "
		    "own.");
	if (c->one_by_one)
		str_add(s,
		    " Not interleaved: each side of a session counts as one "
		    "of its own.");
	reference_describe(&t, c);
	if (t.len)
		str_printf(s, " %c%s", toupper((unsigned char)*t.s), t.s + 1);
	str_free(&t);
	write_margins(s, c);
	for (size_t i = 0; i < c->ncanaries; i++)
		held += c->canaries[i].ok;
	if (c->ncanaries)
		str_printf(s, " Canaries: %zu of %zu result%s unchanged.", held,
		    c->ncanaries, num_plural(c->ncanaries));
}
