#include "jsonpublic.h"
#include "json.h"
#include "redact.h"
#include "str.h"

void
jsonpublic_append(struct str *b, const struct json *j)
{
	struct str s = {0};

	json_append(&s, j);
	redact_add(b, s.s, s.len);
	str_free(&s);
}

void
jsonpublic_canonical(struct str *b, const struct json *j)
{
	struct str s = {0};

	json_canonical(&s, j);
	redact_add(b, s.s, s.len);
	str_free(&s);
}

struct json *
jsonpublic_copy(const struct json *j)
{
	struct str s = {0};
	struct json *copy;

	jsonpublic_append(&s, j);
	copy = json_parse(s.s, s.len, NULL, NULL);
	str_free(&s);
	return copy;
}
