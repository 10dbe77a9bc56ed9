/* JSON values without their secrets (redact.h), for what leaves a program and
 * for what identifies a configuration. */
#ifndef JSONPUBLIC_H
#define JSONPUBLIC_H

struct json;
struct str;

/* The same as json_append, json_canonical and json_dup. */
void jsonpublic_append(struct str *, const struct json *);
void jsonpublic_canonical(struct str *, const struct json *);
struct json *jsonpublic_copy(const struct json *);

#endif
