#include "inputs.h"
#include "err.h"
#include "mem.h"
#include "str.h"

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

/* Notes that the file is about to be read. Returns 0, or -1 after reporting
 * that it was noted before and cannot be read again: a pipe, a socket, or
 * stdin. */
static int
note_input(const char *file)
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
	*MEM_ADD(seen.v, seen.n, seen.cap) =
	    (struct stream){st.st_dev, st.st_ino};
	return 0;
}

const char *
inputs_name(const char *file)
{
	return strcmp(file, "-") == 0 ? "stdin" : file;
}

FILE *
inputs_open(const char *file)
{
	FILE *f;

	if (note_input(file) < 0)
		return NULL;
	f = strcmp(file, "-") == 0 ? stdin : fopen(file, "re");
	if (!f)
		err_fail_sys("cannot read '%s'", file);
	return f;
}

void
inputs_close(FILE *f)
{
	if (f && f != stdin)
		fclose(f);
}

int
inputs_read(const char *file, struct str *s)
{
	FILE *f = inputs_open(file);
	int rc = f ? str_read(s, fileno(f)) : -1;

	str_add(s, "");
	if (f && rc < 0)
		err_fail_sys("cannot read '%s'", inputs_name(file));
	inputs_close(f);
	return rc;
}
