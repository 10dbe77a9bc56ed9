/* Foreign records as a page: whatever they say is only text. */
#include "jsonl.h"
#include "str.h"
#include "vkb-report/figure.h"
#include "vkb-report/model.h"
#include "vkb-report/page.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
once(const struct str *page, const char *what)
{
	const char *at = strstr(page->s, what);

	if (!at || strstr(at + 1, what))
		abort();
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int fd = memfd_create("fuzz", 0);
	struct figures f;
	struct model m;
	struct jsonl *in;
	struct str s = {0};

	if (fd < 0 || write(fd, data, size) != (ssize_t)size ||
	    lseek(fd, 0, SEEK_SET) < 0)
		abort();
	in = jsonl_fd(fd, "fuzz");
	model_read(&m, in);
	figures_new(&f, &m, NULL);
	page_write(&s, &(struct page){.m = &m, .figures = &f});
	once(&s, "<script");
	once(&s, "<style");
	for (size_t i = 0; i < f.n && i < 8; i++) {
		str_clear(&s);
		figure_draw(&s, &f, &f.v[i], true);
	}
	figures_free(&f);
	model_free(&m);
	jsonl_close(in);
	str_free(&s);
	return 0;
}
