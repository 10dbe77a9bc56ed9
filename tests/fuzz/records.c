/* Foreign text as JSON lines: parsed, checked, printed, parsed again. */
#include "json.h"
#include "jsonl.h"
#include "record.h"
#include "str.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What is printed is JSON again, and the same value. */
static void
round_trip(const struct json *j)
{
	struct str s = {0};
	struct json *again;

	json_append(&s, j);
	again = json_parse(s.s, s.len, NULL, NULL);
	if (!again || !json_equal(j, again) || json_hash(j) != json_hash(again))
		abort();
	json_free(again);
	str_free(&s);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int fd = memfd_create("fuzz", 0), rc;
	struct json *rec;
	struct jsonl *in;
	char *name;

	if (fd < 0 || write(fd, data, size) != (ssize_t)size ||
	    lseek(fd, 0, SEEK_SET) < 0)
		abort();
	in = jsonl_fd(fd, "fuzz");
	/* Trouble does not end the reading, but 100 troubles are enough. */
	for (int bad = 0; bad < 100 && (rc = record_next(in, &rec)) != 0;) {
		if (rc < 0) {
			bad++;
			continue;
		}
		round_trip(rec);
		name = record_subject_name(json_get(rec, "subject"));
		free(name);
		json_free(rec);
	}
	jsonl_close(in);
	return 0;
}
