#include "everycommand.h"
#include "client.h"
#include "err.h"
#include "json.h"
#include "jsonl.h"
#include "mem.h"
#include "record.h"
#include "reply.h"
#include "str.h"
#include "vkb-load/case/handle.h"
#include "vkb-load/case/target.h"
#include "vkb-load/engine/command.h"
#include "vkb-load/plan/builds.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

enum { CALL_MS = 5000 };
enum { WORDS_MOST = 100 }; /* of a command: a server may say any number */

/* Why a command is not counted. */
enum reason {
	ADMIN,
	DANGEROUS,
	BLOCKING,
	CONNECTION,
	SCRIPTS,
	HELP,
	REFUSED,
	SILENT,
	REASONS
};

static const char *const reason_names[REASONS] = {"administrative", "dangerous",
    "blocking", "of the connection", "of scripts", "help texts",
    "refused with the arguments that were made", "without an answer"};

/* What no server may be asked to do, whatever it says of itself. */
static const char *const never[] = {"acl", "bgrewriteaof", "bgsave", "client",
    "cluster", "config", "debug", "failover", "flushall", "flushdb", "migrate",
    "module", "monitor", "psync", "replicaof", "save", "shutdown", "slaveof",
    "swapdb", "sync"};

/* Flags and categories that exclude a command. */
static const struct {
	const char *word;
	enum reason reason;
} excluding[] = {{"admin", ADMIN}, {"@admin", ADMIN}, {"@dangerous", DANGEROUS},
    {"blocking", BLOCKING}, {"@blocking", BLOCKING}, {"pubsub", CONNECTION},
    {"@pubsub", CONNECTION}, {"@connection", CONNECTION},
    {"@transaction", CONNECTION}, {"@scripting", SCRIPTS}};

/* The keys of the configuration by the group of a command. */
static const struct {
	const char *group, *letter;
} key_types[] = {{"hash", "h"}, {"list", "l"}, {"set", "t"},
    {"sorted-set", "z"}, {"stream", "x"}, {"bitmap", "b"}, {"hyperloglog", "p"},
    {"geo", "g"}, {"module", "m"}};

/* Arguments by their name or else by their type. */
static const struct {
	const char *name, *value;
} values[] = {{"field", "f1"}, {"group", "g"}, {"consumer", "c"},
    {"value", "__data__"}, {"data", "__data__"}, {"element", "__data__"},
    {"message", "__data__"}, {"unix-time-milliseconds", "9999999999000"},
    {"milliseconds", "1000000"}, {"seconds", "1000"},
    {"unix-time", "9999999999"}, {"integer", "1"}, {"double", "1.5"},
    {"pattern", "none*"}, {"string", "a"}};

struct asking {
	const char *file;
	const volatile int *stop;
	struct json *config, *writes, *known, *added;
	struct json *left[REASONS];
	const struct json *setup;
	struct target target;
	struct client *client;
};

/* --- replies ------------------------------------------------------------- */

static const char *
get_text(const struct reply *r)
{
	return r && reply_text(r) ? reply_text(r) : "";
}

/* Returns the value of a key in a list of keys and values, or NULL. */
static const struct reply *
find_value(const struct reply *list, const char *key)
{
	size_t n =
	    list && reply_type(list) == REPLY_ARRAY ? reply_len(list) : 0;

	for (size_t i = 0; i + 1 < n; i += 2)
		if (strcmp(get_text(reply_at(list, i)), key) == 0)
			return reply_at(list, i + 1);
	return NULL;
}

static bool
has_text(const struct reply *list, const char *text)
{
	size_t n =
	    list && reply_type(list) == REPLY_ARRAY ? reply_len(list) : 0;

	for (size_t i = 0; i < n; i++)
		if (strcasecmp(get_text(reply_at(list, i)), text) == 0)
			return true;
	return false;
}

/* Returns the i-th element of the description of a command, or NULL. */
static const struct reply *
get_part(const struct reply *command, size_t i)
{
	return i < reply_len(command) ? reply_at(command, i) : NULL;
}

