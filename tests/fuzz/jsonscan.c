/*
 * Foreign text as JSON: what the scan lets pass cJSON reads, and the same
 * values. (json_parse ends the program where the scan says yes and cJSON no.)
 */
#include "json.h"
#include "jsonscan.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
check(bool holds)
{
	if (!holds)
		abort();
}

/* Pulls what the tree has; where there is trouble, so much of it. */
static bool
pull(struct jsonscan *c, const struct json *j)
{
	struct jsonscan_keys o;
	struct jsonscan_text t;
	const struct json *k = json_first(j);
	bool first = true;
	double v;

	switch (jsonscan_peek(c)) {
	case '{':
		if (!jsonscan_object(c, &o))
			return false; /* too deep */
		for (; jsonscan_member(c, &o, &t) && pull(c, k);
		     k = j ? json_next(k) : NULL)
			check(!j || t.escaped || jsonscan_is(&t, json_key(k)));
		break;
	case '[':
		if (!jsonscan_array(c))
			return false;
		for (; jsonscan_element(c, &first) && pull(c, k);
		     k = j ? json_next(k) : NULL)
			;
		break;
	case '"':
		return jsonscan_string(c, &t) &&
		    (!j || t.escaped || jsonscan_is(&t, json_str(j)));
	default:
		if (jsonscan_number(c, &v)) {
			check(!j || json_num(j, NAN) == v);
			return true;
		}
		return jsonscan_value(c, NULL, NULL);
	}
	check(!j || !k);
	return !c->failed;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *s = malloc(size + 1);
	const char *why, *why2;
	size_t at, at2;
	struct jsonscan c;
	struct jsonscan_text all;
	struct json *j;
	uint64_t hash = 0;

	if (!s)
		abort();
	if (size)
		memcpy(s, data, size);
	s[size] = '\0';
	j = json_parse(s, size, &why, &at);
	jsonscan_begin(&c, s, size);
	if (!pull(&c, j))
		check(!j);
	check((jsonscan_end(&c, &why2, &at2) == 0) == (j != NULL));
	check(j ? !why && !why2 : strcmp(why, why2) == 0 && at == at2);
	jsonscan_begin(&c, s, size);
	if (jsonscan_value(&c, &all, &hash) && j)
		check(hash == json_hash(j));
	json_free(j);
	free(s);
	return 0;
}
