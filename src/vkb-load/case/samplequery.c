#include "samplequery.h"
#include "err.h"
#include "mem.h"
#include "vkb-load/data/dataset.h"
#include "vkb-load/engine/chooser.h"
#include "vkb-load/engine/engine.h"
#include "vkb-load/engine/keys.h"
#include "vkb-load/engine/rowset.h"
#include "vkb-load/engine/template.h"
#include "vkb-load/engine/words.h"

#include <stdlib.h>

#define FULL 65536

struct samplequery {
	struct template *t;
	struct cmdsource *source; /* the same */
	struct rowset *rows;
	struct cursor course;
	struct keys keys;
	char *buf;
};

void
samplequery_close(struct samplequery *q)
{
	if (!q)
		return;
	template_free(q->t);
	rowset_free(q->rows);
	free(q->buf);
	free(q);
}

/* Reads only 'most' rows, to be fast. */
static int
bind_rows(struct samplequery *q, const struct engine_work *w, size_t most)
{
	struct dataset_want want = *w->data;

	want.maxdocs = (long long)most;
	want.fields = template_fields(q->t);
	if (!*want.fields)
		return 0;
	q->rows = dataset_read(&want, NULL, NULL);
	if (!q->rows)
		return -1;
	template_bind(q->t, q->rows, 0);
	return 0;
}

struct samplequery *
samplequery_open(const struct engine_work *w, const char *prefix, size_t most)
{
	struct samplequery *q = mem_new(sizeof *q);
	uint64_t space = w->keyspacelen > 0 ? (uint64_t)w->keyspacelen : 1;
	char *why = NULL, *text = words_expand_prefix(w->text, prefix);

	q->keys = (struct keys){.space = space, .count = space};
	q->course.chooser = chooser_find(w);
	rng_seed(&q->course.rng, w->seed, 0);
	q->t = template_new(text, w->data_size, false, &why);
	if (!q->t)
		err_say("'%s': %s", text, why);
	free(text);
	free(why);
	if (!q->t || bind_rows(q, w, most) < 0) {
		samplequery_close(q);
		return NULL;
	}
	q->source = template_source(q->t);
	q->buf = mem_new(q->source->ops->room(q->source, FULL));
	return q;
}

const char *
samplequery_next(struct samplequery *q, size_t *n)
{
	q->source->ops->make(
	    q->source, &q->course, &q->keys, q->buf, 1, FULL, n);
	return q->buf;
}