/* Returns an element that is a number, or 0; at most 'most', or -'most'. */
static long long
get_number(const struct reply *command, size_t i, long long most)
{
	const struct reply *r = get_part(command, i);
	long long v = r ? reply_integer(r) : 0;

	return v > most ? most : v < -most ? -most : v;
}

/* --- which commands, with which arguments --------------------------------- */

/* Is the name one of words that need no quotes? */
static bool
is_plain(const char *name)
{
	return *name &&
	    !name[strspn(name,
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
		"0123456789._|-")];
}

/* Returns why a command is not tried, or REASONS. */
static enum reason
find_reason(const struct reply *command, const char *name)
{
	size_t n = strcspn(name, "|");

	if (str_ends(name, "|help"))
		return HELP;
	for (size_t i = 0; i < sizeof excluding / sizeof *excluding; i++)
		if (has_text(get_part(command, 2), excluding[i].word) ||
		    has_text(get_part(command, 6), excluding[i].word))
			return excluding[i].reason;
	for (size_t i = 0; i < sizeof never / sizeof *never; i++)
		if (strlen(never[i]) == n &&
		    strncasecmp(never[i], name, n) == 0)
			return DANGEROUS;
	return is_plain(name) ? REASONS : REFUSED;
}

static const char *
choose_value(const char *name, const char *type)
{
	for (int k = 0; k < 2; k++)
		for (size_t i = 0; i < sizeof values / sizeof *values; i++)
			if (strcmp(values[i].name, k ? type : name) == 0)
				return values[i].value;
	return "a";
}

/* Adds a required argument; of several alternatives the first. */
static void
add_argument(struct str *to, const struct reply *arg, const char *key)
{
	const struct reply *parts = find_value(arg, "arguments");
	const char *type = get_text(find_value(arg, "type"));
	const char *token = get_text(find_value(arg, "token"));
	size_t n = parts ? reply_len(parts) : 0;

	if (has_text(find_value(arg, "flags"), "optional"))
		return;
	if (is_plain(token))
		str_printf(to, " %s", token);
	if (strcmp(type, "oneof") == 0 && n)
		add_argument(to, reply_at(parts, 0), key);
	else if (strcmp(type, "block") == 0)
		for (size_t i = 0; i < n; i++)
			add_argument(to, reply_at(parts, i), key);
	else if (strcmp(type, "key") == 0)
		str_printf(to, " %s:{key}", key);
	else if (strcmp(type, "pure-token") != 0)
		str_printf(to, " %s",
		    choose_value(get_text(find_value(arg, "name")), type));
}

/* Adds as many arguments as the command takes at least, by what COMMAND says.
 */
static void
add_fewest(
    struct str *to, const struct reply *command, size_t words, const char *key)
{
	long long n = llabs(get_number(command, 1, WORDS_MOST));
	long long first = get_number(command, 3, WORDS_MOST);
	long long last = get_number(command, 4, WORDS_MOST);
	long long step = get_number(command, 5, WORDS_MOST);

	if (first > 0 && n <= (last > first ? last : first))
		n = (last > first ? last : first) + 1;
	for (long long i = (long long)words; i < n; i++)
		if (first > 0 && i >= first && (last < 0 || i <= last) &&
		    step > 0 && (i - first) % step == 0)
			str_printf(to, " %s:{key}", key);
		else
			str_add(to, " 1");
}

/* Returns the text of a command, caller frees: with the arguments that its
 * documentation, or NULL, has; without one, or 'fewest', with the fewest. */
