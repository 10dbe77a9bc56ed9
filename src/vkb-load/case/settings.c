#include "settings.h"
#include "client.h"
#include "err.h"
#include "json.h"
#include "mem.h"
#include "redact.h"
#include "target.h"
#include "vkb-load/engine/control.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

void
settings_free(struct settings *s)
{
	for (size_t i = 0; i < s->n; i++) {
		free(s->v[i].name);
		free(s->v[i].value);
	}
	free(s->v);
	*s = (struct settings){0};
}

char *
settings_read(const struct target *t, struct client *c, const char *name)
{
	struct reply *reply =
	    CLIENT_CALL(c, control_ms(&t->e, 0), "CONFIG", "GET", name);
	char *v = NULL;

	if (reply && reply_type(reply) == REPLY_ARRAY && reply_len(reply) == 2)
		v = mem_str(reply_text(reply_at(reply, 1)));
	reply_free(reply);
	return v;
}

/* Parses 100mb, in the units of valkey.conf. Returns -1 if not a number. */
static double
parse_amount(const char *s)
{
	static const struct {
		const char *unit;
		double factor;
	} units[] = {{"", 1}, {"b", 1}, {"k", 1e3}, {"kb", 1024}, {"m", 1e6},
	    {"mb", 1048576}, {"g", 1e9}, {"gb", 1073741824}};
	char *end;
	double v = strtod(s, &end);

	for (size_t i = 0; end != s && i < sizeof units / sizeof *units; i++)
		if (strcasecmp(end, units[i].unit) == 0)
			return v * units[i].factor;
	return -1;
}

static bool
is_same_value(const char *a, const char *b)
{
	return strcasecmp(a, b) == 0 ||
	    (parse_amount(a) >= 0 && parse_amount(a) == parse_amount(b));
}

/* Returns the text of a setting; that of a number is put into 'number'. */
static const char *
get_text(const struct json *setting, char number[32])
{
	if (json_str(setting))
		return json_str(setting);
	snprintf(number, 32, "%.15g", json_num(setting, 0));
	return number;
}

int
settings_check(
    const struct target *t, struct client *c, const struct json *wanted)
{
	char number[32], *has;
	const char *want;
	int rc = 0;

	for (const struct json *m = json_first(wanted); m && rc == 0;
	     m = json_next(m)) {
		if (redact_is_secret(json_key(m)))
			continue;
		want = get_text(m, number);
		has = settings_read(t, c, json_key(m));
		if (!has || !is_same_value(has, want))
			rc = err_fail("the case has %s '%s', the server %s%s%s",
			    json_key(m), want, has ? "'" : "",
			    has ? has : "does not say", has ? "'" : "");
		free(has);
	}
	return rc;
}

static int
change_setting(struct settings *s, const struct target *t, size_t node,
    struct client *c, const char *name, const char *value)
{
	char *old = settings_read(t, c, name), *now;
	struct reply *reply;
	int rc = 0;

	if (!old)
		return err_fail("the server has no setting '%s'", name);
	reply =
	    CONTROL_ASK(c, control_ms(&t->e, 0), "CONFIG", "SET", name, value);
	if (!reply) {
		free(old);
		return -1;
	}
	reply_free(reply);
	s->v = mem_grow(s->v, s->n, &s->cap, sizeof *s->v);
	s->v[s->n++] = (struct settings_old){
	    .node = node, .name = mem_str(name), .value = old};
	now = settings_read(t, c, name);
	if (!now || !is_same_value(now, value))
		rc = err_fail("setting '%s': '%s' was set, the server has '%s'",
		    name, value, now ? now : "nothing");
	free(now);
	return rc;
}

int
settings_change(struct settings *s, const struct target *t, size_t node,
    struct client *c, const struct json *wanted)
{
	char number[32];
	int rc = 0;

	for (const struct json *m = json_first(wanted); m && rc == 0;
	     m = json_next(m))
		rc = change_setting(
		    s, t, node, c, json_key(m), get_text(m, number));
	return rc;
}

static int
restore_setting(const struct settings_old *o, const struct target *t)
{
	struct client *c = target_client(t, o->node);
	struct reply *reply = c ? CONTROL_ASK(c, control_ms(&t->e, 0), "CONFIG",
				      "SET", o->name, o->value)
				: NULL;
	int rc = reply ? 0
		       : err_fail("cannot restore setting '%s' to '%s'",
			     o->name, o->value);

	reply_free(reply);
	client_close(c);
	return rc;
}

int
settings_restore(struct settings *s, const struct target *t)
{
	int rc = 0;

	for (size_t i = s->n; i-- > 0;)
		if (restore_setting(&s->v[i], t) < 0)
			rc = -1;
	settings_free(s);
	return rc;
}
