#include "dataset.h"
#include "err.h"
#include "mem.h"
#include "str.h"
#include "vkb-load/engine/rowset.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

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
same_file(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino &&
	    a->st_size == b->st_size &&
	    a->st_mtim.tv_sec == b->st_mtim.tv_sec &&
	    a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

static bool
has_fields(const struct rowset *d, const char *const *fields)
{
	for (; *fields; fields++)
		if (rowset_field(d, *fields) < 0)
			return false;
	return true;
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
		if (strcmp(e->path, want->path) != 0)
			continue;
		if (!same_file(&e->st, &fresh.st)) {
			free_entry(e);
			*e = s->v[--s->n];
			i--;
		} else if (e->maxdocs == want->maxdocs &&
		    strcmp(e->element, element) == 0 &&
		    has_fields(e->d, want->fields)) {
			return e->d;
		}
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
