/* What the records of a run say of its machine, its CPUs and its server. */
#ifndef PROVENANCE_H
#define PROVENANCE_H

struct json;
struct measure;

/* Sets the 'env' of a record of the run. */
void provenance_set_env(const struct measure *, struct json *rec);

/* Adds what the record of a server says of its programs to all records of the
 * run. */
void provenance_set_subject(struct measure *, const struct json *server);

#endif
