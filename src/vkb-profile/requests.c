#include "requests.h"
#include "client.h"

#include <math.h>
#include <stdlib.h>

enum { ANSWER_MS = 2000 };

double
requests_handled(struct client *c)
{
	struct reply *r = CLIENT_CALL(c, ANSWER_MS, "INFO", "stats");
	double v = r ? reply_info_number(r, "total_commands_processed") : NAN;

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
