/* Foreign bytes as a release archive: no file of it is outside. */
#include "err.h"
#include "tarball.h"

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
check(const struct tarball_file *f)
{
	if (!*f->path || *f->path == '/' || strcmp(f->path, "..") == 0 ||
	    strncmp(f->path, "../", 3) == 0 || strstr(f->path, "/../") ||
	    strstr(f->path, "//") || strlen(f->data) > f->len ||
	    f->len > TARBALL_FILE)
		abort();
	if (f->link && (*f->data == '/' || !*f->data))
		abort();
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int fd = memfd_create("archive", MFD_CLOEXEC);
	struct tarball_file f;
	struct tarball *t;
	char name[40];

	snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	t = tarball_open(name);
	while (t && tarball_next(t, &f) > 0)
		check(&f);
	tarball_close(t);
	close(fd);
	return 0;
}
