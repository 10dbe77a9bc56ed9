#include "footprint.h"
#include "command.h"
#include "engine.h"
#include "keys.h"
#include "template.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/*
 * A key or an element costs more than its bytes: an entry of a table, which
 * has two buckets of 8 bytes for each and half of that again while it grows,
 * the object, and what the allocator rounds up. An element of a list or a
 * stream is packed.
 */
#define PER_WORD 64
#define PER_PACKED_WORD 16
#define ROUNDING 1.25
#define MSET_KEYS 10    /* those of MGET as well */
#define BATCHES 1048576 /* those that fill the server, in flight */

static bool
is_placeholder(const char *word, size_t n, const char *name)
{
	return n >= strlen(name) && memmem(word, n, name, strlen(name));
}

/* Returns the bytes of a word when it is sent. */
static double
measure_word(const char *word, size_t n, double data_size)
{
	return is_placeholder(word, n, "__data__") ? data_size + (double)n
						   : (double)n;
}

static bool
is_packed(const char *text)
{
	static const char *const names[] = {"LPUSH ", "RPUSH ", "XADD "};

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (strncasecmp(text, names[i], strlen(names[i])) == 0)
			return true;
	return false;
}

double
footprint_text(const char *text, double data_size)
{
	double bytes = 0, each = is_packed(text) ? PER_PACKED_WORD : PER_WORD;
	size_t n;

	text += strcspn(text, " "); /* the name of the command */
	for (; *text; text += n) {
		text += strspn(text, " ");
		n = strcspn(text, " ");
		if (n)
			bytes +=
			    each + ROUNDING * measure_word(text, n, data_size);
	}
	return bytes;
}

static struct command_style
make_style(const struct engine_target *t, const struct engine_work *w)
{
	return (struct command_style){.cluster = t->cluster,
	    .prefix = t->prefix,
	    .same = TEMPLATE_SAME,
	    .ttl_low = w->ttl_low,
	    .ttl_high = w->ttl_high};
}

/* Returns what fills the server for a named command. */
static double
measure_seed(const struct engine_target *t, const struct engine_work *w,
    const char *command, double *elements)
{
	struct command_style style = make_style(t, w);
	double n = engine_count_seeds(t, w, command);
	unsigned many = 1;
	char *text;

	if (n <= 0)
		return 0;
	text = command_seed_text(command, &many, &style);
	n *= footprint_text(text, (double)w->data_size);
	*elements += engine_count_seeds(t, w, command);
	free(text);
	return n;
}

/* Returns how many commands of a text write something new. */
static double
count_written(const struct engine_work *w, const char *text)
{
	double space = fmax(1, (double)w->keyspacelen);
	double requests = (double)w->requests;

	if (is_packed(text) || strstr(text, "__seq__"))
		return requests > 0 ? requests : INFINITY;
	if (!strstr(text, "__rand") && !strstr(text, "{key}") &&
	    !strstr(text, "__field"))
		return 1;
	if (strncmp(text, "MSET ", 5) == 0)
		space = ceil(space / MSET_KEYS);
	return requests > 0 ? fmin(space, requests) : space;
}

double
footprint_command(const struct engine_target *t, const struct engine_work *w,
    const char *command, const char *text, double *elements)
{
	struct command_style style = make_style(t, w);
	double n, bytes = 0;
	char *own = NULL;

	if (!text && command_known(command)) {
		bytes = measure_seed(t, w, command, elements);
		if (command_needs(command) == NEEDS_NOTHING &&
		    strncmp(command, "PING", 4) != 0)
			text = own = command_text(command, &style);
	}
	if (!text)
		return bytes;
	n = count_written(w, text);
	if (!isinf(n))
		bytes += n * footprint_text(text, (double)w->data_size);
	*elements += n * (strncmp(text, "MSET ", 5) == 0 ? MSET_KEYS : 1);
	free(own);
	return bytes;
}

/* Returns how many elements the reply to a named command has. */
static double
count_replied(const char *command)
{
	struct command_style style = {.same = ""};
	double n = strcmp(command, "MGET") == 0 ? MSET_KEYS : 1;
	char *text, *last;

	if (!command_known(command) || command_needs(command) != NEEDS_SOME)
		return n;
	text = command_text(command, &style);
	last = strrchr(text, ' '); /* "LRANGE mylist 0 99" */
	n = last ? atof(last) + 1 : n;
	free(text);
	return n;
}

double
footprint_connections(const struct engine_work *w, size_t nodes)
{
	double replied = count_replied(w->command);
	double each;

	for (size_t i = 0; i < w->nmix; i++)
		if (!w->mix[i].text)
			replied =
			    fmax(replied, count_replied(w->mix[i].command));
	each = FOOTPRINT_CONNECTION +
	    (double)w->pipeline * (64 + replied * (double)(w->data_size + 32));
	return (double)w->clients * (double)nodes * each + BATCHES;
}
