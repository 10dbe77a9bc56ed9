/* Cases that were read: they may have been typed in an editor. */
#ifndef CASECHECK_H
#define CASECHECK_H

struct json;

/* Can it be run? 0, or -1 and said. */
int casecheck(const struct json *cas, const char *where);

/* Is its server the one that its identity speaks of? 0, or -1 and said. */
int casecheck_server(const struct json *cas, const char *where);

/* The engine that a case asks for; never NULL. */
#define CASECHECK_NATIVE "native"
const char *casecheck_engine(const struct json *config);

#endif
