#include "rdb.h"
#include "bytes.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>

#define MAGIC 9         /* bytes of "REDIS0011", "VALKEY080" */
#define CHECKSUM_FROM 5 /* version */
#define STREAM_ID 16    /* bytes */

enum {
	FUNCTION2 = 245,
	MODULE_AUX = 247,
	SLOT_INFO = 244,
	IDLE = 248,
	FREQ = 249,
	AUX = 250,
	RESIZE = 251,
	EXPIRE_MS = 252,
	EXPIRE_S = 253,
	SELECT = 254,
	END = 255
};

enum {
	STRING = 0,
	LIST = 1,
	SET = 2,
	ZSET = 3,
	HASH = 4,
	ZSET2 = 5,
	MODULE2 = 7,
	ONE_STRING = 9, /* zipmap, ziplist, intset, ... up to 13 */
	QUICKLIST = 14,
	STREAM = 15,
	HASH_LISTPACK = 16,
	ZSET_LISTPACK = 17,
	QUICKLIST2 = 18,
	STREAM2 = 19,
	SET_LISTPACK = 20,
	STREAM3 = 21,
	HASH2 = 22 /* fields with times to live, of Valkey 9 */
};

bool
rdb_is(int c)
{
	return c == 'R' || c == 'V';
}

/*
 * Reads a length. *special is set if it is not one but the way in which a text
 * is encoded. Returns 0 or -1.
 */
static int
read_length(struct bytes *b, uint64_t *n, bool *special)
{
	unsigned char c, low;
	uint32_t v;
	uint64_t w;

	*special = false;
	if (bytes_get(b, &c, 1) < 0)
		return -1;
	*n = c & 0x3f;
	switch (c >> 6) {
	case 0:
		return 0;
	case 1:
		if (bytes_get(b, &low, 1) < 0)
			return -1;
		*n = *n << 8 | low;
		return 0;
	case 3:
		*special = true;
		return 0;
	}
	if (c == 0x80) {
		if (bytes_get(b, &v, sizeof v) < 0)
			return -1;
		*n = be32toh(v);
		return 0;
	}
	if (c != 0x81)
		return bytes_fail(b, "broken RDB: an unknown length");
	if (bytes_get(b, &w, sizeof w) < 0)
		return -1;
	*n = be64toh(w);
	return 0;
}

static int
read_plain(struct bytes *b, uint64_t *n)
{
	bool special;

	if (read_length(b, n, &special) < 0)
		return -1;
	return special ? bytes_fail(b, "broken RDB: a length is missing") : 0;
}

static int
skip_numbers(struct bytes *b, unsigned n)
{
	uint64_t v;

	while (n--)
		if (read_plain(b, &v) < 0)
			return -1;
	return 0;
}

static int
skip_string(struct bytes *b)
{
	uint64_t n, packed;
	bool special;

	if (read_length(b, &n, &special) < 0)
		return -1;
	if (!special)
		return bytes_skip(b, n);
	if (n < 3) /* an integer of 1, 2 or 4 bytes */
		return bytes_skip(b, UINT64_C(1) << n);
	if (n > 3)
		return bytes_fail(b, "broken RDB: an unknown text");
	if (read_plain(b, &packed) < 0 || skip_numbers(b, 1) < 0)
		return -1;
	return bytes_skip(b, packed);
}

/* Passes over a score of an old sorted set, as text. */
static int
skip_score(struct bytes *b)
{
	unsigned char n;

	if (bytes_get(b, &n, 1) < 0)
		return -1;
	return n < 253 ? bytes_skip(b, n) : 0;
}

/* Passes over so many elements of 'strings' texts and so many bytes each. */
static int
skip_elements(struct bytes *b, unsigned strings, unsigned bytes, bool score)
{
	uint64_t n;

	if (read_plain(b, &n) < 0)
		return -1;
	while (n--) {
		for (unsigned i = 0; i < strings; i++)
			if (skip_string(b) < 0)
				return -1;
		if (bytes_skip(b, bytes) < 0 || (score && skip_score(b) < 0))
			return -1;
	}
	return 0;
}

/* Passes over what a module wrote: numbers and texts, each with its kind. */
static int
skip_module(struct bytes *b)
{
	uint64_t kind;
	int rc = 0;

	while (rc == 0) {
		if (read_plain(b, &kind) < 0)
			return -1;
		switch (kind) {
		case 0:
			return 0;
		case 1:
		case 2:
			rc = skip_numbers(b, 1);
			break;
		case 3:
			rc = bytes_skip(b, 4);
			break;
		case 4:
			rc = bytes_skip(b, 8);
			break;
		case 5:
			rc = skip_string(b);
			break;
		default:
			return bytes_fail(b, "broken RDB: data of a module");
		}
	}
	return rc;
}

