/*
 * vkb-report: turns records of any type into one HTML page; or writes one of
 * its plots as SVG or PNG, or a summary for a terminal.
 */
#include "err.h"
#include "folder.h"
#include "html.h"
#include "intern.h"
#include "jsonl.h"
#include "mem.h"
#include "num.h"
#include "opt.h"
#include "output.h"
#include "proc.h"
#include "sink.h"
#include "str.h"
#include "vkb-report/figure.h"
#include "vkb-report/model.h"
#include "vkb-report/page.h"
#include "vkb-report/text.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct opts {
	const char *out, *title, *commit_url, *svg, *png, *graphs, *metrics;
	bool list, text;
};

#define AT(f) offsetof(struct opts, f)

static const struct opt option_table[] = {
    {0, "commit-url", OPT_STR, AT(commit_url), "URL",
	.help = "link commits to URL followed by their id"},
    {0, "graph-dir", OPT_STR, AT(graphs), "DIR",
	.help = "write each plot as DIR/PLOT.svg, without the page"},
    {'l', "list", OPT_FLAG, AT(list), .help = "list the available plots"},
    {'m', "metrics", OPT_STR, AT(metrics), "WHAT",
	.help = "draw all, latency, or a list of metrics: A,B"},
    {'o', "output", OPT_STR, AT(out), "FILE",
	.help = "write to FILE instead of stdout"},
    {0, "png", OPT_STR, AT(png), "PLOT",
	.help = "write one plot as PNG (needs rsvg-convert)"},
    {0, "svg", OPT_STR, AT(svg), "PLOT", .help = "write one plot as SVG"},
    {0, "text", OPT_FLAG, AT(text), .help = "write a summary for a terminal"},
    {'t', "title", OPT_STR, AT(title), "TEXT",
	.help = "set the title of the page"},
    {0}};

static const struct opt_prog prog = {"vkb-report", "[FILE ...]",
    "Draw benchmark records as a page: HTML, SVG or PNG.", option_table};

enum { PATIENCE_MS = 120000 };

static int
run_rsvg_convert(int in, int out, int err)
{
	static const char *const argv[] = {
	    "rsvg-convert", "--format=png", "--zoom=2", NULL};
	const struct proc_spec spec = {.argv = argv,
	    .in = in,
	    .out = out,
	    .err = err,
	    .session = true,
	    .death_signal = SIGKILL};
	struct proc *p = proc_start(&spec);
	struct str message = {0};
	int status, rc = -1;

	if (!p) {
		if (errno == ENOENT)
			err_say(
			    "cannot make a PNG: install rsvg-convert (package "
			    "librsvg2-bin or librsvg2-tools), or use --svg");
		return -1;
	}
	if (!proc_wait(p, PATIENCE_MS, &status))
		err_say(
		    "'rsvg-convert' did not finish in time and was stopped");
	else if (status) {
		lseek(err, 0, SEEK_SET);
		str_read(&message, err);
		err_say("'rsvg-convert' failed: %s",
		    message.len ? message.s : "no error message");
	} else
		rc = 0;
	str_free(&message);
	proc_free(p);
	return rc;
}

/* Appends the PNG at twice the size. Returns 0, or -1 after reporting that
 * rsvg-convert is missing or failed. */
static int
convert_to_png(struct str *to, const struct str *svg)
{
	int fd[3], rc = 0;

	for (size_t i = 0; i < 3; i++)
		fd[i] = memfd_create("plot", MFD_CLOEXEC);
	if (fd[0] < 0 || fd[1] < 0 || fd[2] < 0 ||
	    sink_write(fd[0], svg->s, svg->len) < 0 ||
	    lseek(fd[0], 0, SEEK_SET) < 0)
		rc = err_fail_sys("cannot keep a plot in memory");
	if (rc == 0)
		rc = run_rsvg_convert(fd[0], fd[1], fd[2]);
	if (rc == 0 &&
	    (lseek(fd[1], 0, SEEK_SET) < 0 || str_read(to, fd[1]) < 0))
		rc = err_fail_sys("cannot read a plot from memory");
	for (size_t i = 0; i < 3; i++)
		if (fd[i] >= 0)
			close(fd[i]);
	return rc;
}

static void
list_figures(struct str *s, const struct figures *f)
{
	for (size_t i = 0; i < f->n; i++) {
		str_visible(s, f->v[i].name);
		str_addc(s, '\t');
		str_visible(s, f->v[i].title);
		str_addc(s, '\n');
	}
}

