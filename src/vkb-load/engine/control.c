#include "control.h"
#include "client.h"
#include "cmdargs.h"
#include "command.h"
#include "engine.h"
#include "err.h"
#include "keys.h"
#include "mem.h"
#include "str.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define TIMEOUT_S 60

int
control_ms(const struct engine_target *t, int most)
{
	double s = t->timeout_s > 0 ? t->timeout_s : TIMEOUT_S;

	return (int)fmax(1, fmin(s * 1e3, most > 0 ? most : INT_MAX));
}

struct client *
control_open(const struct engine_target *t, size_t i, int ms, char *why)
{
	const struct engine_node *n =
	    i < t->nnodes ? &t->nodes[i] : &t->replicas[i - t->nnodes];
	struct client_address a = {.host = n->host,
	    .port = n->port,
	    .unixsocket = n->unixsocket,
	    .tls = t->tls,
	    .servername = t->servername,
	    .user = t->user,
	    .password = t->password,
	    .db = t->db,
	    .why = why};

	return client_open(&a, ms);
}

struct reply *
control_ask(struct client *c, int ms, const char *const *argv)
{
	struct reply *r = client_call(c, ms, argv);
	const char *error;

	if (!r) {
		err_fail("%s: %s", argv[0], client_error(c));
		return NULL;
	}
	if (reply_type(r) != REPLY_ERROR)
		return r;
	error = reply_text(r);
	if (str_starts(error, "NOAUTH"))
		err_fail("the server needs a password: set VKB_PASSWORD, and "
			 "VKB_USER for a user other than 'default'");
	else
		err_fail("%s%s%s: %s%s", argv[0], argv[1] ? " " : "",
		    argv[1] ? argv[1] : "", error,
		    str_starts(error, "NOPERM")
			? "; 'vkb help servers' lists what a user needs"
			: "");
	reply_free(r);
	return NULL;
}

bool
control_only_reads(struct client *c, int ms, const char *command)
{
	struct reply *r = CLIENT_CALL(c, ms, "COMMAND", "INFO", command);
	const struct reply *info = r && reply_len(r) ? reply_at(r, 0) : NULL;
	const struct reply *flags =
	    info && reply_len(info) > 2 ? reply_at(info, 2) : NULL;
	bool yes = false;

	for (size_t i = 0; flags && i < reply_len(flags); i++)
		yes |= reply_is(reply_at(flags, i), "readonly");
	reply_free(r);
	return yes;
}

bool
control_text_only_reads(struct client *c, int ms, const char *text)
{
	const struct command_style style = {.same = ""};
	char *own =
	    command_known(text) ? command_text(text, &style) : mem_str(text);
	const char *why;
	bool yes = true;
	size_t n, k;
	char **list;

	list = own ? command_split(own, &n, &why) : NULL;
	for (size_t at = 0;
	     list && yes && (k = command_next(list, n, &at, NULL)); at += k + 1)
		yes = control_only_reads(c, ms, list[at]);
	yes = yes && list;
	mem_free_list(list);
	free(own);
	return yes;
}

/* Returns the answer of a server that does not know the command, or NULL. It is
 * not asked about those that our table has: a server keeps 25 KB for the times
 * of each command that it was sent, which would count as stored. */
static char *
ask_unknown(struct client *c, int ms, const char *command)
{
	static const char error[] = "ERR unknown command";
	struct reply *r;
	const char *text;
	char *answer = NULL;
	bool known;

	if (cmdargs_needs_words(command) >= 0 || strstr(command, "__") ||
	    strchr(command, '{')) /* its name is that of each row */
		return NULL;
	r = CLIENT_CALL(c, ms, "COMMAND", "INFO", command);
	known = !r || reply_type(r) != REPLY_ARRAY || reply_len(r) != 1 ||
	    reply_len(reply_at(r, 0));
	reply_free(r);
	if (known)
		return NULL;
	r = CLIENT_CALL(c, ms, command);
	text = r && reply_type(r) == REPLY_ERROR ? reply_text(r) : "";
	if (strncasecmp(text, error, strlen(error)) == 0)
		answer = mem_strn(text, strcspn(text, ",")); /* the arguments */
	reply_free(r);
	return answer;
}

char *
control_explain_unknown(struct client *c, int ms, const char *text)
{
	const char *unused;
	char *answer = NULL, *why = NULL;
	size_t n, k;
	char **list =
	    command_known(text) ? NULL : command_split(text, &n, &unused);

	for (size_t at = 0;
	     list && !why && (k = command_next(list, n, &at, NULL));
	     at += k + 1) {
		answer = ask_unknown(c, ms, list[at]);
		if (answer)
			why = mem_printf("the server does not know '%s': %s",
			    list[at], answer);
		free(answer);
	}
	mem_free_list(list);
	return why;
}

/* Reads a node: [host, port, ...]. Returns false if it has no address. */
static bool
read_node(
    const struct reply *node, const char *asked, const char **host, int *port)
{
	long long v;

	if (reply_len(node) < 2)
		return false;
	v = reply_integer(reply_at(node, 1));
	*host = reply_text(reply_at(node, 0));
	if (!*host || !**host)
		*host = asked ? asked : "localhost";
	*port = (int)v;
	return v >= 1 && v <= 65535;
}

/* Reads one row: first, last, [host, port, ...], replicas. Returns 0 or -1. */
static int
read_range(const struct reply *r, const char *asked, struct control_range *to)
{
	long long first, last;

	if (reply_len(r) < 3)
		return -1;
	first = reply_integer(reply_at(r, 0));
	last = reply_integer(reply_at(r, 1));
	if (first < 0 || last >= KEYS_SLOTS || first > last)
		return -1;
	*to = (struct control_range){.first = (unsigned)first,
	    .last = (unsigned)last,
	    .nreplicas = reply_len(r) - 3,
	    .row = r};
	return read_node(reply_at(r, 2), asked, &to->host, &to->port) ? 0 : -1;
}

bool
control_replica(const struct control_range *r, size_t i, const char *asked,
    const char **host, int *port)
{
	return read_node(reply_at(r->row, 3 + i), asked, host, port);
}

const char *
control_slots(
    struct control_slots *s, struct client *c, int ms, const char *asked)
{
	const char *text;

	*s = (struct control_slots){
	    .reply = CLIENT_CALL(c, ms, "CLUSTER", "SLOTS")};
	if (!s->reply)
		return client_error(c);
	if (reply_type(s->reply) != REPLY_ARRAY) {
		text = reply_text(s->reply);
		return text ? text : "it has no slots";
	}
	if (!reply_len(s->reply))
		return "no slot is served";
	s->v = mem_array(reply_len(s->reply), sizeof *s->v);
	for (; s->n < reply_len(s->reply); s->n++)
		if (read_range(reply_at(s->reply, s->n), asked, &s->v[s->n]) <
		    0)
			return "its answer is not valid";
	return NULL;
}

void
control_slots_free(struct control_slots *s)
{
	reply_free(s->reply);
	free(s->v);
	*s = (struct control_slots){0};
}
