/* Writes the bytes of a file that is being made. */
#ifndef PUT_H
#define PUT_H

struct checksum;
struct str;

/* Writes 's' and adds it to the checksum. Returns 0, or -1 (error reported). */
int put_all(int fd, const struct str *, const char *name, struct checksum *);

#endif
