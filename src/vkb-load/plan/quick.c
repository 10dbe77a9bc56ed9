#include "quick.h"
#include "config.h"
#include "err.h"
#include "json.h"
#include "mem.h"
#include "mixspec.h"
#include "num.h"
#include "plan.h"
#include "str.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NAME "command line"

bool
quick_is_given(const struct quick *q)
{
	return q->tests || q->mix || q->replay;
}

const char *
quick_find_conflict(const struct quick *q, bool files)
{
	if (!files && !quick_is_given(q) && isatty(STDIN_FILENO))
		return "no configuration is given: name a FILE, pipe one to "
		       "stdin, or use '-t'";
	if (files && q->tests)
		return "'-t' is a configuration of its own: it does not go "
		       "with a FILE";
	if ((files || !quick_is_given(q)) &&
	    (q->pipelines || q->data_sizes || q->clients || q->keyspacelen))
		return "'-P', '-d', '-c' and '-r' go with '-t', '--mix' or "
		       "'--replay', without a FILE";
	return NULL;
}

int
quick_check(const struct quick *q)
{
	struct mixspec m;
	char *wrong = q->mix ? mixspec_parse(q->mix, &m) : NULL;
	int rc = 0;

	if (wrong)
		rc = err_fail(
		    "option '--mix': invalid mix '%s': %s", q->mix, wrong);
	else if (q->mix)
		mixspec_free(&m);
	free(wrong);
	return rc;
}

/* Returns the words of a list as an array of texts, tests in upper case. */
static struct json *
list_tests(const char *text)
{
	struct json *list = json_array();
	char *word, *upper;
	size_t n;

	for (;; text += n + 1) {
		text += strspn(text, " ");
		n = strcspn(text, ",");
		word = mem_strn(text, n);
		upper = str_upper(word);
		json_push(list, json_string(upper));
		free(upper);
		free(word);
		if (!text[n])
			return list;
	}
}

/* Adds the numbers of a list under a key. 0, or -1, error reported. */
static int
add_numbers(struct json *cfg, char letter, const char *key, const char *text)
{
	const struct config_key *k = config_find("config", key);
	struct json *list;
	long long v = 0;
	size_t n;
	char *word;
	int rc = 0;

	if (!text)
		return 0;
	list = json_array();
	for (; rc == 0; text += n + 1) {
		n = strcspn(text, ",");
		word = mem_strn(text, n);
		if (num_int(word, &v) < 0 || (double)v < k->min ||
		    (double)v > k->max)
			rc = err_fail("option '-%c': '%s' is not an integer "
				      "from %.0f to %.0f",
			    letter, word, k->min, k->max);
		json_push_num(list, (double)v);
		free(word);
		if (!text[n])
			break;
	}
	json_set(cfg, key, list);
	return rc;
}

/* Returns a configuration with the numbers, or NULL, error reported. */
static struct json *
make_config(const struct quick *q)
{
	const struct {
		char letter;
		const char *key, *text;
	} lists[] = {{'P', "pipelines", q->pipelines},
	    {'d', "data_sizes", q->data_sizes}, {'c', "clients", q->clients},
	    {'r', "keyspacelen", q->keyspacelen}};
	struct json *cfg = json_object();

	for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
		if (add_numbers(cfg, lists[i].letter, lists[i].key,
			lists[i].text) < 0) {
			json_free(cfg);
			return NULL;
		}
	if (q->primaries) {
		json_set_bool(cfg, "cluster_mode", true);
		json_set_num(cfg, "cluster_nodes", (double)q->primaries);
	}
	if (q->io_threads)
		json_set_num(cfg, "io-threads", q->io_threads);
	if (q->tls)
		json_set_bool(cfg, "tls_mode", true);
	return cfg;
}

int
quick_plan(struct plan *p, const struct quick *q)
{
	struct json *doc = json_array(), *cfg;

	for (int i = 0; i < 3; i++) {
		if (!(i == 0 ? q->tests : i == 1 ? q->mix : q->replay))
			continue;
		cfg = make_config(q);
		if (!cfg) {
			json_free(doc);
			return -1;
		}
		if (i == 0)
			json_set(cfg, "commands", list_tests(q->tests));
		else
			json_set_str(cfg, i == 1 ? "mix" : "replay",
			    i == 1 ? q->mix : q->replay);
		json_push(doc, cfg);
	}
	return plan_take(p, doc, NAME);
}
