#include "cmdsource.h"
#include "cmdargs.h"
#include "dealer.h"
#include "engine.h"
#include "keys.h"
#include "mem.h"
#include "mix.h"
#include "template.h"
#include "verify.h"
#include "words.h"

#include <stdlib.h>
#include <string.h>

static struct cmdsource *
open_plain(const struct engine_target *t, const struct engine_work *w)
{
	if (w->nmix)
		return mix_open(t, w);
	if (w->replay)
		return dealer_open_source();
	return w->text ? template_open(t, w) : template_open_named(t, w);
}

/* Finds the slot of the first key of n words, if it is always the same. */
static bool
find_slot(char *const *list, size_t n, uint16_t *slot)
{
	struct tracefile_word *words = mem_array(n + 1, sizeof *words);
	enum cmdargs_role *roles = mem_array(n + 1, sizeof *roles);
	bool found = false;
	size_t i;

	for (i = 0; i < n; i++)
		words[i] = (struct tracefile_word){list[i], strlen(list[i])};
	for (i = 0; n && cmdargs_roles(words, n, roles) && i < n; i++)
		if (roles[i] == CMDARGS_KEY) {
			found =
			    !strstr(list[i], "__") && !strpbrk(list[i], "{\\");
			*slot =
			    (uint16_t)keys_hash_slot(words[i].s, words[i].n);
			break;
		}
	free(words);
	free(roles);
	return found;
}

/* Sets the slot of a text if all its commands have one key, which is also that
 * of the texts before. Returns false if not. */
static bool
fix_slot(struct cmdsource *s, const char *text, const char *prefix)
{
	char *own = words_expand_prefix(text, prefix), **list;
	size_t n = 0, from = 0, end;
	bool same = true;
	const char *why;
	uint16_t slot = 0;

	list = words_split(own, &n, &why);
	for (; list && from < n && same; from = end + 1) {
		from += list[from][strspn(list[from], "0123456789")] == '\0';
		for (end = from; end < n && strcmp(list[end], ";") != 0; end++)
			continue;
		same = from < end &&
		    find_slot(list + from, end - from, &slot) &&
		    (!s->fixed || slot == s->slot);
		s->fixed = same;
		s->slot = slot;
	}
	words_free(list);
	free(own);
	return same && n;
}

/*
 * In a cluster, finds out if all requests have the same key, so that they go to
 * its node.
 */
static void
find_fixed_key(struct cmdsource *s, const struct engine_target *t,
    const struct engine_work *w)
{
	bool same = t->cluster && !s->tagged && !w->replay;

	if (!w->nmix)
		same = same && w->text && fix_slot(s, w->text, t->prefix);
	for (size_t i = 0; i < w->nmix && same; i++)
		same = w->mix[i].text && fix_slot(s, w->mix[i].text, t->prefix);
	s->fixed = same;
}

struct cmdsource *
cmdsource_open(const struct engine_target *t, const struct engine_work *w)
{
	struct engine_work inner = w->verify ? verify_inner_work(w) : *w;
	struct cmdsource *s = open_plain(t, &inner);

	if (s)
		find_fixed_key(s, t, w);
	return s && w->verify ? verify_open(s, w, 0) : s;
}

struct cmdsource *
cmdsource_open_seed(
    const struct engine_target *t, const struct engine_work *w, unsigned many)
{
	struct engine_work inner;
	struct cmdsource *s;

	if (!w->verify)
		return template_open_seed(t, w, many);
	inner = verify_inner_work(w);
	s = template_open_seed(t, &inner, many);
	return verify_open(s, w, s->values);
}

char *
cmdsource_buffer(const struct cmdsource *s, size_t full)
{
	char *buf = mem_new(s->ops->room(s, full) + s->nplaced);

	if (s->places)
		memcpy(buf, s->placed, s->nplaced);
	return buf;
}
