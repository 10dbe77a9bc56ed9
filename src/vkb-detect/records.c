#include "json.h"
#include "record.h"
#include "show.h"
#include "str.h"

#include <math.h>
#include <stdlib.h>

static struct json *
make_range(const struct branch *b, const struct finding *f)
{
	const char *first = branch_first_suspect(b, f->lo);
	const char *last = b->points[f->hi].commit;
	struct json *j;

	if (!first || !last)
		return NULL;
	j = json_array();
	json_push(j, json_string(first));
	json_push(j, json_string(last));
	return j;
}

static struct json *
make_change(
    const struct branch *b, const struct findings *all, const struct finding *f)
{
	struct json *rec = record_new("change");
	const struct point *p = &b->points[f->at];
	char *key = finding_make_key(f, b);

	json_set(rec, "config", json_dup(f->series->config));
	json_set_str(rec, "metric", f->metric.name);
	json_set_str(rec, "better", metric_better_name(f->metric.better));
	json_set_str(rec, "kind", finding_name_kind(f->kind));
	json_set(rec, "subject", json_dup(p->subject));
	json_set_str(rec, "commit", p->commit);
	if (f->lo)
		json_set(
		    rec, "previous", json_dup(b->points[f->lo - 1].subject));
	json_set(rec, "range", make_range(b, f));
	json_set_num(rec, "index", (double)f->at);
	json_set(rec, "indexes", json_pair((double)f->lo, (double)f->hi));
	json_set(rec, "n", json_pair((double)f->n[0], (double)f->n[1]));
	json_set(
	    rec, "median", json_pair(f->facts.median[0], f->facts.median[1]));
	json_set_num(rec, "ratio", f->facts.ratio);
	if (!isnan(f->facts.lo95))
		json_set(rec, "ci95", json_pair(f->facts.lo95, f->facts.hi95));
	json_set_num(rec, "p", f->p);
	json_set_str(rec, "method", f->method);
	json_set_str(rec, "class", f->gate ? "gate" : "info");
	json_set_num(rec, "margin", f->margin);
	json_set_str(rec, "first_seen", p->time);
	json_set_bool(
	    rec, "new", f->fresh && f->stands && f->kind != FINDING_SPIKE);
	json_set_str(rec, "group", all->groups[f->group].key);
	json_set_str(rec, "key", key);
	if (f->waived)
		json_set(rec, "waiver", policy_describe_waiver(&f->waiver));
	free(key);
	return rec;
}

void
show_jsonl(struct str *s, const struct branch *b, const struct findings *all)
{
	for (size_t i = 0; i < all->n; i++) {
		struct json *rec = make_change(b, all, &all->v[i]);

		json_append(s, rec);
		str_addc(s, '\n');
		json_free(rec);
	}
}
