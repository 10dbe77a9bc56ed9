/*
 * vkb-report: turns records of any type into one HTML page; or writes one of
 * its plots as SVG.
 */
#include "err.h"
#include "folder.h"
#include "html.h"
#include "intern.h"
#include "jsonl.h"
#include "metric.h"
#include "num.h"
#include "opt.h"
#include "output.h"
#include "str.h"
#include "vkb-report/figure.h"
#include "vkb-report/model.h"
#include "vkb-report/page.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

struct opts {
	const char *out, *title, *commit_url, *svg, *graphs, *metrics;
	bool list;
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
    {0, "svg", OPT_STR, AT(svg), "PLOT", .help = "write one plot as SVG"},
    {'t', "title", OPT_STR, AT(title), "TEXT",
	.help = "set the title of the page"},
    {0}};

static const struct opt_prog prog = {.name = "vkb-report",
    .operands = "[FILE ...]",
    .purpose = "Draw benchmark records as a page: HTML or SVG.",
    .table = option_table};

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

static int
draw_figure(struct str *s, const struct figures *f, const char *name)
{
	const struct figure *one = figures_find(f, name);

	if (!one)
		return err_fail("option '--svg': no plot '%s'; list the plots "
				"with --list",
		    name);
	figure_draw(s, f, one, true);
	return 0;
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

static bool
has_metric(const void *model, const char *name)
{
	const struct model *m = model;

	for (size_t i = 0; i < m->ncells; i++)
		if (model_metric(&m->cells[i], name))
			return true;
	return false;
}

static int
render_output(struct str *s, const struct opts *o, const struct model *m)
{
	struct figures f;
	int rc = metric_check_names(o->metrics, "no case", has_metric, m);

	if (rc < 0)
		return rc;
	figures_new(&f, m, o->metrics);
	str_add(s, "");
	if (o->list)
		list_figures(s, &f);
	else if (o->graphs)
		rc = write_graphs(&f, o->graphs);
	else if (o->svg)
		rc = draw_figure(s, &f, o->svg);
	else
		page_write(s,
		    &(struct page){.m = m,
			.figures = &f,
			.title = o->title,
			.commit_url = o->commit_url});
	figures_free(&f);
	return rc;
}

/* Reads all records. Without one there is nothing to draw. */
static int
read_records(struct model *m, struct jsonl *in)
{
	int rc = model_read(m, in);

	if (rc == 0 && jsonl_check_some(in) < 0)
		return -1;
	if (rc == 0 && !m->records)
		return err_fail("no record can be drawn: give runs of "
				"vkb-load, or what vkb-stats, vkb-compare, "
				"vkb-detect, vkb-profile or vkb-env write");
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

	if (o->list + (o->svg != NULL) + (o->graphs != NULL) > 1)
		return opt_usage(
		    &prog, "--graph-dir, --list and --svg exclude each other");
	if (o->graphs && o->out)
		return opt_usage(&prog,
		    "--graph-dir writes files: -o cannot be combined with it");
	if (o->commit_url && html_check_url("--commit-url", o->commit_url) < 0)
		return -1;
	if (!args->n && opt_stdin(&prog) < 0)
		return -1;
	in = jsonl_open((const char *const *)args->v, args->n);
	rc = read_records(&m, in);
	if (m.records &&
	    (render_output(&s, o, &m) < 0 ||
		(!o->graphs && output_write(&out, &s) < 0)))
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
