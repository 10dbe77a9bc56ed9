#include "board.h"
#include "client.h"
#include "err.h"
#include "json.h"
#include "mem.h"
#include "str.h"
#include "target.h"
#include "vkb-load/engine/control.h"

#include <stdlib.h>
#include <string.h>

#define CHANNEL "vkb:part:" /* and the state as JSON */

struct board {
	const struct target *target;
	struct client *own, *look; /* subscribed; for commands, or NULL */
	char *channel;             /* of our state, or NULL */
	int ms;                    /* of each command */
};

struct board *
board_open(const struct target *t)
{
	struct board *b = mem_new(sizeof *b);

	b->target = t;
	b->ms = control_ms(&t->e, 0);
	b->own = target_client(t, 0);
	b->look = b->own ? target_client(t, 0) : NULL;
	if (b->look)
		return b;
	board_close(b);
	return NULL;
}

void
board_close(struct board *b)
{
	if (!b)
		return;
	client_close(b->own);
	client_close(b->look);
	free(b->channel);
	free(b);
}

static int
call_own(struct board *b, const char *command, const char *channel)
{
	struct reply *r = CLIENT_CALL(b->own, b->ms, command, channel);
	int rc = 0;

	if (!r)
		rc = err_fail("cannot tell the other parts what this one "
			      "does: %s",
		    client_error(b->own));
	else if (reply_type(r) == REPLY_ERROR)
		rc = err_fail("the parts of a load meet by %s of channels "
			      "'" CHANNEL "*': %s",
		    command, reply_text(r));
	reply_free(r);
	return rc;
}

/* Subscribes first and unsubscribes then, so that there is always a state. */
int
board_publish(struct board *b, const struct json *state)
{
	char *text = json_print(state), *was = b->channel;
	int rc = 0;

	b->channel = mem_printf(CHANNEL "%s", text);
	if (!was || strcmp(was, b->channel) != 0)
		rc = call_own(b, "SUBSCRIBE", b->channel);
	if (rc == 0 && was && strcmp(was, b->channel) != 0)
		rc = call_own(b, "UNSUBSCRIBE", was);
	free(text);
	free(was);
	return rc;
}

static struct reply *
list_channels(struct board *b)
{
	return CLIENT_CALL(b->look, b->ms, "PUBSUB", "CHANNELS", CHANNEL "*");
}

/* Connects once more if the connection is lost. Returns 0, or -1. */
static int
look_again(struct board *b)
{
	client_close(b->look);
	b->look = target_client(b->target, 0);
	return b->look ? 0 : -1;
}

int
board_read(struct board *b, int (*fn)(void *arg, struct json *state), void *arg)
{
	struct reply *r = b->look ? list_channels(b) : NULL;
	const char *text;
	struct json *state;
	int rc = 0;

	if (!r && look_again(b) < 0)
		return -1;
	if (!r)
		r = list_channels(b);
	if (!r || reply_type(r) != REPLY_ARRAY) {
		text = r ? reply_text(r) : client_error(b->look);
		err_say("cannot see what the other parts do: %s",
		    text ? text : "bad reply to PUBSUB");
		reply_free(r);
		return -1;
	}
	for (size_t i = 0; i < reply_len(r) && rc == 0; i++) {
		text = reply_text(reply_at(r, i));
		state = text && str_starts(text, CHANNEL)
		    ? json_parse(text + strlen(CHANNEL),
			  strlen(text + strlen(CHANNEL)), NULL, NULL)
		    : NULL;
		if (state)
			rc = fn(arg, state);
	}
	reply_free(r);
	return rc;
}
