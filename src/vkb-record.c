/*
 * vkb-record: turns what clients sent to a server (MONITOR or a network
 * capture) into a trace, which vkb-load replays; stdout.
 */
#include "address.h"
#include "client.h"
#include "err.h"
#include "opt.h"
#include "tls.h"
#include "vkb-record/capture.h"
#include "vkb-record/monitor.h"
#include "vkb-record/recorder.h"
#include "vkb-record/show.h"

#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CONNECT_MS 10000

struct opts {
	struct address at;
	const char *hash;
	double duration;
	bool quiet, show, monitor;
};

#define AT(field) offsetof(struct opts, field)

static const struct opt option_table[] = {
    {'q', "quiet", OPT_FLAG, AT(quiet), .help = "do not print the summary"},
    {0, "duration", OPT_DURATION, AT(duration), "TIME", .min = .001, .max = 1e7,
	.help = "record a server for TIME; default until a signal"},
    {0, "hash", OPT_CHOICE, AT(hash), "WHAT", .choices = "keys|values|all",
	.help = "replace keys, values or both, keep their lengths"},
    {0, "show", OPT_FLAG, AT(show), .help = "print what is in a trace"},
    {0, "monitor", OPT_FLAG, AT(monitor),
	.help = "print the commands of a trace as MONITOR does"},
    {'h', "host", OPT_STR, AT(at.host), "HOST",
	.help = "record the server on HOST; default 127.0.0.1"},
    {'p', "port", OPT_INT, AT(at.port), "PORT", .min = 1, .max = 65535,
	.help = "port of the server, or in a capture; default 6379"},
    {'s', "unixsocket", OPT_STR, AT(at.unixsocket), "PATH",
	.help = "record the server on this unix socket"},
    {0, "user", OPT_STR, AT(at.user), "NAME",
	.help = "log in as NAME, with VKB_PASSWORD"},
    {0, "tls", OPT_FLAG, AT(at.tls), .help = "connect with TLS"},
    {0, "cacert", OPT_STR, AT(at.cacert), "FILE",
	.help = "trust the certificate authorities in FILE"},
    {0, "cert", OPT_STR, AT(at.cert), "FILE",
	.help = "send this client certificate"},
    {0, "key", OPT_STR, AT(at.key), "FILE",
	.help = "use this private key of the certificate"},
    {0}};

static const struct opt_prog program = {.name = "vkb-record",
    .operands = "[FILE]",
    .purpose = "Records the commands that a server gets, for vkb-load "
	       "--replay.",
    .table = option_table};

static volatile sig_atomic_t stop;

static void
on_signal(int sig)
{
	(void)sig;
	stop = 1;
}

/* The first signal ends the recording, and the trace is complete. */
static void
catch_signals(void)
{
	static const int sigs[] = {SIGINT, SIGTERM, SIGHUP};
	struct sigaction a = {.sa_handler = on_signal};

	a.sa_flags = (int)SA_RESETHAND;
	sigemptyset(&a.sa_mask);
	for (size_t i = 0; i < sizeof sigs / sizeof *sigs; i++)
		sigaction(sigs[i], &a, NULL);
}

static unsigned
get_hash(const struct opts *o)
{
	if (!o->hash)
		return 0;
	return strcmp(o->hash, "keys") == 0  ? RECORDER_KEYS
	    : strcmp(o->hash, "values") == 0 ? RECORDER_VALUES
					     : RECORDER_KEYS | RECORDER_VALUES;
}

/* A port alone may be that of a capture. */
static bool
uses_server(const struct opts *o, const struct opt_args *args)
{
	struct address at = o->at;

	if (args->n)
		at.port = 0;
	return address_is_given(&at) || o->duration > 0;
}

