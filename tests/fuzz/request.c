/* Options that others ask for, from foreign bytes. */
#include "opt.h"
#include "sink.h"
#include "str.h"
#include "vkb-load/plan/request.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct opts {
	const char *tests, *cluster, *secret;
	struct opt_list commands, sets;
	long long runs;
	double duration;
};

#define FIELD(f) offsetof(struct opts, f)
static const struct opt table[] = {
    {'t', "tests", OPT_STR, FIELD(tests), "LIST", .help = "tests"},
    {0, "command", OPT_LIST, FIELD(commands), "TEXT", .help = "commands"},
    {'o', "output", OPT_STR, FIELD(secret), "FILE", .help = "not for others"},
    {0, "runs", OPT_INT, FIELD(runs), "N", .min = 1, .max = 1024,
	.help = "runs"},
    {0, "set", OPT_LIST, FIELD(sets), "KEY=VALUE", .help = "keys"},
    {0, "duration", OPT_DURATION, FIELD(duration), "TIME", .min = .001,
	.max = 1e7, .help = "seconds"},
    {0, "cluster-mode", OPT_CHOICE, FIELD(cluster), "BOOL",
	.choices = "false|true", .help = "a cluster"},
    {0}};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct request r = {0};
	struct opts o = {0};
	char file[64];
	int fd = sink_memory((const char *)data, size), rc;

	if (fd < 0)
		abort();
	snprintf(file, sizeof file, "/proc/self/fd/%d", fd);
	rc = request_read(&r, file, table, &o, &o.sets);
	if (o.secret || (rc == 0 && o.runs > 1024) ||
	    (rc == 0 && o.tests && !str_utf8(o.tests, strlen(o.tests))))
		abort();
	for (size_t i = 0; i < o.sets.n && rc == 0; i++)
		if (!str_starts(o.sets.v[i], "populate_with=") &&
		    !str_starts(o.sets.v[i], "io-threads=") &&
		    !str_starts(o.sets.v[i], "benchmark-threads="))
			abort();
	free(o.commands.v);
	free(o.sets.v);
	request_free(&r);
	close(fd);
	return 0;
}
