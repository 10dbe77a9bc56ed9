/*
 * vkb-env: writes the state of this machine as an env record; or reports what
 * makes results noisy, changes settings for measuring, or tells whether two
 * sessions are comparable.
 */
#include "cpustat.h"
#include "err.h"
#include "halt.h"
#include "json.h"
#include "jsonl.h"
#include "machine.h"
#include "opt.h"
#include "output.h"
#include "proc.h"
#include "reaper.h"
#include "str.h"
#include "vkb-env/environment.h"
#include "vkb-env/noise.h"
#include "vkb-env/tune.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define STATE "/run/vkb-env.json"
#define GRACE_MS 10000 /* time for the command to end after a signal */
#define WINDOW_MS 250  /* time over which the load is measured */

struct opts {
	bool apply, check, compare, restore, quiet;
	const char *state;
};

#define AT(f) offsetof(struct opts, f)

static const struct opt option_table[] = {
    {0, "apply", OPT_FLAG, AT(apply),
	.help = "set all settings, or those named, for measuring"},
    {0, "check", OPT_FLAG, AT(check),
	.help = "report what makes results noisy; exit 1 if anything does"},
    {0, "compare", OPT_FLAG, AT(compare),
	.help = "tell whether sessions A and B are comparable; exit 1 if not"},
    {'q', "quiet", OPT_FLAG, AT(quiet), .help = "print only errors"},
    {0, "restore", OPT_FLAG, AT(restore), .help = "undo what --apply has set"},
    {0, "state", OPT_STR, AT(state), "FILE",
	.help = "keep the old values in FILE; default " STATE},
    {0}};

static const struct opt_prog prog = {.name = "vkb-env",
    .operands = "[NAME ...|A [B]] [-- COMMAND ...]",
    .purpose = "Record, check, set and compare the state of this machine.",
    .table = option_table};

/* Measures the load of other programs and adds it to the section "now". */
static void
measure_load(struct json *rec, const char *root)
{
	struct json *now = json_get(rec, "now");
	struct cpustat a = {0}, b = {0};
	double busy, steal;

	if (!machine_stat_is_whole(root))
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
check_noise(const struct json *rec, const char *root)
{
	struct str text = {0};
	int rc = noise_show(&text, rec, root) > 0;

	if (output_write(&(struct output){0}, &text) < 0)
		rc = -1;
	str_free(&text);
	return rc;
}

static int
compare_sessions(const struct opt_args *args)
{
	struct environment *a = environment_read(args->v[0]);
	struct environment *b =
	    a ? environment_read(args->n > 1 ? args->v[1] : "-") : NULL;
	struct str text = {0};
	int rc = b ? environment_compare(&text, a, b) : -1;

	if (rc >= 0)
		rc = output_write(&(struct output){0}, &text) < 0 ? -1 : !rc;
	str_free(&text);
	environment_free(a);
	environment_free(b);
	return rc;
}

static int
write_or_check_state(const struct opts *o, const char *root)
{
	struct json *rec = machine_record(root, NULL);
	int rc;

	measure_load(rec, root);
	rc =
	    o->check ? check_noise(rec, root) : jsonl_write(STDOUT_FILENO, rec);
	json_free(rec);
	return rc;
}

/* Returns the exit status as a shell does. */
static int
wait_command(struct proc *p, struct halt *h)
{
	struct pollfd fd[2] = {{.fd = proc_fd(p), .events = POLLIN},
	    {.fd = halt_fd(h), .events = POLLIN}};
	bool tty = false;
	int status, reason;

	while (!proc_wait(p, 0, &status)) {
		if (poll(fd, 2, -1) < 0 && errno != EINTR)
			err_die("cannot wait: %s", strerror(errno));
		reason = halt_reason(h, &tty);
		if (!reason)
			continue;
		if (!tty)
			proc_signal(p, reason);
		if (!proc_wait(p, GRACE_MS, &status))
			status = proc_stop(p, GRACE_MS);
		break;
	}
	return proc_exit_status(status);
}

static int
run_command(char **argv, struct halt *h)
{
	struct proc_spec spec = {
	    .argv = (const char *const *)argv, .death_signal = SIGTERM};
	struct proc *p = proc_start(&spec);
	int status;

	if (!p)
		return errno == ENOENT ? 127 : 126;
	status = wait_command(p, h);
	proc_free(p);
	return status;
}

/* For the reaper: what else could restore them has ended. */
static void
restore_settings(void *tune)
{
	tune_restore(tune);
}

/* Applies the settings while the command runs. */
static int
apply_during(const struct tune *t, const struct opt_args *args)
{
	struct halt *h = halt_open(false);
	int rc = 125;

	if (h && reaper_start(restore_settings, (void *)(size_t)t) == 0 &&
	    tune_apply(t, args->v, args->n, getpid()) == 0) {
		rc = run_command(args->rest, h);
		if (tune_restore(t) < 0)
			rc = 125;
	}
	reaper_dismiss();
	halt_finish(h);
	return rc;
}

/* Returns what is wrong with the command line, or NULL. */
static const char *
check_usage(const struct opts *o, const struct opt_args *args)
{
	if (o->apply + o->check + o->compare + o->restore > 1)
		return "--apply, --check, --compare and --restore exclude each "
		       "other";
	if (args->rest && !o->apply)
		return "a command needs --apply";
	if (args->rest && !args->nrest)
		return "no command after '--'";
	if (o->state && !o->apply && !o->restore)
		return "--state is for --apply and --restore";
	if (o->compare && (args->n < 1 || args->n > 2))
		return "--compare takes one or two files";
	if (args->n && !o->apply && !o->compare)
		return "operands need --apply or --compare";
	return NULL;
}

static int
run_env(void *opts, struct opt_args *args)
{
	const struct opts *o = opts;
	const char *root = getenv("VKB_ENV_ROOT"), *why = check_usage(o, args);
	struct tune t = {.root = root ? root : "",
	    .state = o->state ? o->state : STATE,
	    .quiet = o->quiet};

	if (why)
		return opt_usage(&prog, why);
	if (o->compare && args->n == 1 && opt_stdin(&prog) < 0)
		return -1;
	if (o->compare)
		return compare_sessions(args);
	if (o->restore)
		return tune_restore(&t);
	if (o->apply && args->rest)
		return apply_during(&t, args);
	if (o->apply)
		return tune_apply(&t, args->v, args->n, 0);
	return write_or_check_state(o, t.root);
}

int
main(int argc, char **argv)
{
	struct opts o = {0};

	return opt_main(&prog, argc, argv, &o, run_env);
}
