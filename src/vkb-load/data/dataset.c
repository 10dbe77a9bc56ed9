#include "dataset.h"
#include "err.h"
#include "intake.h"
#include "mem.h"
#include "str.h"
#include "swapfile.h"
#include "vkb-load/engine/digits.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define NAMES_MOST 512               /* that are kept for a message */
#define VALUE_MOST (512U << 20)      /* of a bulk string, as servers have it */
#define BULK_EXTRA (DIGITS_MOST + 5) /* "$", the length, two CR LF */

struct dataset {
	char **fields;
	size_t nfields;
	struct swapfile *bytes, *index; /* rows; where each begins */
	uint64_t rows;
	size_t longest;
};

struct value {
	size_t at, n; /* in the text of the row */
	bool given;
};

struct intake {
	const struct dataset_want *want;
	dataset_stop_fn *stop;
	void *arg;
	struct dataset *d;
	struct str text; /* of the row in work */
	struct value *values;
	char **names; /* of the file; a NULL ends the list */
	bool *seen;   /* of the wanted */
	size_t nnames;
};

const char *
intake_path(const struct intake *in)
{
	return in->want->path;
}

const char *
intake_element(const struct intake *in)
{
	return in->want->xml_element ? in->want->xml_element : "doc";
}

static bool
is(const char *s, const char *name, size_t n)
{
	return strncmp(s, name, n) == 0 && !s[n];
}

int
intake_name(struct intake *in, const char *name, size_t n)
{
	size_t i;

	for (i = 0; i < in->d->nfields; i++)
		if (is(in->d->fields[i], name, n)) {
			in->seen[i] = true;
			return (int)i;
		}
	for (i = 0; i < in->nnames; i++)
		if (is(in->names[i], name, n))
			return -1;
	if (in->nnames < NAMES_MOST) {
		in->names =
		    mem_resize(in->names, in->nnames + 2, sizeof *in->names);
		in->names[in->nnames++] = mem_strn(name, n);
		in->names[in->nnames] = NULL;
	}
	return -1;
}

static void
list_names(const struct intake *in, struct str *s)
{
	size_t i;

	for (i = 0; i < in->d->nfields; i++)
		if (in->seen[i])
			str_printf(
			    s, "%s'%s'", s->len ? ", " : "", in->d->fields[i]);
	for (i = 0; i < in->nnames; i++)
		str_printf(s, "%s'%s'", s->len ? ", " : "", in->names[i]);
}

int
intake_names_end(struct intake *in)
{
	struct str s = {0};
	size_t i;

	for (i = 0; i < in->d->nfields && in->seen[i]; i++)
		continue;
	if (i == in->d->nfields)
		return 0;
	list_names(in, &s);
	err_say("%s: no field '%s'; there %s %s", intake_path(in),
	    in->d->fields[i], s.len ? "are" : "is",
	    s.len ? s.s : "none at all");
	str_free(&s);
	return -1;
}

bool
intake_has(const struct intake *in, int field)
{
	return in->values[field].given;
}

void
intake_field(struct intake *in, int field, const void *value, size_t n)
{
	struct value *v = &in->values[field];

	if (v->given)
		return;
	*v = (struct value){in->text.len, n, true};
	str_addn(&in->text, value, n);
}

static size_t
put_bulk(char *p, const char *value, size_t n)
{
	size_t k = 1;

	p[0] = '$';
	k += digits_put(p + 1, n);
	memcpy(p + k, "\r\n", 2);
	k += 2;
	if (n)
		memcpy(p + k, value, n);
	memcpy(p + k + n, "\r\n", 2);
	return k + n + 2;
}

