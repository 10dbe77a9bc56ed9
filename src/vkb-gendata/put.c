#include "put.h"
#include "checksum.h"
#include "err.h"
#include "str.h"

#include <errno.h>
#include <unistd.h>

int
put_all(int fd, const struct str *s, const char *name, struct checksum *sum)
{
	size_t done = 0;

	while (done < s->len) {
		ssize_t k = write(fd, s->s + done, s->len - done);

		if (k < 0 && errno == EINTR)
			continue;
		if (k < 0)
			return err_fail_sys("cannot write '%s'", name);
		done += (size_t)k;
	}
	checksum_add(sum, s->s, s->len);
	return 0;
}
