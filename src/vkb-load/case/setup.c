#include "setup.h"
#include "client.h"
#include "err.h"
#include "json.h"
#include "str.h"
#include "target.h"
#include "vkb-load/engine/control.h"
#include "vkb-load/engine/hint.h"
#include "vkb-load/engine/words.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HOPS 16

/*
 * Returns the node that the answer "MOVED SLOT HOST:PORT" of node 'from' names,
 * or SIZE_MAX. Its host may have another name there than in the configuration.
 */
static size_t
find_moved_node(const struct target *t, size_t from, const struct reply *r)
{
	const char *text = reply_type(r) == REPLY_ERROR ? reply_text(r) : NULL;
	size_t found = SIZE_MAX, same_port = 0;
	struct hint h;

	if (!text || !str_starts(text, "MOVED ") ||
	    !hint_read_moved(&h, text, t->nodes[from].host))
		return SIZE_MAX;
	for (size_t i = 0; i < t->e.nnodes; i++) {
		if (t->nodes[i].port != h.port)
			continue;
		if (strcmp(t->nodes[i].host, h.host) == 0)
			return i;
		found = i;
		same_port++;
	}
	return same_port == 1 ? found : SIZE_MAX;
}

/* Frees the answer. Returns 0, or -1 after reporting that it is an error. */
static int
check_answer(struct reply *r, const char *what, const char *text)
{
	const char *error = reply_type(r) == REPLY_ERROR ? reply_text(r) : NULL;
	int rc = 0;

	if (error)
		rc = err_fail("%s '%s': %s", what, text, error);
	reply_free(r);
	return rc;
}

static int
send_command(
    const struct target *t, const char *text, char **words, const char *what)
{
	struct client *c;
	struct reply *r;
	size_t node = 0, next;

	for (int hop = 0;; hop++) {
		c = target_client(t, node);
		if (!c)
			return -1;
		r = client_call(
		    c, control_ms(&t->e, 0), (const char *const *)words);
		if (!r)
			err_say("%s '%s': %s", what, text, client_error(c));
		client_close(c);
		if (!r)
			return -1;
		next = find_moved_node(t, node, r);
		if (next == SIZE_MAX || hop == HOPS)
			return check_answer(r, what, text);
		node = next;
		reply_free(r);
	}
}

int
setup_run(const struct target *t, const struct json *list, const char *what)
{
	const char *why;
	char **words, *text;
	size_t n;
	int rc = 0;

	for (const struct json *v = json_first(list); v && rc == 0;
	     v = json_next(v)) {
		text = words_expand_prefix(json_str(v), t->e.prefix);
		words = words_split(text, &n, &why);
		if (!words)
			rc = err_fail("%s '%s': %s", what, text, why);
		else if (n)
			rc = send_command(t, text, words, what);
		words_free(words);
		free(text);
	}
	return rc;
}
