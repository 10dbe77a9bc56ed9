/* Prints files, or stdin, without their secrets. */
#include "err.h"
#include "inputs.h"
#include "opt.h"
#include "sink.h"
#include "str.h"

#include <unistd.h>

static const struct opt table[] = {{0}};

static const struct opt_prog prog = {.name = "vkb-redact",
    .operands = "[FILE ...]",
    .purpose = "Print files without passwords, tokens and logins.",
    .table = table};

static int
run_redact(void *dst, struct opt_args *args)
{
	struct str s = {0};
	int rc = 0;

	(void)dst;
	if (!args->n)
		rc = opt_stdin(&prog) < 0 ? -1 : inputs_read("-", &s);
	for (size_t i = 0; i < args->n && rc == 0; i++)
		rc = inputs_read(args->v[i], &s);
	if (rc == 0 && sink_text(STDOUT_FILENO, s.s, s.len) < 0)
		rc = err_fail_sys("cannot write to stdout");
	str_free(&s);
	return rc;
}

int
main(int argc, char **argv)
{
	char none;

	return opt_main(&prog, argc, argv, &none, run_redact);
}
