#include "program.h"
#include "err.h"
#include "proc.h"
#include "str.h"

#include <stdlib.h>
#include <sys/wait.h>

#define PATIENCE_MS (30 * 60 * 1000)

int
program_call(const char **argv, int worst)
{
	const char *name = argv[0];
	char *program = proc_beside(name), buf[64];
	struct str said = {0};
	int status, rc;

	argv[0] = program;
	rc = proc_read(argv, false, PATIENCE_MS, &said, &status);
	if (rc == 0 && (!WIFEXITED(status) || WEXITSTATUS(status) > worst))
		rc = err_fail("%s %s%s%s", name,
		    proc_ended(status, buf, sizeof buf), said.len ? ": " : "",
		    said.len ? said.s : "");
	else if (rc == 0)
		rc = WEXITSTATUS(status);
	str_free(&said);
	free(program);
	return rc;
}
