#include "inputs.h"
#include "err.h"
#include "mem.h"

#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct stream {
	dev_t device;
	ino_t node;
};

static struct {
	struct stream *v;
	size_t n, cap;
} seen;

int
inputs_check(const char *file)
{
	bool in = strcmp(file, "-") == 0;
	struct stat st;

	if ((in ? fstat(STDIN_FILENO, &st) : stat(file, &st)) < 0 ||
	    S_ISCHR(st.st_mode) ||
	    (!in && !S_ISFIFO(st.st_mode) && !S_ISSOCK(st.st_mode)))
		return 0;
	for (size_t i = 0; i < seen.n; i++)
		if (seen.v[i].device == st.st_dev &&
		    seen.v[i].node == st.st_ino)
			return err_fail("'%s' is given twice and can be read "
					"only once: write it to a file, and "
					"give that",
			    in ? "stdin" : file);
	seen.v = mem_grow(seen.v, seen.n, &seen.cap, sizeof *seen.v);
	seen.v[seen.n++] = (struct stream){st.st_dev, st.st_ino};
	return 0;
}
