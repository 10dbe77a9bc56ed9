/* Foreign markup as plain text: never crashed on, on one line. */
#include "str.h"
#include "vkb-gendata/wikitext.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str wiki = {0}, plain = {0};

	wikitext_append_unescaped(&wiki, (const char *)data, size);
	if (wiki.len > size)
		abort();
	wikitext_append_plain(&plain, wiki.s ? wiki.s : "", wiki.len);
	if (plain.s[plain.len] || memchr(plain.s, '\n', plain.len) ||
	    plain.len > size + 1)
		abort();
	str_free(&wiki);
	str_free(&plain);
	return 0;
}
