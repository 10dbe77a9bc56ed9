#include "requests.h"
#include "client.h"
#include "num.h"

#include <math.h>
#include <stdlib.h>

enum { ANSWER_MS = 2000 };

double
requests_handled(struct client *c)
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

struct client *
requests_open(int port)
{
	struct client_address a = {.host = "127.0.0.1", .port = port};
	struct client *c = client_open(&a, ANSWER_MS);

	if (!c || !isnan(requests_handled(c)))
		return c;
	client_close(c);
	return NULL;
}