static int
record_server(const struct opts *o)
{
	struct address at = o->at;
	struct tls_context *tls = NULL;
	struct recorder *r;
	struct client *c;
	char why[CLIENT_WHY] = "";
	struct client_address a = {.password = opt_password(), .why = why};
	char *where;
	int rc;

	if (address_complete(&at) < 0)
		return -1;
	a.host = at.host;
	a.port = (int)at.port;
	a.unixsocket = at.unixsocket;
	a.user = at.user;
	if (at.tls) {
		a.tls = tls = tls_context_new(&(struct tls_options){
		    .cacert = at.cacert, .cert = at.cert, .key = at.key});
		a.servername = a.host;
		if (!tls)
			return -1;
	}
	where = address_format(at.host, at.port, at.unixsocket);
	c = client_open(&a, CONNECT_MS);
	if (!c) {
		err_say("cannot connect to the server at %s: %s", where, why);
		rc = -1;
		goto out;
	}
	if (!o->quiet)
		err_say("records the server running at %s", where);
	r = recorder_new(STDOUT_FILENO, "monitor", get_hash(o));
	catch_signals();
	rc = monitor_live(r, c, o->duration, (const volatile int *)&stop);
	if (recorder_end(r, o->quiet) < 0)
		rc = -1;
	client_close(c);
out:
	free(where);
	tls_context_free(tls);
	return rc;
}

/* Says whether a file that begins with c can be recorded. Returns 0 or -1. */
static int
check_begin(const struct opts *o, FILE *in, const char *name, int c)
{
	if (ferror(in))
		return err_fail_sys("cannot read '%s'", name);
	if (o->at.port && !capture_is(c))
		return err_fail("%s: '--port' with a FILE is for a network "
				"capture, which this is not",
		    name);
	if (c == EOF || c == 'O' || (c >= '0' && c <= '9') || capture_is(c))
		return 0;
	return err_fail("%s: offset 0: neither lines of MONITOR nor a network "
			"capture",
	    name);
}

/* Records what is in a file, and closes it. */
static int
record_stream(const struct opts *o, FILE *in, const char *name)
{
	int c = getc(in), rc;
	bool capture = capture_is(c);
	struct recorder *r;

	ungetc(c, in);
	rc = check_begin(o, in, name, c);
	if (rc == 0) {
		r = recorder_new(STDOUT_FILENO, capture ? "capture" : "monitor",
		    get_hash(o));
		rc = capture
		    ? capture_read(r, in, name,
			  o->at.port ? (unsigned)o->at.port : ADDRESS_PORT)
		    : monitor_read(r, in, name);
		rc = recorder_end(r, o->quiet) < 0 ? -1 : rc;
		if (capture)
			return rc;
	}
	if (in != stdin)
		fclose(in);
	return rc;
}

static int
record_file(const struct opts *o, const char *path)
{
	FILE *in = stdin;

	if (strcmp(path, "-") == 0)
		path = "stdin";
	else if (!(in = fopen(path, "re")))
		return err_fail_sys("cannot open '%s'", path);
	return record_stream(o, in, path);
}

static const char *
find_conflict(const struct opts *o, const struct opt_args *args)
{
	if (args->n > 1)
		return "only one FILE can be given";
	if (o->show && o->monitor)
		return "'--show' and '--monitor' exclude each other";
	if ((o->show || o->monitor) &&
	    (uses_server(o, args) || o->at.port || o->hash))
		return "'--show' and '--monitor' read a trace: options of a "
		       "recording cannot be combined with them";
	if (uses_server(o, args) && args->n)
		return "a FILE and a server exclude each other; '--port' alone "
		       "is that of a capture";
	if (address_find_conflict(&o->at))
		return address_find_conflict(&o->at);
	if (!o->show && !o->monitor && isatty(STDOUT_FILENO))
		return "a trace is not for a terminal: write stdout to a file";
	return NULL;
}

static int
run_program(void *opts, struct opt_args *args)
{
	const struct opts *o = opts;
	const char *wrong = find_conflict(o, args);
	const char *file = args->n ? args->v[0] : "-";

	if (wrong)
		return opt_usage(&program, wrong);
	if (uses_server(o, args))
		return record_server(o);
	if (!args->n && opt_stdin(&program) < 0)
		return -1;
	if (o->show)
		return show_summary(file);
	return o->monitor ? show_monitor(file) : record_file(o, file);
}

int
main(int argc, char **argv)
{
	struct opts o = {0};

	return opt_main(&program, argc, argv, &o, run_program);
}
