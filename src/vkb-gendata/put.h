/* Bytes for a file that is being made. */
#ifndef PUT_H
#define PUT_H

struct checksum;
struct str;

/* Writes all of it and adds it to the sum. 0, or -1 and said. */
int put_all(int fd, const struct str *, const char *name, struct checksum *);

#endif
