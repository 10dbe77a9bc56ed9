/*
 * vkb-env: the state of this machine as an env record; or what of it makes
 * results noisy, settings for the time of a measurement, and whether two
 * sessions can be compared.
 */
#include "cpustat.h"
#include "err.h"
#include "json.h"
#include "jsonl.h"
#include "machine.h"
#include "opt.h"
#include "str.h"
#include "vkb-env/noise.h"

#include <math.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define WINDOW_MS 250 /* how long it looks at the load */

struct opts {
	bool check;
};

#define AT(f) offsetof(struct opts, f)

static const struct opt table[] = {
    {'c', "check", OPT_FLAG, AT(check),
	.help = "say what makes results noisy; exit 1: something does"},
    {0}};

static const struct opt_prog prog = {"vkb-env", "",
    "The state of this machine, as a record; what of it is noise.", table};

/* What ran meanwhile, into the room now. */
static void
set_load(struct json *rec, const char *root)
{
	struct json *now = json_get(rec, "now");
	struct cpustat a = {0}, b = {0};
	double busy, steal;

	if (!machine_whole(root))
		return;
	cpustat_read(&a, root);
	poll(NULL, 0, WINDOW_MS);
	cpustat_read(&b, root);
	busy = cpustat_busy(&a.whole, &b.whole);
	steal = cpustat_steal(&a.whole, &b.whole);
	if (!isnan(busy)) {
		json_set_num(now, "busy_percent", busy);
		json_set_num(now, "steal_percent", steal);
	}
	free(a.cpu);
	free(b.cpu);
}

static int
say(const struct str *text)
{
	fwrite(text->s, 1, text->len, stdout);
	if (fflush(stdout) == 0 && !ferror(stdout))
		return 0;
	return err_fail_sys("cannot write to stdout");
}

static int
check(const struct json *rec, const char *root)
{
	struct str text = {0};
	int rc = noise_show(&text, rec, root) > 0;

	if (say(&text) < 0)
		rc = -1;
	str_free(&text);
	return rc;
}

static int
run(void *opts, struct opt_args *args)
{
	const struct opts *o = opts;
	const char *root = getenv("VKB_ENV_ROOT");
	struct json *rec;
	int rc;

	if (args->n)
		return opt_usage(&prog, "there are no operands");
	root = root ? root : "";
	rec = machine_record(root, NULL);
	set_load(rec, root);
	rc = o->check ? check(rec, root) : jsonl_write(STDOUT_FILENO, rec);
	json_free(rec);
	return rc;
}

int
main(int argc, char **argv)
{
	struct opts o = {0};

	return opt_main(&prog, argc, argv, &o, run);
}
