#include "err.h"
#include "hash.h"
#include "intake.h"
#include "mem.h"
#include "str.h"
#include "vkb-load/engine/rowset.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static int
read_format(struct intake *in)
{
	const char *path = in->want->path;

	if (str_ends(path, ".fvecs") || str_ends(path, ".ivecs"))
		return err_fail("%s: cannot read vectors of this format; "
				"convert them to .npy",
		    path);
	in->f = fopen(path, "re");
	if (!in->f)
		return err_fail_sys("cannot read '%s'", path);
	if (str_ends(path, ".xml"))
		return dataset_xml(in);
	if (str_ends(path, ".npy"))
		return dataset_npy(in);
	if (str_ends(path, ".jsonl") || str_ends(path, ".ndjson"))
		return dataset_json(in);
	return dataset_csv(in, str_ends(path, ".tsv") ? '\t' : ',');
}

struct rowset *
dataset_read(const struct dataset_want *want, dataset_stop_fn *stop, void *arg)
{
	struct intake in = {.want = want, .stop = stop, .arg = arg};
	struct rowset *d = rowset_new(want->fields);
	int rc;

	in.d = d;
	while (want->fields[in.nfields])
		in.nfields++;
	in.row = mem_array(in.nfields, sizeof *in.row);
	in.values = mem_array(in.nfields, sizeof *in.values);
	in.seen = mem_array(in.nfields, sizeof *in.seen);
	rc = read_format(&in);
	if (rc == 0 && !rowset_count(d))
		rc = err_fail("%s: the file has no rows", want->path);
	for (size_t i = 0; i < in.nnames; i++)
		free(in.names[i]);
	free(in.names);
	free(in.seen);
	free(in.values);
	free(in.row);
	free(in.line);
	str_free(&in.text);
	if (in.f)
		fclose(in.f);
	if (rc == 0)
		return d;
	rowset_free(d);
	return NULL;
}

struct entry {
	struct rowset *d;
	char *path, *element;
	long long maxdocs;
	struct stat st;
};

struct datasets {
	struct entry *v;
	size_t n, cap;
};

struct datasets *
datasets_new(void)
{
	return mem_new(sizeof(struct datasets));
}

static void
free_entry(struct entry *e)
{
	rowset_free(e->d);
	free(e->path);
	free(e->element);
}

void
datasets_free(struct datasets *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->n; i++)
		free_entry(&s->v[i]);
	free(s->v);
	free(s);
}

static bool
has_fields(const struct rowset *d, const char *const *fields)
{
	for (; *fields; fields++)
		if (rowset_field(d, *fields) < 0)
			return false;
	return true;
}

void
datasets_drop_stale(struct datasets *s)
{
	struct stat st;
	size_t i = 0;

	while (i < s->n)
		if (stat(s->v[i].path, &st) == 0 &&
		    hash_is_same_file(&s->v[i].st, &st)) {
			i++;
		} else {
			free_entry(&s->v[i]);
			s->v[i] = s->v[--s->n];
		}
}

const struct rowset *
datasets_get(struct datasets *s, const struct dataset_want *want,
    dataset_stop_fn *stop, void *arg)
{
	const char *element = want->xml_element ? want->xml_element : "";
	struct entry *e, fresh = {.maxdocs = want->maxdocs};
	size_t i;

	if (stat(want->path, &fresh.st) < 0) {
		err_fail_sys("cannot read '%s'", want->path);
		return NULL;
	}
	for (i = 0; i < s->n; i++) {
		e = &s->v[i];
		if (strcmp(e->path, want->path) == 0 &&
		    hash_is_same_file(&e->st, &fresh.st) &&
		    e->maxdocs == want->maxdocs &&
		    strcmp(e->element, element) == 0 &&
		    has_fields(e->d, want->fields))
			return e->d;
	}
	fresh.d = dataset_read(want, stop, arg);
	if (!fresh.d)
		return NULL;
	fresh.path = mem_str(want->path);
	fresh.element = mem_str(element);
	s->v = mem_grow(s->v, s->n, &s->cap, sizeof *s->v);
	s->v[s->n++] = fresh;
	return fresh.d;
}
