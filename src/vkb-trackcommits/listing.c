#include "listing.h"
#include "store.h"

#include "clock.h"
#include "json.h"
#include "mem.h"
#include "record.h"
#include "str.h"
#include "table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void
append_record(struct str *out, struct json *rec)
{
	json_append(out, rec);
	str_addc(out, '\n');
	json_free(rec);
}

static void
add_columns(struct table *t, const char *const *titles)
{
	for (; *titles; titles++)
		table_column(t, *titles, TABLE_LEFT);
}

/* Adds "2026-03-02 08:00:00", or "-" if v is 0. */
static void
add_time_cell(struct table *t, double v)
{
	char iso[CLOCK_ISO];

	if (!(v > 0)) {
		table_cell(t, "-");
		return;
	}
	clock_iso_of(iso, v);
	iso[strlen("2026-03-02T08:00:00")] = '\0';
	iso[strlen("2026-03-02")] = ' ';
	table_cell(t, iso);
}

static void
add_short_cell(struct table *t, const char *s, size_t most)
{
	char *cut = s ? mem_strn(s, strnlen(s, most)) : mem_str("-");

	table_cell(t, cut);
	free(cut);
}

static void
add_row_cells(struct table *t, const struct row *r, double now)
{
	char attempts[24];

	snprintf(attempts, sizeof attempts, "%lld", r->attempts);
	add_short_cell(t, r->sha, 12);
	add_time_cell(t, r->time);
	table_cell(t, rules_names[r->status]);
	table_cell(t, r->owner ? r->owner : "-");
	if (r->status != RULES_IN_PROGRESS)
		table_cell(t, "-");
	else if (rules_lease_end(r) <= now)
		table_cell(t, "ended");
	else
		add_time_cell(t, rules_lease_end(r));
	table_cell(t, attempts);
	table_cell(t, r->architecture ? r->architecture : "-");
	add_short_cell(t, r->config_hash, 8);
	table_cell(t, r->reason ? r->reason : "");
}

void
listing_print_rows(
    struct str *out, const struct rowlist *rows, double now, bool text)
{
	static const char *const titles[] = {"commit", "time", "status",
	    "owner", "lease until", "taken", "architecture", "config", "reason",
	    NULL};
	struct table *t = text ? table_new() : NULL;

	if (t)
		add_columns(t, titles);
	for (size_t i = 0; i < rows->n; i++) {
		struct json *rec;

		if (t) {
			add_row_cells(t, &rows->v[i], now);
			continue;
		}
		rec = record_new("track");
		store_fill_record(rec, &rows->v[i]);
		append_record(out, rec);
	}
	if (t)
		table_print(t, out, false);
	table_free(t);
}

static struct json *
make_config_record(const struct config *c)
{
	struct json *rec = record_new("track_config");

	json_set_str(rec, "config_hash", c->hash);
	if (c->text)
		json_set(rec, "config",
		    json_parse(c->text, strlen(c->text), NULL, NULL));
	for (size_t i = RULES_IN_PROGRESS; i <= RULES_FAILED; i++)
		json_set_num(rec, rules_names[i], (double)c->counts[i]);
	return rec;
}

static void
add_config_cells(struct table *t, const struct config *c)
{
	char count[24];

	add_short_cell(t, c->hash, 8);
	for (size_t i = RULES_IN_PROGRESS; i <= RULES_FAILED; i++) {
		snprintf(count, sizeof count, "%lld", c->counts[i]);
		table_cell(t, count);
	}
	add_short_cell(t, c->text, 60);
}

void
listing_print_configs(struct str *out, const struct configs *c, bool text)
{
	static const char *const titles[] = {
	    "config", "in_progress", "complete", "failed", "content", NULL};
	struct table *t = text ? table_new() : NULL;

	if (t)
		add_columns(t, titles);
	for (size_t i = 0; i < c->n; i++)
		if (t)
			add_config_cells(t, &c->v[i]);
		else
			append_record(out, make_config_record(&c->v[i]));
	if (t)
		table_print(t, out, false);
	table_free(t);
}