static char *
make_text(const struct reply *command, const struct reply *docs,
    const char *name, bool fewest)
{
	const struct reply *args;
	const char *group = get_text(find_value(docs, "group"));
	const char *key = "s";
	struct str text = {0};
	char *upper = str_upper(name), *second = strchr(upper, '|');

	for (size_t i = 0; i < sizeof key_types / sizeof *key_types; i++)
		if (strcmp(key_types[i].group, group) == 0)
			key = key_types[i].letter;
	if (second)
		*second = ' ';
	str_add(&text, upper);
	args = fewest ? NULL : find_value(docs, "arguments");
	for (size_t i = 0; args && i < reply_len(args); i++)
		add_argument(&text, reply_at(args, i), key);
	if (!args)
		add_fewest(&text, command, second ? 2 : 1, key);
	free(upper);
	return str_take(&text);
}

/* --- a server ------------------------------------------------------------- */

/* Sends a text of the configuration. Returns the reply, or NULL. */
static struct reply *
send_text(struct client *c, const char *text)
{
	const char *why;
	size_t n;
	char **words = command_split(text, &n, &why);
	struct reply *r = client_call(c, CALL_MS, (const char *const *)words);

	mem_free_list(words);
	return r;
}

/* Tries a command, with a key and a value in place of what stands for them.
 * Returns REASONS if the server accepts it. */
static enum reason
try_text(struct asking *a, const char *text)
{
	char *keyed = str_replace(text, "{key}", "key:000000000001");
	char *filled = str_replace(keyed, "__data__", "abcdefghijklmnop");
	struct reply *r = send_text(a->client, filled);
	enum reason why = !r               ? SILENT
	    : reply_type(r) == REPLY_ERROR ? REFUSED
					   : REASONS;

	reply_free(r);
	free(filled);
	free(keyed);
	return why;
}

static void
add_to_config(struct asking *a, const char *name, const char *text)
{
	struct json *part = json_object();
	char *id = mem_str(name);

	for (char *p = id; *p; p++)
		if (*p == '|' || *p == '.')
			*p = '-';
	json_set_str(part, "id", id);
	json_set_str(part, "command", text);
	json_push(a->writes, part);
	json_set_bool(a->known, name, true);
	json_set_bool(a->added, name, true);
	json_del(a->left[REFUSED], name);
	free(id);
}

/* Connects again: a client without an answer is of no use. Returns 0, or 1 if
 * the server has ended. */
static int
connect_again(struct asking *a)
{
	struct reply *r = NULL;
	bool alive;

	client_close(a->client);
	a->client = target_client(&a->target, 0);
	if (a->client)
		r = CLIENT_CALL(a->client, CALL_MS, "PING");
	alive = r != NULL;
	reply_free(r);
	return !alive;
}

/* Tries a command with arguments by its documentation and then with the fewest.
 * Returns why it is left out, or REASONS, having added it. */
static enum reason
try_command(struct asking *a, const struct reply *command,
    const struct reply *docs, const char *name)
{
	enum reason why = REFUSED;
	char *text;

	for (int fewest = 0; fewest < 2 && why == REFUSED; fewest++) {
		text = make_text(command, docs, name, fewest);
		why = try_text(a, text);
		if (why == REASONS)
			add_to_config(a, name, text);
		free(text);
	}
	return why;
}

/* Takes a command that the configuration lacks, or leaves it out. Returns 0, or
 * 1 if the server has ended. */
static int
take_command(struct asking *a, const char *name)
{
	struct reply *info, *docs = NULL;
	const struct reply *command;
	enum reason why = SILENT;

	if (json_get(a->known, name) || json_get(a->left[SILENT], name))
		return 0;
	info = CLIENT_CALL(a->client, CALL_MS, "COMMAND", "INFO", name);
	command = info ? get_part(info, 0) : NULL;
	if (command && reply_type(command) == REPLY_ARRAY)
		why = find_reason(command, name);
	if (why == REASONS) {
		docs = CLIENT_CALL(a->client, CALL_MS, "COMMAND", "DOCS", name);
		why = docs || connect_again(a) == 0
		    ? try_command(a, command, find_value(docs, name), name)
		    : SILENT;
	}
	reply_free(docs);
	reply_free(info);
	if (why != REASONS)
		json_set_bool(a->left[why], name, true);
	return why == SILENT ? connect_again(a) : 0;
}

