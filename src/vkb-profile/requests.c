#include "requests.h"
#include "client.h"
#include "mem.h"
#include "num.h"

#include <math.h>
#include <stdlib.h>

enum { ANSWER_MS = 2000 };

struct requests {
	struct client *client;
	double first, last;
};

static double
read_handled(struct client *c)
{
	struct reply *r = CLIENT_CALL(c, ANSWER_MS, "INFO", "stats");
	char *s = r ? reply_info(r, "total_commands_processed") : NULL;
	double v = NAN;

	if (s && num_real(s, &v) < 0)
		v = NAN;
	free(s);
	reply_free(r);
	return v;
}

struct requests *
requests_open(int port)
{
	struct client_address a = {.host = "127.0.0.1", .port = port};
	struct requests *q;
	struct client *c = client_open(&a, ANSWER_MS);

	if (!c)
		return NULL;
	q = mem_new(sizeof *q);
	q->client = c;
	q->first = q->last = NAN;
	if (!isnan(read_handled(c)))
		return q;
	requests_close(q);
	return NULL;
}

void
requests_close(struct requests *q)
{
	if (!q)
		return;
	client_close(q->client);
	free(q);
}

void
requests_begin(struct requests *q)
{
	q->first = read_handled(q->client);
}

void
requests_end(struct requests *q)
{
	q->last = read_handled(q->client);
}

double
requests_count(const struct requests *q)
{
	/* The second INFO counts the first one too. */
	return q->last - q->first - 1;
}