int
intake_row(struct intake *in)
{
	struct dataset *d = in->d;
	size_t head = d->nfields * sizeof(uint32_t), i, at = 0;
	uint64_t begin = swapfile_size(d->bytes);
	const struct value *v;
	uint32_t end;
	char *p;

	if (in->stop && in->stop(in->arg))
		return -1;
	if (in->text.len > VALUE_MOST)
		return err_fail("%s: row %llu has more than 512 MB",
		    intake_path(in), (unsigned long long)d->rows + 1);
	p = swapfile_room(d->bytes,
	    head + in->text.len + d->nfields * BULK_EXTRA + sizeof end);
	if (!p || swapfile_add(d->index, &begin, sizeof begin) < 0)
		return -1;
	for (i = 0; i < d->nfields; i++) {
		v = &in->values[i];
		at += put_bulk(
		    p + head + at, v->given ? in->text.s + v->at : "", v->n);
		end = (uint32_t)at;
		memcpy(p + i * sizeof end, &end, sizeof end);
	}
	if (at > d->longest)
		d->longest = at;
	at = (head + at + sizeof end - 1) / sizeof end * sizeof end;
	swapfile_keep(d->bytes, at);
	memset(in->values, 0, d->nfields * sizeof *in->values);
	str_clear(&in->text);
	d->rows++;
	return in->want->maxdocs > 0 && d->rows >= (uint64_t)in->want->maxdocs;
}

static int
read_format(struct intake *in)
{
	const char *path = intake_path(in);

	if (str_ends(path, ".xml"))
		return dataset_xml(in);
	if (str_ends(path, ".npy"))
		return dataset_npy(in);
	if (str_ends(path, ".jsonl") || str_ends(path, ".ndjson"))
		return dataset_json(in);
	if (str_ends(path, ".fvecs") || str_ends(path, ".ivecs"))
		return err_fail("%s: vectors are read from .npy alone", path);
	return dataset_csv(in, str_ends(path, ".tsv") ? '\t' : ',');
}

static struct dataset *
new_dataset(const char *const *fields)
{
	struct dataset *d = mem_new(sizeof *d);
	size_t i;

	while (fields[d->nfields])
		d->nfields++;
	d->fields = mem_array(d->nfields + 1, sizeof *d->fields);
	for (i = 0; i < d->nfields; i++)
		d->fields[i] = mem_str(fields[i]);
	d->bytes = swapfile_new(0);
	d->index = swapfile_new(0);
	return d;
}

void
dataset_free(struct dataset *d)
{
	if (!d)
		return;
	for (size_t i = 0; i < d->nfields; i++)
		free(d->fields[i]);
	free(d->fields);
	swapfile_free(d->bytes);
	swapfile_free(d->index);
	free(d);
}

struct dataset *
dataset_read(const struct dataset_want *want, dataset_stop_fn *stop, void *arg)
{
	struct intake in = {.want = want, .stop = stop, .arg = arg};
	struct dataset *d = new_dataset(want->fields);
	int rc;

	in.d = d;
	in.values = mem_array(d->nfields, sizeof *in.values);
	in.seen = mem_array(d->nfields, sizeof *in.seen);
	rc = read_format(&in);
	if (rc == 0 && !d->rows)
		rc = err_fail("%s: there is no row in it", want->path);
	for (size_t i = 0; i < in.nnames; i++)
		free(in.names[i]);
	free(in.names);
	free(in.seen);
	free(in.values);
	str_free(&in.text);
	if (rc == 0)
		return d;
	dataset_free(d);
	return NULL;
}

uint64_t
dataset_rows(const struct dataset *d)
{
	return d->rows;
}

int
dataset_field(const struct dataset *d, const char *name)
{
	for (size_t i = 0; i < d->nfields; i++)
		if (strcmp(d->fields[i], name) == 0)
			return (int)i;
	return -1;
}

size_t
dataset_mean(const struct dataset *d)
{
	return swapfile_size(d->bytes) / d->rows;
}

size_t
dataset_longest(const struct dataset *d)
{
	return d->longest;
}

struct dataset_row
dataset_row(const struct dataset *d, uint64_t i)
{
	struct dataset_row r;
	uint64_t at;

	memcpy(&at, swapfile_bytes(d->index) + i * sizeof at, sizeof at);
	r.ends =
	    (const uint32_t *)(const void *)(swapfile_bytes(d->bytes) + at);
	r.bytes = (const char *)(r.ends + d->nfields);
	return r;
}

const char *
dataset_value(const char *bulk, size_t *n)
{
	const char *p = bulk;

	while (*p != '\r')
		p++;
	*n -= (size_t)(p - bulk) + 4;
	return p + 2;
}
