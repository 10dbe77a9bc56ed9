/*
 * One pair of functions for each format, for the table of formats.h.
 * vkb-parse(1) documents what becomes a run, and which keys it gets.
 */
#ifndef PARSERS_H
#define PARSERS_H

#include <stdbool.h>

struct json;
struct runs;
struct source;

/* vkb's own records, one per line; records other than runs are copied. */
bool records_is(const char *head);
int records_parse_text(struct source *, struct runs *);

/* metrics.json of the Python tool. */
bool records_is_flat(const struct json *);
int records_parse_flat(const struct json *, struct source *, struct runs *);

/* rows of its tables in PostgreSQL, as CSV, and any CSV, by --columns */
bool table_is(const char *head);
int table_parse_text(struct source *, struct runs *);
int table_parse_columns(struct source *, struct runs *);

/* valkey-benchmark and redis-benchmark: with --csv, and their text */
int benchtext_parse_csv(struct source *, struct runs *);
bool benchtext_is(const char *head);
int benchtext_parse_text(struct source *, struct runs *);

/* memtier_benchmark --json-out-file */
bool memtier_is(const struct json *);
int memtier_parse_json(const struct json *, struct source *, struct runs *);

/* Google Benchmark --benchmark_format=json */
bool gbench_is(const struct json *);
int gbench_parse_json(const struct json *, struct source *, struct runs *);

/* criterion's estimates.json and sample.json */
bool criterion_is(const struct json *);
int criterion_parse_json(const struct json *, struct source *, struct runs *);

/* hyperfine --export-json */
bool lists_is_hyperfine(const struct json *);
int lists_parse_hyperfine(const struct json *, struct source *, struct runs *);

/* pytest-benchmark --benchmark-json, JMH -rf json */
bool lists_is_pytest(const struct json *);
int lists_parse_pytest(const struct json *, struct source *, struct runs *);
bool lists_is_jmh(const struct json *);
int lists_parse_jmh(const struct json *, struct source *, struct runs *);

/* github-action-benchmark's customSmallerIsBetter and customBiggerIsBetter,
 * and Bencher's BMF */
bool custom_is(const struct json *);
int custom_parse_json(const struct json *, struct source *, struct runs *);
int custom_parse_smaller(const struct json *, struct source *, struct runs *);
int custom_parse_bigger(const struct json *, struct source *, struct runs *);
bool custom_is_bmf(const struct json *);
int custom_parse_bmf(const struct json *, struct source *, struct runs *);

/* {"metrics":{NAME:{"value":V,"unit":U}},"metadata":{},"timestamp":T} */
bool custom_is_regression(const struct json *);
int custom_parse_regression(
    const struct json *, struct source *, struct runs *);

/* perf stat -x, */
bool perfstat_is(const char *head);
int perfstat_parse_text(struct source *, struct runs *);

/* HdrHistogram interval logs */
bool hdrlog_is(const char *head);
int hdrlog_parse_text(struct source *, struct runs *);

/* go test -bench */
bool gobench_is(const char *head);
int gobench_parse_text(struct source *, struct runs *);

#endif
