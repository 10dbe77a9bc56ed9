/* Checks of configurations: how connections are made. */
#ifndef CONFIGCONN_H
#define CONFIGCONN_H

struct configwalk;
struct json;

/* Reports keys that cannot be combined, or lack what they are about. */
void configconn_check(struct configwalk *, const struct json *cfg);

#endif
