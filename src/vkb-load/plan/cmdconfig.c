#include "cmdconfig.h"
#include "assign.h"
#include "cmdargs.h"
#include "err.h"
#include "json.h"
#include "mem.h"
#include "mixspec.h"
#include "plan.h"
#include "str.h"
#include "vkb-load/engine/command.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NAME "command line"
#define FEW_KEYS "10000" /* beside data of others */

bool
cmdconfig_is_given(const struct cmdconfig *q)
{
	return q->tests || q->commands.n || q->mix || q->replay;
}

const char *
cmdconfig_find_conflict(const struct cmdconfig *q, bool files)
{
	bool shaped =
	    q->pipelines || q->data_sizes || q->clients || q->keyspacelen;

	if (!files && !cmdconfig_is_given(q) &&
	    (shaped || isatty(STDIN_FILENO)))
		return "say what to load: '-t set,get', '--command TEXT', or a "
		       "configuration as FILE or on stdin";
	if (files && (q->tests || q->commands.n))
		return "'-t' and '--command' say what to measure, and so does "
		       "FILE: give one of them";
	if (files && shaped)
		return "'-P', '-d', '-c' and '-r' are for '-t', '--command', "
		       "'--mix' or '--replay', not for a FILE";
	return NULL;
}

/* Checks the name of a test. 0, or -1 after reporting it, and the tests. */
static int
check_test(const char *name)
{
	const char *const *names = command_names();
	struct str all = {0};
	char hint[STR_HINT] = "", *upper = str_upper(name);
	int rc = 0;

	if (!command_known(upper)) {
		for (size_t i = 0; names[i]; i++)
			str_printf(&all, "%s%s", i ? "," : "", names[i]);
		if (cmdargs_needs_words(upper) < 0)
			str_hint(hint, upper, names);
		rc = err_fail("option '-t': no test is called '%s'%s (the "
			      "tests are %s; '--command' is for others)",
		    name, hint, all.s);
	}
	str_free(&all);
	free(upper);
	return rc;
}

/* A test in the list has no blanks in its name. 0, or -1, error reported. */
static int
check_tests(const char *text)
{
	size_t n;
	char *name;
	int rc;

	for (; text; text = text[n] ? text + n + 1 : NULL) {
		text += strspn(text, " ");
		n = strcspn(text, ",");
		if (strcspn(text, " \t\r\n\f\v") < n)
			return err_fail(
			    "option '-t': '%.*s' is not the name of "
			    "a test: '--command' is for commands "
			    "with arguments",
			    (int)n, text);
		name = mem_strn(text, n);
		rc = check_test(name);
		free(name);
		if (rc < 0)
			return -1;
	}
	return 0;
}

int
cmdconfig_check(const struct cmdconfig *q)
{
	struct mixspec m;
	char *wrong = q->mix ? mixspec_parse(q->mix, &m) : NULL;
	int rc = wrong ? 0 : check_tests(q->tests);

	if (wrong)
		rc = err_fail(
		    "option '--mix': invalid mix '%s': %s", q->mix, wrong);
	else if (q->mix)
		mixspec_free(&m);
	free(wrong);
	return rc;
}

/* Adds a command to a list, the name of a test in upper case. */
static void
add_command(struct json *list, const char *text)
{
	char *upper = str_upper(text);

	json_push(list, json_string(mixspec_is_test(text) ? upper : text));
	free(upper);
}

/* Returns the tests and the commands as an array of texts. */
static struct json *
list_commands(const struct cmdconfig *q)
{
	struct json *list = json_array();
	const char *text = q->tests;
	size_t n;
	char *word;

	for (; text; text = text[n] ? text + n + 1 : NULL) {
		text += strspn(text, " ");
		n = strcspn(text, ",");
		word = mem_strn(text, n);
		add_command(list, word);
		free(word);
	}
	for (size_t i = 0; i < q->commands.n; i++)
		add_command(list, q->commands.v[i]);
	return list;
}

/* Returns a configuration with the numbers, or NULL, error reported. */
static struct json *
make_config(const struct cmdconfig *q)
{
	bool few = q->beside && !q->keyspacelen;
	const struct {
		const char *option, *key, *text;
	} lists[] = {{"-P", "pipelines", q->pipelines},
	    {"-d", "data_sizes", q->data_sizes}, {"-c", "clients", q->clients},
	    {"-r", "keyspacelen", few ? FEW_KEYS : q->keyspacelen}};
	struct json *cfg = json_object();

	for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
		if (lists[i].text &&
		    assign_add(cfg, lists[i].option, lists[i].key,
			lists[i].text) < 0) {
			json_free(cfg);
			return NULL;
		}
	if (q->primaries) {
		json_set_bool(cfg, "cluster_mode", true);
		json_set_num(cfg, "cluster_nodes", (double)q->primaries);
	}
	if (q->running_io_threads)
		json_set_num(cfg, "io-threads", q->running_io_threads);
	if (q->tls)
		json_set_bool(cfg, "tls_mode", true);
	return cfg;
}

int
cmdconfig_plan(struct plan *p, const struct cmdconfig *q)
{
	struct json *doc = json_array(), *cfg;
	int rc;

	for (int i = 0; i < 3; i++) {
		if (!(i == 0 ? q->tests || q->commands.n
			     : (i == 1 ? q->mix : q->replay) != NULL))
			continue;
		cfg = make_config(q);
		if (!cfg) {
			json_free(doc);
			return -1;
		}
		if (i == 0)
			json_set(cfg, "commands", list_commands(q));
		else
			json_set_str(cfg, i == 1 ? "mix" : "replay",
			    i == 1 ? q->mix : q->replay);
		json_push(doc, cfg);
	}
	p->any_word = true; /* in '--command' and '--mix'; '-t' is checked */
	rc = plan_take(p, doc, NAME);
	p->any_word = false;
	return rc;
}
