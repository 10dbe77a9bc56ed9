/* Gives the text of records to vkb-detect. */
#ifndef READBRANCH_H
#define READBRANCH_H

#include "changepoint.h"
#include "jsonl.h"
#include "str.h"
#include "branch.h"
#include "reading.h"

#include <sys/mman.h>
#include <unistd.h>

/* Reads the records. Returns 0, -1 after reporting an error, -2 if there is no
 * memory for the text. The caller frees with branch_free, but not after -2. */
static inline int
read_branch(struct branch *b, const struct str *s)
{
	int fd = memfd_create("records", MFD_CLOEXEC), rc;
	struct jsonl *in;

	if (fd < 0 || write(fd, s->s, s->len) != (ssize_t)s->len)
		return -2;
	lseek(fd, 0, SEEK_SET);
	in = jsonl_fd(fd, "records");
	branch_begin(b);
	rc = reading_add(b->reading, b, in);
	jsonl_close(in);
	branch_end(b, CHANGEPOINT_LEAST);
	return rc;
}

#endif