/* Passes over entries that wait for an acknowledgement. */
static int
skip_pending(struct bytes *b, bool times)
{
	uint64_t n;

	if (read_plain(b, &n) < 0)
		return -1;
	while (n--)
		if (bytes_skip(b, STREAM_ID) < 0 ||
		    (times && (bytes_skip(b, 8) < 0 || skip_numbers(b, 1) < 0)))
			return -1;
	return 0;
}

static int
skip_consumers(struct bytes *b, int type)
{
	uint64_t n;

	if (read_plain(b, &n) < 0)
		return -1;
	while (n--)
		if (skip_string(b) < 0 ||
		    bytes_skip(b, type == STREAM3 ? 16 : 8) < 0 ||
		    skip_pending(b, false) < 0)
			return -1;
	return 0;
}

static int
skip_stream(struct bytes *b, int type)
{
	uint64_t groups;

	if (skip_elements(b, 2, 0, false) < 0 ||
	    skip_numbers(b, type == STREAM ? 3 : 8) < 0 ||
	    read_plain(b, &groups) < 0)
		return -1;
	while (groups--)
		if (skip_string(b) < 0 ||
		    skip_numbers(b, type == STREAM ? 2 : 3) < 0 ||
		    skip_pending(b, true) < 0 || skip_consumers(b, type) < 0)
			return -1;
	return 0;
}

static int
skip_quicklist(struct bytes *b)
{
	uint64_t n;

	if (read_plain(b, &n) < 0)
		return -1;
	while (n--)
		if (skip_numbers(b, 1) < 0 || skip_string(b) < 0)
			return -1;
	return 0;
}

static int
skip_value(struct bytes *b, int type, int version)
{
	switch (type) {
	case LIST:
	case SET:
	case QUICKLIST:
		return skip_elements(b, 1, 0, false);
	case ZSET:
		return skip_elements(b, 1, 0, true);
	case ZSET2:
		return skip_elements(b, 1, 8, false);
	case HASH:
		return skip_elements(b, 2, 0, false);
	case HASH2:
		return skip_elements(b, 2, 8, false);
	case MODULE2:
		return skip_numbers(b, 1) < 0 ? -1 : skip_module(b);
	case QUICKLIST2:
		return skip_quicklist(b);
	case STREAM:
	case STREAM2:
	case STREAM3:
		return skip_stream(b, type);
	case STRING:
	case HASH_LISTPACK:
	case ZSET_LISTPACK:
	case SET_LISTPACK:
		return skip_string(b);
	}
	if (type >= ONE_STRING && type < QUICKLIST)
		return skip_string(b);
	return bytes_fail(b,
	    "an RDB of version %d with a value of type %d, "
	    "which is not known",
	    version, type);
}

/* Passes over what is not a key and its value. Returns 0 or -1. */
static int
skip_opcode(struct bytes *b, int code, int version)
{
	switch (code) {
	case IDLE:
	case SELECT:
		return skip_numbers(b, 1);
	case FREQ:
		return bytes_skip(b, 1);
	case AUX:
		return skip_string(b) < 0 ? -1 : skip_string(b);
	case RESIZE:
		return skip_numbers(b, 2);
	case EXPIRE_MS:
		return bytes_skip(b, 8);
	case EXPIRE_S:
		return bytes_skip(b, 4);
	case FUNCTION2:
		return skip_string(b);
	case SLOT_INFO:
		return skip_numbers(b, 3);
	case MODULE_AUX:
		return skip_numbers(b, 3) < 0 ? -1 : skip_module(b);
	}
	if (skip_string(b) < 0)
		return -1;
	return skip_value(b, code, version);
}

int
rdb_skip(struct bytes *b)
{
	char magic[MAGIC + 1] = "";
	unsigned char code;
	int version;

	if (bytes_get(b, magic, MAGIC) < 0)
		return -1;
	version = atoi(magic + strcspn(magic, "0123456789"));
	if ((memcmp(magic, "REDIS", 5) != 0 &&
		memcmp(magic, "VALKEY", 6) != 0) ||
	    version < 1)
		return bytes_fail(b, "not an RDB");
	for (;;) {
		if (bytes_get(b, &code, 1) < 0)
			return -1;
		if (code == END)
			return bytes_skip(b, version >= CHECKSUM_FROM ? 8 : 0);
		if (skip_opcode(b, code, version) < 0)
			return -1;
	}
}
