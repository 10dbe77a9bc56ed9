#include "sessions.h"
#include "mem.h"
#include "metric.h"
#include "intern.h"
#include "json.h"

#include <math.h>
#include <stdlib.h>

#define CASE_SD .01  /* as the standard deviation of ln(value) */
#define ASSUMED_DF 3 /* degrees of freedom: known only roughly */

enum { MEMORY = SESSIONS_VIRTUAL + 1, RATIO, RARE, ASSUMPTIONS };

static const struct {
	double sd;
	const char *what;
} assumptions[ASSUMPTIONS] = {
    [SESSIONS_BARE] = {.01, "bare metal"},
    [SESSIONS_VIRTUAL] = {.03, "virtual machine"},
    [SESSIONS_ANY] = {.02, "perhaps a virtual machine"},
    [MEMORY] = {.002, "memory"}, /* what grows with the number of keys */
    [RATIO] = {.015, "ratios to a reference"}, /* of the same block */
    [RARE] = {.7, "the slowest requests"},
};

struct sessions {
	struct intern *sessions, *hosts;
	size_t *host; /* of each session */
	size_t n, cap;
	uint32_t *rank; /* of each host; NULL: not computed */
};

struct sessions *
sessions_new(void)
{
	struct sessions *p = mem_new(sizeof *p);

	p->sessions = intern_new();
	p->hosts = intern_new();
	intern_id(p->hosts, ""); /* an unknown host has number 0 */
	return p;
}

void
sessions_free(struct sessions *p)
{
	if (!p)
		return;
	intern_free(p->sessions);
	intern_free(p->hosts);
	free(p->host);
	free(p->rank);
	free(p);
}

uint32_t
sessions_add(
    struct sessions *p, const char *session, size_t n, const char *host)
{
	size_t id, at;

	if (!session)
		return SESSIONS_UNKNOWN;
	id = intern_idn(p->sessions, session, n);
	at = intern_id(p->hosts, host ? host : "");
	if (id == p->n) {
		*MEM_ADD(p->host, p->n, p->cap) = at;
		free(p->rank);
		p->rank = NULL;
	} else if (p->host[id] != at) {
		p->host[id] = 0;
	}
	return (uint32_t)id;
}

const char *
sessions_session(const struct sessions *p, uint32_t id)
{
	return intern_text(p->sessions, id);
}

uint32_t *
sessions_order(const struct sessions *p)
{
	return intern_rank(p->sessions);
}

size_t
sessions_machine(struct sessions *p, uint32_t id)
{
	if (!p->rank)
		p->rank = intern_rank(p->hosts);
	return p->rank[p->host[id]];
}

enum sessions_host
sessions_see(enum sessions_host so_far, const struct json *env)
{
	const struct json *v = json_get(env, "virtual");

	if (so_far == SESSIONS_VIRTUAL || json_bool(v, false))
		return SESSIONS_VIRTUAL;
	return json_bool(v, true) ? SESSIONS_ANY : so_far; /* not a boolean */
}

double
sessions_case_sd(const struct metric *m, double sd)
{
	return m && m->rare_margin > 0 ? sd : fmin(CASE_SD, sd);
}

struct model_prior
sessions_assume(
    const struct metric *m, enum sessions_host host, const char **of)
{
	int a = !m               ? (int)host
	    : m->grows           ? MEMORY
	    : m->instead_of      ? RATIO
	    : m->rare_margin > 0 ? RARE
				 : (int)host;

	if (of)
		*of = assumptions[a].what;
	return (struct model_prior){assumptions[a].sd,
	    sessions_case_sd(m, assumptions[a].sd), ASSUMED_DF, 0, 0};
}