/* Contains a command some of the n that are behind it in their order, as
 * "memory" does "memory|usage"? */
static bool
is_container(const char *const *v, size_t n, const char *name)
{
	size_t len = strlen(name);

	for (size_t i = 0; i < n && strncmp(v[i], name, len) == 0; i++)
		if (v[i][len] == '|')
			return true;
	return false;
}

/* Takes the commands of a list, in an order that does not depend on the server,
 * but for those that contain others. Returns as take_command. */
static int
take_commands(struct asking *a, const struct reply *names)
{
	size_t n = reply_len(names);
	const char **v = mem_array(n + 1, sizeof *v);
	int rc = 0;

	for (size_t i = 0; i < n; i++)
		v[i] = get_text(reply_at(names, i));
	qsort(v, n, sizeof *v, str_compare);
	for (size_t i = 0; i < n && rc == 0 && !*a->stop; i++)
		if (!is_container(v + i + 1, n - i - 1, v[i]))
			rc = take_command(a, v[i]);
	free(v);
	return rc;
}

/* Makes the keys that the commands of the configuration find. */
static int
prepare_server(struct asking *a)
{
	struct reply *r;

	for (const struct json *j = json_first(a->setup); j; j = json_next(j)) {
		r = send_text(a->client, json_str(j));
		if (!r)
			return err_fail("%s: '%s': %s", a->file, json_str(j),
			    client_error(a->client));
		reply_free(r);
	}
	return 0;
}

/* A server before 7.0 has no list: nothing is added then. Returns 0; 1 if the
 * server has ended; -1 after reporting an error. */
static int
ask_connected(struct asking *a)
{
	struct reply *names;
	int rc = prepare_server(a);

	if (rc < 0)
		return -1;
	names = CLIENT_CALL(a->client, CALL_MS, "COMMAND", "LIST");
	if (!names)
		rc = err_fail("COMMAND LIST: %s", client_error(a->client));
	else if (reply_type(names) != REPLY_ARRAY)
		err_say("the server does not list its commands: %s",
		    get_text(names));
	else
		rc = take_commands(a, names);
	reply_free(names);
	return rc;
}

static struct json *
make_spec(const struct json *build)
{
	struct json *spec = record_new("spec");

	json_set_str(spec, "id", "commands");
	json_set_str(spec, "action", "start");
	json_set_str(spec, "server", json_get_str(build, "server"));
	json_set(spec, "modules", handle_list_modules(build, NULL));
	return spec;
}

/* Asks a new server of a build. Returns as ask_connected. */
static int
ask_server(struct asking *a, const struct json *build)
{
	struct coproc *c = handle_start_serve(NULL);
	struct json *spec = make_spec(build), *server = NULL;
	int rc = -1;

	if (c)
		server = handle_ask_serve(c, spec, a->stop);
	if (server && !json_get(server, "error") &&
	    target_make(&a->target, server, false, NULL) == 0) {
		a->client = target_client(&a->target, 0);
		if (a->client)
			rc = ask_connected(a);
		client_close(a->client);
		a->client = NULL;
		target_free(&a->target);
	}
	json_free(server);
	json_free(spec);
	handle_close_serve(c);
	return rc;
}

/* Asks the server of a build, and another one if a command has ended it, which
 * is left out. Returns 0 or -1. */
static int
ask_build(struct asking *a, const struct json *build)
{
	int rc;

	do
		rc = ask_server(a, build);
	while (rc == 1 && !*a->stop);
	return rc;
}

/* --- the configuration ---------------------------------------------------- */

static void
note_known(struct json *known, const char *first, const char *second)
{
	char *name = mem_printf(
	    "%s%s%s", first, second ? "|" : "", second ? second : "");

	for (char *p = name; *p; p++)
		if (*p >= 'A' && *p <= 'Z')
			*p = (char)(*p - 'A' + 'a');
	json_set_bool(known, name, true);
	free(name);
}