/* Draws one figure as SVG or PNG. */
static int
draw_figure(struct str *s, const struct figures *f, const char *name, bool png)
{
	const struct figure *one = figures_find(f, name);
	struct str svg = {0};
	int rc = 0;

	if (!one)
		return err_fail(
		    "option '--%s': no plot '%s'; list the plots with --list",
		    png ? "png" : "svg", name);
	figure_draw(png ? &svg : s, f, one, true);
	if (png)
		rc = convert_to_png(s, &svg);
	str_free(&svg);
	return rc;
}

/* Adds the name of a file: that of the figure, with a number if the file of
 * another figure has that name. */
static void
add_file_name(struct str *path, struct intern *used, const char *figure)
{
	struct str name = {0};
	size_t n, length;

	folder_add_part(&name, figure);
	length = name.len;
	for (size_t i = 2;
	     (n = intern_count(used), intern_id(used, name.s) < n); i++) {
		name.len = length;
		str_printf(&name, "-%zu", i);
	}
	str_printf(path, "%s.svg", name.s);
	str_free(&name);
}

/* Writes one file for each figure to 'dir'. */
static int
write_graphs(const struct figures *f, const char *dir)
{
	struct intern *used = intern_new();
	int rc = folder_make(dir);

	for (size_t i = 0; rc == 0 && i < f->n; i++) {
		struct str s = {0}, path = {0};

		str_printf(&path, "%s/", dir);
		add_file_name(&path, used, f->v[i].name);
		figure_draw(&s, f, &f->v[i], true);
		rc = output_write(&(struct output){.file = path.s}, &s);
		str_free(&path);
		str_free(&s);
	}
	if (rc == 0)
		err_say(
		    "wrote %zu plot%s to '%s'", f->n, num_plural(f->n), dir);
	intern_free(used);
	return rc;
}

/* Returns -1, after reporting it, if --metrics names an unknown metric. */
static int
check_metric_names(const char *what, const struct model *m)
{
	int rc = 0;

	if (!what || strcmp(what, "all") == 0 || strcmp(what, "latency") == 0)
		return 0;
	for (size_t len; *what; what += len + (what[len] == ',')) {
		char *name;
		bool found = false;

		len = strcspn(what, ",");
		name = mem_strn(what, len);
		for (size_t i = 0; i < m->ncells && !found; i++)
			found = model_metric(&m->cells[i], name) != NULL;
		if (!found)
			rc = err_fail(
			    "option '--metrics': no case has '%s'", name);
		free(name);
	}
	return rc;
}

static int
render_output(struct str *s, const struct opts *o, const struct model *m)
{
	struct figures f;
	int rc = check_metric_names(o->metrics, m);

	if (rc < 0)
		return rc;
	figures_new(&f, m, o->metrics);
	str_add(s, "");
	if (o->list)
		list_figures(s, &f);
	else if (o->graphs)
		rc = write_graphs(&f, o->graphs);
	else if (o->svg || o->png)
		rc = draw_figure(s, &f, o->svg ? o->svg : o->png, !o->svg);
	else if (o->text)
		text_write(s, m);
	else
		page_write(s,
		    &(struct page){.m = m,
			.figures = &f,
			.title = o->title,
			.commit_url = o->commit_url});
	figures_free(&f);
	return rc;
}

static int
run_report(void *opts, struct opt_args *args)
{
	const struct opts *o = opts;
	struct output out = {0, o->out};
	struct jsonl *in;
	struct model m;
	struct str s = {0};
	int rc;

	if (o->list + o->text + (o->svg != NULL) + (o->png != NULL) +
		(o->graphs != NULL) >
	    1)
		return opt_usage(&prog,
		    "--graph-dir, --list, --png, --svg and --text exclude each "
		    "other");
	if (o->graphs && o->out)
		return opt_usage(&prog,
		    "--graph-dir writes files: -o cannot be combined with it");
	if (o->commit_url && html_check_url("--commit-url", o->commit_url) < 0)
		return -1;
	if (!args->n && opt_stdin(&prog) < 0)
		return -1;
	in = jsonl_open((const char *const *)args->v, args->n);
	rc = model_read(&m, in, opt_tmpdir());
	if (render_output(&s, o, &m) < 0 ||
	    (!o->graphs && output_write(&out, &s) < 0))
		rc = -1;
	str_free(&s);
	model_free(&m);
	jsonl_close(in);
	return rc;
}

int
main(int argc, char **argv)
{
	struct opts o = {0};

	return opt_main(&prog, argc, argv, &o, run_report);
}
