#include "store.h"

#include "clock.h"
#include "json.h"

#include <stdlib.h>

void
store_rows_free(struct rowlist *r)
{
	for (size_t i = 0; i < r->n; i++)
		rules_free_row(&r->v[i]);
	free(r->v);
	*r = (struct rowlist){0};
}

void
store_configs_free(struct configs *c)
{
	for (size_t i = 0; i < c->n; i++) {
		free(c->v[i].hash);
		free(c->v[i].text);
	}
	free(c->v);
	*c = (struct configs){0};
}

static void
set_time(struct json *rec, const char *key, double v)
{
	char iso[CLOCK_ISO];

	if (v > 0)
		json_set_str(rec, key, clock_iso_of(iso, v));
	else
		json_del(rec, key);
}

static void
set_text(struct json *rec, const char *key, const char *s)
{
	if (s)
		json_set_str(rec, key, s);
	else
		json_del(rec, key);
}

void
store_fill_record(struct json *rec, const struct row *r)
{
	json_set_str(rec, "commit", r->sha);
	json_set_str(rec, "status", rules_names[r->status]);
	set_time(rec, "time", r->time);
	set_text(rec, "config_hash", r->config_hash);
	set_text(rec, "architecture", r->architecture);
	set_text(rec, "owner", r->owner);
	set_time(rec, "lease_until", r->lease_until);
	json_set_num(rec, "attempts", (double)r->attempts);
	set_text(rec, "reason", r->reason);
	set_time(rec, "created", r->created);
	set_time(rec, "updated", r->updated);
}
