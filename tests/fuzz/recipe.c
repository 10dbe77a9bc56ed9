/* A foreign file as recipes: checked, and small ones made. */
#include "json.h"
#include "str.h"
#include "vkb-gendata/content.h"
#include "vkb-gendata/encode.h"
#include "vkb-gendata/pyrandom.h"
#include "vkb-gendata/recipe.h"
#include "vkb-gendata/vocabulary.h"

#include <stdint.h>
#include <stdlib.h>

#define SMALL 300

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
row(const struct recipe_file *f, const struct vocabulary *words, struct str *s)
{
	static struct pyrandom py;
	struct cell c = {.row = 3, .rows = 5, .words = words, .py = &py};
	struct str content = {0};

	encode_head(s, f);
	encode_begin(s, f, c.row);
	for (; c.field < f->n && c.field < 4; c.field++) {
		const struct recipe_field *x = &f->fields[c.field];

		c.size = x->size < SMALL ? x->size : SMALL;
		str_clear(&content);
		for (size_t k = 0; k < x->nt && k < 4 && !x->dims; k++)
			if (x->t[k].kind != TRANSFORM_FUZZY &&
			    x->t[k].kind != TRANSFORM_SPELT &&
			    (x->t[k].kind != TRANSFORM_IN_TURN ||
				x->t[k].nlist))
				content_apply_transform(&x->t[k], &c, &content);
		content_cut(&content, c.size);
		if (content.len > 4 * c.size)
			abort();
		if (f->format != RECIPE_NPY)
			encode_text(s, f, c.field, &content);
	}
	encode_end(s, f);
	encode_foot(s, f);
	str_free(&content);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct vocabulary *words;
	struct json *doc = json_parse((const char *)data, size, NULL, NULL);
	struct recipes r = {0};
	struct str s = {0};

	if (!words)
		words = vocabulary_new();
	if (!doc)
		return 0;
	if (recipe_parse(&r, doc, "fuzz") == 0)
		for (size_t i = 0; i < r.n && i < 4; i++)
			row(&r.v[i], words, &s);
	str_free(&s);
	recipe_free(&r);
	return 0;
}
