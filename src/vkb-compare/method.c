#include "report.h"
#include "apart.h"
#include "json.h"
#include "judge.h"
#include "num.h"
#include "sessions.h"
#include "str.h"

#include <math.h>
#include <string.h>

/* Returns the margin as given, in percent: "+10%" is stored as 1 - 1/1.1. */
static double
margin_percent(const struct row *r)
{
	return 100 *
	    (r->margin_sign == '+' ? r->margin / (1 - r->margin) : r->margin);
}

/* Writes " +10%", or " 2 to 5%" if the margins of the cases differ. */
static void
write_margin(struct str *s, const struct comparison *c, const char *name)
{
	double least = INFINITY, most = 0;
	char sign[2] = "", *first = NULL;

	for (size_t k = 0; k < c->nrows; k++) {
		const struct row *r = &c->rows[k];

		if (strcmp(r->name, name) != 0)
			continue;
		least = fmin(least, margin_percent(r));
		most = fmax(most, margin_percent(r));
		if (!first)
			*(first = sign) = r->margin_sign;
		else if (*sign != r->margin_sign)
			*sign = '\0';
	}
	if (most - least > 1e-9)
		str_printf(s, " %s%.3g to", sign, least);
	str_printf(s, " %s%.3g%%", sign, most);
}

static void
write_margins(struct str *s, const struct comparison *c)
{
	for (size_t i = 0; i < c->noverall; i++) {
		str_add(s, i ? ", " : " Margins: ");
		str_visible(s, c->overall[i].name);
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
		    c->rows[i].shared > most)
			most = c->rows[i].shared;
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
report_sessions(struct str *s, double sd, const char *from)
{
	if (strcmp(from, "default") == 0)
		str_printf(s, "allowing %.3g%% between sessions (%s)", 100 * sd,
		    sd == SESSIONS_SD_VIRTUAL      ? "virtual machine"
			: sd == SESSIONS_SD_MEMORY ? "memory"
						   : "bare metal");
	else
		str_printf(s, "which differ by %.3g%% according to the %s",
		    100 * sd, from);
}

static bool
are_sessions_measured(const struct comparison *c)
{
	for (size_t i = 0; i < c->nrows; i++)
		if (c->rows[i].sessions[0] >= APART_SESSIONS &&
		    strcmp(c->rows[i].facts.method, "t-sessions") == 0)
			return !c->session_from;
	return false;
}

/* How a row is tested. */
enum test { MODERATED, STUDENT, RANKS, CONSTANT, UNTESTED, TESTS };

static enum test
find_test(const struct row *r)
{
	const struct verdict_facts *f = &r->facts;

	if (judge_family(r) == FAMILIES)
		return UNTESTED;
	if (strcmp(f->method, "exact") == 0)
		return CONSTANT;
	if (f->p_min != 0)
		return RANKS;
	return strcmp(f->method, "moderated-t") == 0 || f->prior.df > 0
	    ? MODERATED
	    : STUDENT;
}

/* Writes "rank tests", or "3 of 4 results by rank tests, 1 without a test" if
 * not all judged results have the same. */
static void
write_tests(struct str *s, const struct comparison *c)
{
	static const char moderated[] =
	    "t tests of logarithms, with variances "
	    "moderated over the results of a metric";
	static const char *const names[TESTS] = {moderated,
	    "t tests of logarithms", "rank tests", "a test of constant values",
	    "no test"};
	static const char *const parts[TESTS] = {
	    "by moderated t tests of logarithms", "by t tests of logarithms",
	    "by rank tests", "by a test of constant values", "without a test"};
	size_t n[TESTS] = {0}, rows = 0;
	bool any = false;

	for (size_t i = 0; i < c->nrows; i++)
		if (c->rows[i].gate && !c->rows[i].common) {
			n[find_test(&c->rows[i])]++;
			rows++;
		}
	for (enum test k = 0; k < TESTS; k++) {
		if (!n[k])
			continue;
		if (n[k] == rows) {
			str_printf(s, "; %s", names[k]);
			return;
		}
		str_printf(s, any ? ", %zu " : "; %zu ", n[k]);
		if (!any)
			str_printf(s, "of %zu results ", rows);
		str_add(s, parts[k]);
		any = true;
	}
}

static void
write_session_noise(struct str *s, const struct comparison *c)
{
	if (c->session_from) {
		str_add(s, "; intervals allow for different sessions, ");
		report_sessions(s, c->session_sd, c->session_from);
	} else if (are_sessions_measured(c)) {
		str_printf(s,
		    "; intervals allow for the effect of sessions, measured "
		    "in %zu of them",
		    c->sessions[0]);
	}
}

static void
write_correction(
    struct str *s, const struct comparison *c, const struct rules *r)
{
	size_t first = c->tests[FAMILY_PRIMARY], other = c->tests[FAMILY_OTHER];
	enum test_family only = first ? FAMILY_PRIMARY : FAMILY_OTHER;

	if (!c->tests[only])
		return;
	str_printf(s, "; p-values corrected for %zu test%s%s (%s, level %g)",
	    c->tests[only], num_plural(c->tests[only]),
	    first && other ? " of primary metrics" : "",
	    r->strict ? "Holm" : "Benjamini-Hochberg", c->alpha[only]);
	if (first && other)
		str_printf(s, " and %zu of others (level %g)", other,
		    c->alpha[FAMILY_OTHER]);
	if (c->tests[FAMILY_COMMON])
		str_printf(s, " and %zu of all cases together (level %g)",
		    c->tests[FAMILY_COMMON], c->alpha[FAMILY_COMMON]);
}

void
report_method(struct str *s, const struct comparison *c, const struct rules *r)
{
	size_t rows = c->waived, looked = 0, held = 0;

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
	write_tests(s, c);
	write_session_noise(s, c);
	write_correction(s, c, r);
	str_addc(s, '.');
	if (c->unnamed_sessions)
		str_add(s,
		    " No sessions recorded: all runs count as one session, and "
		    "the effect of sessions is not allowed for.");
	write_margins(s, c);
	for (size_t i = 0; i < c->nrows; i++)
		looked += c->rows[i].level < JUDGE_ALPHA;
	if (looked)
		str_printf(s,
		    " %zu result%s of adaptive runs: p and intervals allow for "
		    "all looks.",
		    looked, num_plural(looked));
	for (size_t i = 0; i < c->ncanaries; i++)
		held += c->canaries[i].ok;
	if (c->ncanaries)
		str_printf(s, " Canaries: %zu of %zu result%s unchanged.", held,
		    c->ncanaries, num_plural(c->ncanaries));
}
