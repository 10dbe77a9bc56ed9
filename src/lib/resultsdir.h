/*
 * A folder of results, as the Python tool and vkb-bench leave it:
 * REF/metrics.json for each commit.
 */
#ifndef RESULTSDIR_H
#define RESULTSDIR_H

struct json;

/* Reads a file of results. 'ref' is the name of its folder, or NULL if that was
 * named itself or is not UTF-8. Returns 0, or -1 after reporting errors. */
typedef int resultsdir_file(void *arg, const char *path, const char *ref);

/*
 * Calls 'read' for the metrics.json of 'dir' and those in the folders below it,
 * in the order of their names. If there are run records beside one, in
 * runs/NAME.jsonl, these are read instead, because they hold more. Continues
 * after errors. Returns 0, or -1 (errors reported), also if there are none.
 */
int resultsdir_each(const char *dir, resultsdir_file *read, void *arg);

/* Sets subject.ref of a run to 'ref', unless the subject has a name. */
void resultsdir_set_ref(struct json *run, const char *ref);

#endif
