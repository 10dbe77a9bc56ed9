/*
 * Command line options: one table yields parsing, --help, error messages and
 * shell completion. -h/--help and -V/--version are built in; a program that
 * has -h HOST prints its help for -h without a host.
 *
 *	struct opts { const char *out; bool quiet; long long jobs; };
 *	static const struct opt table[] = {
 *		{'o', "output", OPT_STR, offsetof(struct opts, out), "FILE",
 *		    .help = "write to FILE instead of stdout"},
 *		{'j', "jobs", OPT_INT, offsetof(struct opts, jobs), "N",
 *		    .min = 1, .max = 1024, .help = "..."},
 *		{0}};
 */
#ifndef OPT_H
#define OPT_H

#include <stdbool.h>
#include <stddef.h>

enum opt_kind {
	OPT_FLAG,     /* bool, set to true */
	OPT_STR,      /* const char *, borrowed from argv; two that differ are
		       * an error */
	OPT_LIST,     /* struct opt_list, one entry each time it is given */
	OPT_INT,      /* long long in min..max */
	OPT_REAL,     /* double in min..max */
	OPT_DURATION, /* double, seconds in min..max */
	OPT_SIZE,     /* long long, bytes in min..max */
	OPT_CHOICE    /* const char *, one of 'choices' */
};

struct opt_list {
	const char **v; /* caller frees with free() */
	size_t n;
};

struct opt {
	char letter;      /* 0: the long name only */
	const char *name; /* NULL ends the table */
	enum opt_kind kind;
	size_t offset;       /* of the field in the program's struct */
	const char *arg;     /* what --help calls the argument */
	double min, max;     /* both 0: no bounds */
	const char *choices; /* "a|b|c" */
	const char *help;    /* one line */
	/* The heading under which --help prints this option and those that
	 * follow; "": it prints none of them. NULL: as the one before. */
	const char *group;
	bool last; /* OPT_STR: of several values the last counts */
};

/* An option of another program, "-a" or "--rps", and what to write instead. */
struct opt_foreign {
	const char *option, *instead;
};

struct opt_prog {
	const char *name;     /* vkb-stats */
	const char *operands; /* "[FILE ...]", "SPEC -- COMMAND ..."; or "" */
	const char *purpose;  /* one line for --help */
	const struct opt *table;
	const char *examples;              /* lines for --help, or NULL */
	const struct opt_foreign *foreign; /* or NULL; option NULL ends it */
	const char *hint; /* where an option is unknown; or NULL */
};

enum { OPT_MOST = 128 }; /* options of a program */

struct opt_args {
	char **v; /* operands, borrowed from argv (permuted) */
	size_t n;
	char **rest; /* arguments after "--" if the program's 'operands' name
		      * "--", NULL without "--"; otherwise they are operands */
	size_t nrest;
	/* By option of the table: its last value, "" of a flag; NULL if it was
	 * not given. Borrowed. */
	const char *given[OPT_MOST];
};

/*
 * Fills the struct at 'dst'. Returns 0 to go on; 1 after printing --help or
 * --version, exit with 0; -1 after reporting a wrong command line, exit with 2.
 * Options may come before and after operands, up to "--". The list of processes
 * then shows the arguments without their secrets (redact.h).
 */
int opt_parse(const struct opt_prog *, int argc, char **argv, void *dst,
    struct opt_args *);

/*
 * Does all that main() does: err_init, opt_parse, run(dst, args), flushing
 * stdout, freeing the lists at 'dst'. Returns the exit status: that of run(),
 * or 2 if run() returned a negative value, the command line is wrong or stdout
 * cannot be written.
 */
int opt_main(const struct opt_prog *, int argc, char **argv, void *dst,
    int (*run)(void *dst, struct opt_args *));

const char *opt_version(void);
const char *opt_tmpdir(void); /* $TMPDIR, else /tmp; borrowed */
bool opt_allows_colour(void); /* NO_COLOR (no-color.org) is unset or empty */

/* Returns the value of an environment variable, or NULL if it is unset or
 * empty. */
const char *opt_variable(const char *name);

/* Returns the password of a running server from the environment: VKB_PASSWORD,
 * else VALKEYCLI_AUTH, else REDISCLI_AUTH, or NULL. Passwords are never taken
 * from arguments, which every user can read. */
const char *opt_password(void);
/* Returns the name of that variable, or NULL. */
const char *opt_password_name(void);

/* Reports what is wrong with the operands, and the usage. Returns -1. */
int opt_usage(const struct opt_prog *, const char *wrong);

/* For programs that read stdin if no FILE is given. Returns 0, or -1 after
 * reporting that stdin is a terminal. */
int opt_stdin(const struct opt_prog *);

#endif
