#include "runrecord.h"
#include "json.h"
#include "jsonhash.h"
#include "jsonl.h"
#include "mem.h"
#include "record.h"
#include "recordreader.h"
#include "str.h"

#include <stdlib.h>

static bool read_metrics(struct record_reading *, uint64_t *hash);
static bool read_hists(struct record_reading *, uint64_t *hash);

/* Where each member of the record is stored; record_types[] has its type. */
static const struct record_member members[] = {
#define MEMBER(key, member)                                            \
	{                                                              \
		.path = key, .at = offsetof(struct run_record, member) \
	}
#define REPEATED(key, member)                                           \
	{                                                               \
		.path = key, .at = offsetof(struct run_record, member), \
		.repeated = true                                        \
	}
    REPEATED("subject", subject), REPEATED("config", config),
    REPEATED("env", env), {.path = "metrics", .read = read_metrics},
    {.path = "hist", .read = read_hists}, MEMBER("series", series),
    MEMBER("status", status), MEMBER("run.session", session),
    MEMBER("run.started", started), MEMBER("bound", bound),
    MEMBER("error", error), MEMBER("run.index", index),
    MEMBER("run.block", block), MEMBER("run.order", order), {0}
#undef MEMBER
#undef REPEATED
};

struct run_record_reader {
	struct record_reader *reader;
	struct str text; /* of a record that was a tree */
	struct run_metric *metrics;
	struct run_hist *hists;
	size_t metriccap, histcap;
	struct str *names; /* of the metrics of the last record, in order */
	size_t nnames, namecap, named; /* 'named' are valid */
};

/* A record, and the reader that owns its lists. */
struct target {
	struct run_record rec; /* first: members have offsets in it */
	struct run_record_reader *r;
};

struct run_record_reader *
run_record_reader_new(void)
{
	struct run_record_reader *r = mem_new(sizeof *r);

	r->reader = record_reader_new("run", members, true);
	r->metrics = mem_grow(NULL, 0, &r->metriccap, sizeof *r->metrics);
	return r;
}

void
run_record_reader_free(struct run_record_reader *r)
{
	if (!r)
		return;
	record_reader_free(r->reader);
	for (size_t i = 0; i < r->nnames; i++)
		str_free(&r->names[i]);
	free(r->names);
	str_free(&r->text);
	free(r->metrics);
	free(r->hists);
	free(r);
}

/* Reads the next name in "metrics", usually that of the record before. */
static bool
read_metric_name(struct run_record_reader *r, struct jsonscan *c,
    struct jsonscan_keys *o, size_t i, struct jsonscan_text *name)
{
	if (i < r->named && (i == 0 || o->expected) &&
	    jsonscan_expect(c, o, r->names[i].s, r->names[i].len)) {
		*name = (struct jsonscan_text){
		    r->names[i].s, r->names[i].len, false};
		return true;
	}
	if (!jsonscan_member(c, o, name))
		return false;
	if (i == r->nnames)
		*MEM_ADD(r->names, r->nnames, r->namecap) = (struct str){0};
	str_clear(&r->names[i]);
	str_addn(&r->names[i], name->s, name->n);
	r->named = i + 1;
	return true;
}

static bool
read_metrics(struct record_reading *x, uint64_t *hash)
{
	struct run_record *to = x->to;
	struct run_record_reader *r = ((struct target *)x->to)->r;
	struct jsonscan_keys o;
	struct jsonscan_text name;
	uint64_t sum = 0, h;
	bool escaped = false;

	jsonscan_object(&x->c, &o);
	while (read_metric_name(r, &x->c, &o, to->nmetrics, &name)) {
		struct run_metric *m;

		escaped |= name.escaped;

		m = MEM_ADD(r->metrics, to->nmetrics, r->metriccap);
		record_reader_resolve(x->reader, &name);
		m->name = name;
		if (!record_reader_number(x, &m->value, &h))
			return false;
		sum += jsonhash_member(name.s, name.n, h);
	}
	if (escaped)
		r->named =
		    0; /* resolved names do not match the text of a line */
	to->metrics = r->metrics;
	*hash = jsonhash_object(sum);
	return !x->c.failed;
}

static bool
read_hists(struct record_reading *x, uint64_t *hash)
{
	struct run_record *to = x->to;
	struct run_record_reader *r = ((struct target *)x->to)->r;
	struct jsonscan_keys o;
	struct jsonscan_text name;
	uint64_t sum = 0, h;

	jsonscan_object(&x->c, &o);
	while (jsonscan_member(&x->c, &o, &name)) {
		struct run_hist *m;

		m = MEM_ADD(r->hists, to->nhists, r->histcap);
		record_reader_resolve(x->reader, &name);
		*m = (struct run_hist){.name = name};
		if (jsonscan_peek(&x->c) == '"'
			? !record_reader_text(x, &m->text, &h)
			: !jsonscan_value(&x->c, NULL, &h))
			return false;
		sum += jsonhash_member(name.s, name.n, h);
	}
	to->hists = r->hists;
	*hash = jsonhash_object(sum);
	return !x->c.failed;
}

bool
run_record_read(struct run_record_reader *r, struct run_record *to,
    const char *line, size_t n)
{
	struct target t = {{.index = -1, .block = -1, .order = -1}, r};

	if (!record_reader_read(r->reader, &t, line, n, &t.rec.hash, NULL)) {
		r->named = 0; /* the rejected line may repeat a name */
		return false;
	}
	*to = t.rec;
	to->ok = jsonscan_is(&to->status, "ok");
	return !to->ok || to->metrics;
}

int
run_record_convert(struct run_record_reader *r, struct run_record *to,
    const struct json *run, const char *where)
{
	str_clear(&r->text);
	json_append(&r->text, run);
	return run_record_read(r, to, r->text.s, r->text.len)
	    ? 1
	    : err_fail("%s: the run record cannot be read", where);
}

int
run_record_next(struct run_record_reader *r, struct jsonl *in,
    struct run_record *to, struct json **rec)
{
	const char *line;
	size_t n;
	int rc = jsonl_text(in, &line, &n);

	*rec = NULL;
	if (rc <= 0 || run_record_read(r, to, line, n))
		return rc;
	rc = record_tree(in, rec);
	if (rc < 0 || !record_is(*rec, "run"))
		return rc;
	rc = run_record_convert(r, to, *rec, jsonl_where(in));
	json_free(*rec);
	*rec = NULL;
	return rc;
}