/* Returns the *n words of a text, freed with mem_free_list, or NULL after
 * reporting. */
static char **
split_text(const struct asking *a, const char *text, size_t *n)
{
	const char *why;
	char **v = text ? command_split(text, n, &why) : NULL;

	if (v && *n)
		return v;
	mem_free_list(v);
	err_say("%s: a command of its scenario has no text, or not a valid one",
	    a->file);
	return NULL;
}

/* Notes the commands of a text. Returns 0, or -1 after reporting. */
static int
note_text(struct asking *a, const char *text)
{
	size_t n = 0, at = 0, words;
	char **v = split_text(a, text, &n);

	if (!v)
		return -1;
	while ((words = command_next(v, n, &at, NULL))) {
		note_known(a->known, v[at], NULL);
		if (words > 1)
			note_known(a->known, v[at], v[at + 1]);
		at += words + 1;
		if (at >= n)
			break;
	}
	mem_free_list(v);
	return 0;
}

/* Are the setup commands texts? Returns 0, or -1 after reporting. */
static int
check_setup(const struct asking *a)
{
	size_t n;
	char **v;

	for (const struct json *j = json_first(a->setup); j; j = json_next(j)) {
		v = split_text(a, json_str(j), &n);
		mem_free_list(v);
		if (!v)
			return -1;
	}
	return 0;
}

static int
read_config(struct asking *a)
{
	struct json *j = a->config = jsonfile_read(a->file);

	if (!j)
		return -1;
	j = json_type(j) == JSON_ARRAY ? json_first(j) : j;
	j = json_first(json_get(j, "test_groups"));
	j = json_first(json_get(j, "scenarios"));
	a->writes = json_get(j, "writes");
	a->setup = json_get(j, "setup_commands");
	if (!json_first(a->writes))
		return err_fail(
		    "%s: its first scenario has no 'writes'", a->file);
	for (j = json_first(a->writes); j; j = json_next(j))
		if (note_text(a, json_get_str(j, "command")) < 0)
			return -1;
	return check_setup(a);
}

static void
add_names(struct str *to, const struct json *names)
{
	const char *between = " ";

	for (const struct json *j = json_first(names); j; j = json_next(j)) {
		str_add(to, between);
		str_visible(to, json_key(j));
		between = ", ";
	}
}

/* Prints a line of those that were added, and one for each reason: a message
 * has limits. */
static void
report_commands(const struct asking *a)
{
	struct str names = {0};

	add_names(&names, a->added);
	if (names.len)
		err_say("%s: %zu command%s added:%s", a->file,
		    json_len(a->added),
		    json_len(a->added) == 1 ? " is" : "s are", names.s);
	for (size_t i = 0; i < REASONS; i++) {
		str_clear(&names);
		add_names(&names, a->left[i]);
		if (names.len)
			err_say("%s: %zu command%s left out, %s%s%s", a->file,
			    json_len(a->left[i]),
			    json_len(a->left[i]) == 1 ? " is" : "s are",
			    reason_names[i], i == HELP ? "" : ":",
			    i == HELP ? "" : names.s);
	}
	str_free(&names);
}

int
everycommand_add(const struct builds *b, const char *file, bool quiet,
    const volatile int *stop)
{
	struct asking a = {.file = file,
	    .stop = stop,
	    .known = json_object(),
	    .added = json_object()};
	int rc;

	for (size_t i = 0; i < REASONS; i++)
		a.left[i] = json_object();
	rc = read_config(&a);
	for (size_t i = 0; i < b->n && rc == 0; i++)
		rc = ask_build(&a, b->v[i]);
	if (rc == 0 && !*stop)
		rc = jsonl_write(STDOUT_FILENO, a.config);
	if (rc == 0 && !*stop && !quiet)
		report_commands(&a);
	for (size_t i = 0; i < REASONS; i++)
		json_free(a.left[i]);
	json_free(a.added);
	json_free(a.known);
	json_free(a.config);
	return *stop ? -1 : rc;
}
