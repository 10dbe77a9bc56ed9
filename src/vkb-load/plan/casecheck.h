/* Checks cases that were read from a file, where they may have been edited. */
#ifndef CASECHECK_H
#define CASECHECK_H

struct json;

/* Are its values valid? 0, or -1, error reported. 'where' is FILE:LINE. */
int casecheck(const struct json *cas, const char *where);

/* Does 'server' agree with 'config'? 0, or -1, error reported. */
int casecheck_server(const struct json *cas, const char *where);

/* Returns the name of the engine of a case; never NULL. */
#define CASECHECK_NATIVE "native"
const char *casecheck_engine(const struct json *config);

#endif
