#include "record.h"

#define S JSON_STRING
#define N JSON_NUMBER
#define B JSON_BOOL
#define O JSON_OBJECT
#define A JSON_ARRAY

static const struct record_key build_keys[] = {
    {"subject", O, true, "what was built: commit, ref, label, ..."},
    {"status", S, true, "ok or failed"},
    {"server", S, false, "path of valkey-server; required when ok"},
    {"cli", S, false, "path of valkey-cli"},
    {"benchmark", S, false, "path of valkey-benchmark"},
    {"module", S, false, "path of a module that vkb-load loads"},
    {"error", S, false, "why it failed"},
    {"log", S, false, "path of the build log"},
    {"binary_sha256", S, false, "of valkey-server"},
    {"module_sha256", S, false, "of the module"},
    {"version", S, false, "as valkey-server reports it"},
    {"git_sha", S, false, "that valkey-server reports; absent if it does not"},
    {"incremental", B, false, "built with objects of another commit"},
    {"seconds", N, false, "duration of the build"},
    {"cached", B, false, "an earlier build was reused"}, {0}};

static const struct record_key spec_keys[] = {
    {"id", S, true, "names the server (or cluster) in later records"},
    {"action", S, false, "start (default) or stop"},
    {"server", S, false, "binary; default valkey-server from PATH"},
    {"host", S, false, "address to bind; default 127.0.0.1"},
    {"port", N, false, "first port; 0 or absent: free ports"},
    {"unixsocket", B, false, "listen on a unix socket too"},
    {"tls", B, false, "TLS on the port, no plain port"},
    {"primaries", N, false, "cluster of this many primaries; absent: none"},
    {"replicas", N, false, "replicas of each primary; default 0"},
    {"io_threads", N, false, "io-threads"},
    {"modules", A, false, "objects with path and args (array of strings)"},
    {"config", O, false, "more server settings, NAME: VALUE"},
    {"config_file", S, false, "server configuration file, read first"},
    {"config_set", O, false, "CONFIG SET after start, NAME: VALUE"},
    {"cpus", A, false, "CPU list of each node, in order (strings)"},
    {"placement", S, false,
	"without cpus: auto, the default, pins the nodes to CPUs of their own; "
	"none does not"},
    {"rdb", S, false, "RDB file to load at start (copied)"},
    {"aslr", B, false, "false: address randomisation off"},
    {"count", N, false,
	"run it under callgrind, to count its instructions; the seed of its "
	"random numbers"},
    {"count_caches", B, false, "with count: simulate caches and branches"},
    {0}};

static const struct record_key server_keys[] = {
    {"id", S, true, "as in the spec"},
    {"status", S, true, "ok, failed or stopped"},
    {"error", S, false, "why it failed, with the end of its log"},
    {"binary", O, false,
	"path, sha256; script_sha256 if another file started it"},
    {"modules", A, false, "of each, in order: path, sha256"},
    {"version", S, false, "valkey_version, else redis_version"},
    {"git_sha", S, false, "redis_git_sha1, where it is not zero"},
    {"build_id", S, false, "redis_build_id"},
    {"cluster", B, false, "the nodes form a cluster"},
    {"nodes", A, false,
	"each: host, port, pid, run_id, role, log; unixsocket, cpus if any"},
    {"tls", O, false,
	"paths: cacert, cert, key (of the client), servername; insecure"},
    {"ready_ms", N, false, "from exec until it answered"},
    {"config", O, false, "effective values of the requested settings"},
    {"dir", S, false, "run directory, with the logs"},
    {"count", O, false,
	"with count in the spec, paths: control (a socket), dumps (without the "
	"number at their end)"},
    {0}};

static const struct record_key case_keys[] = {
    {"id", S, true, "short, unique name of the case"},
    {"config", O, true, "what identifies the case; copied to its runs"},
    {"server", O, true, "spec without id; {} for a running server"},
    {"client", O, false, "cpus, ...: what does not identify the case"},
    {"scene", S, false, "equal for cases that follow each other on one server"},
    {"step", N, false, "position in the scene, from 1"},
    {"before", A, false, "cases that run before it without being recorded"},
    {"data", O, false, "how its datasets are made, for vkb-gendata"},
    {"about", O, false, "for people; copied to its runs"}, {0}};

static const struct record_key run_keys[] = {
    {"subject", O, true, "what is measured"},
    {"config", O, true, "configuration of the case"},
    {"run", O, true, "which repetition, when, in which order"},
    {"run.session", S, false, "equal for runs of one vkb-load"},
    {"run.index", N, false, "repetition of this case and subject, from 1"},
    {"run.block", N, false, "equal for runs that were interleaved"},
    {"run.slices", N, false,
	"slices in which the load took turns with that of other builds"},
    {"run.order", N, false, "position in the session, from 1"},
    {"run.started", S, false, "UTC, ISO 8601"},
    {"run.seed", N, false, "of the random numbers"},
    {"run.overlap_percent", N, false,
	"mixed cases: share of its time in which all others ran"},
    {"run.parts", A, false,
	"of a load that several vkb-load made: the run.part of each, and its "
	"host"},
    {"run.parts_overlap_percent", N, false,
	"share of the longest time in which all parts measured"},
    {"run.server_path", S, false,
	"the file of a server that vkb-load started; its SHA-256 is in "
	"subject"},
    {"run.module_path", S, false, "of a module that belongs to the subject"},
    {"counted", B, false,
	"made under callgrind, to count: it has no times, and its counts are "
	"exact"},
    {"about", O, false,
	"names for people: config_name, group_description, "
	"scenario_description"},
    {"env", O, false, "hardware, kernel and settings of the machine"},
    {"metrics", O, false, "NAME: number; required when ok"},
    {"hist", O, false, "NAME: HdrHistogram V2, deflated, base64"},
    {"series", O, false, "NAME: array, one entry per interval"},
    {"capacity", O, false,
	"a search of capacity_rps: ci95, closed_rps, trials (NAME: array, one "
	"entry per trial)"},
    {"samples", O, false,
	"the machine meanwhile: at_s, NAME: array, core_busy_percent, threads, "
	"cost_percent"},
    {"encodings", O, false,
	"ENCODING: keys of a sample that the server stores so"},
    {"artifacts", O, false, "NAME: path"},
    {"errors", O, false, "error kind: count"},
    {"omitted", O, false, "command of a trace that was not sent: count"},
    {"bound", S, false, "server, client or neither: what was the limit"},
    {"flat", O, false,
	"keys that metrics.json had in another form: said, unsaid, null"},
    {"status", S, true, "ok or failed"}, {"error", S, false, "why it failed"},
    {0}};

static const struct record_key part_keys[] = {
    {"subject", O, true, "what is measured"},
    {"config", O, true, "configuration of the whole case"},
    {"run", O, true, "as in run, and:"},
    {"run.session", S, true, "equal in all parts"},
    {"run.part", O, true, "which part this is, and when it measured"},
    {"run.part.i", N, true, "its number, from 1"},
    {"run.part.n", N, true, "number of parts"},
    {"run.part.clock_ahead_ms", N, false,
	"how far the clock of its host is ahead of that of the server"},
    {"run.part.clock_error_ms", N, false,
	"the largest error of this and the next two: half a round trip"},
    {"run.part.begin_us", N, false,
	"start of its measured time by the clock of the server, since 1970"},
    {"run.part.end_us", N, false,
	"end of its measured time by the clock of the server, since 1970"},
    {"metrics", O, false, "as in run, of this part; required when ok"},
    {"hist", O, false, "as in run, of this part"},
    {"series", O, false, "as in run, of this part"},
    {"errors", O, false, "as in run, of this part"},
    {"status", S, true, "ok or failed"}, {"error", S, false, "why it failed"},
    {0}};

static const struct record_key summary_keys[] = {
    {"subject", O, true, "what was measured"},
    {"config", O, true, "configuration of the case"},
    {"n", N, true, "runs summarised"},
    {"failed", N, true, "failed runs, which are left out"},
    {"doubled", N, false, "duplicate runs, counted once"},
    {"metrics", O, true,
	"NAME: n, median, mean, sd, cv_percent, ci95, ci95_method, mad, "
	"robust_cv_percent, iqr_percent, lag1, drift_percent, drifting, "
	"bimodal, min, max, values, blocks, sessions, outliers (objects: at, "
	"index, value, z), split (objects: source, sd_percent, n, below), "
	"advice, precision (object: now, wanted, runs)"},
    {"hist", O, false, "merged histograms, as in run"},
    {"whole", O, false, "percentiles of the merged histograms, NAME: number"},
    {"quantiles", O, false,
	"HIST: object, percentile: its value in each run, in the order of "
	"values"},
    {"steady", O, false,
	"trends within the runs: steady, drifting, none: count; warmup_s: "
	"warm-up to cut; kinds: flat, warmup, slowdown, unsteady: count"},
    {"env", O, false, "members that are equal in all runs"},
    {"env_varied", A, false, "names of env keys that differ between runs"},
    {"sessions", A, false, "sessions the runs came from"},
    {"bound", O, false, "server, client, neither: count"},
    {"errors", A, false, "texts of failed runs"}, {0}};

static const struct record_key delta_keys[] = {
    {"config", O, true, "configuration of the case"},
    {"baseline", O, true, "subject"}, {"contender", O, true, "subject"},
    {"metric", S, true, "name"},
    {"better", S, true, "higher, lower or neither"},
    {"n", A, true, "runs of each side"},
    {"values", A, false, "arrays of values of each side"},
    {"median", A, true, "of each side"},
    {"ratio", N, false, "contender over baseline"},
    {"ci95", A, false, "of the ratio; absent: too few runs"},
    {"ci90", A, false, "the same at 90%; compared with the margin"},
    {"probability", N, false,
	"that the value truly changed, in the direction that is likelier"},
    {"se", N, false, "standard error of ln(ratio)"},
    {"df", N, false, "its degrees of freedom"},
    {"method", S, true, "rounds, runs, sessions, identical or assumed"},
    {"paired", B, true, "blocks were paired"}, {"margin", N, true, "relative"},
    {"margin_from", S, false, "table, option, policy or history"},
    {"class", S, true, "gate or info"},
    {"primary", B, false, "the metric by which its case is judged first"},
    {"common", B, false,
	"the row is the common change of all cases of another session"},
    {"rest", O, false,
	"the change relative to the common one, on which the verdict is based: "
	"ratio, "
	"ci95, se, df"},
    {"verdict", S, true,
	"regression, improvement, different (neither is better), likely and "
	"one of these, equivalent, inconclusive, insufficient"},
    {"answer", S, false,
	"what became of the case, in the row that decides it: worse, no "
	"change, ..."},
    {"reason", S, false, "why the row is inconclusive: runs vary by 51%"},
    {"noise", B, false,
	"equivalent as both sides are the same server, whatever the intervals "
	"say"},
    {"outweighed", B, false,
	"different and no regression: more of a count, but less work or time; "
	"or less than 1 % more instructions, in the same time"},
    {"visible", N, false, "smallest relative change that these runs detect"},
    {"needed", O, false,
	"runs of each side (and minutes) that would decide it; rounds: "
	"interleaved runs, where the present ones are not paired"},
    {"waiver", O, false, "why the change is waived: rule, reason, expires"},
    {"notes", A, false, "texts"},
    {"together", S, false, "what count and time of the case say together"},
    {"functions", S, false,
	"what accounts for a change of instructions or system calls"},
    {0}};

static const struct record_key comparison_keys[] = {
    {"baseline", O, true, "subject"}, {"contender", O, true, "subject"},
    {"cases", N, true, "cases on both sides"},
    {"verdicts", O, true, "verdict: count, of gates"},
    {"claims", S, true, "fdr, or strict: how results are claimed"},
    {"rows", N, true, "judged results that claims are chosen from"},
    {"metrics", O, false,
	"metric: session_sd, measured (how much sessions differ), serial "
	"(correlation of neighbouring runs), step (of a coarse clock), machine "
	"(what it did, as a ratio), unchanged (share of cases)"},
    {"sessions", A, false,
	"of each side, if they share none: the most of one case"},
    {"session_sd", N, false,
	"standard deviation of ln(value) between sessions that intervals allow "
	"for, unless it is measured here"},
    {"session_from", S, false, "where it is from: policy, history or default"},
    {"overall", O, true,
	"metric: cases, ratio (geometric mean), ci95 (of these cases)"},
    {"unmatched", A, true, "cases of one side: side, config, n, failed"},
    {"failed", A, true, "cases with failed runs: the same, and errors"},
    {"env", A, true, "what differs: name, baseline, contender, cases"},
    {"one_sided", A, true, "gates of one side: side, metric, cases"},
    {"waivers", A, false,
	"rules of the policy that had no effect or too little: rule, what "
	"(unused, expired, exceeded); with a waiver: reason, expires"},
    {"canary", A, false,
	"cases that must not change: case, metric, against (history or "
	"baseline), verdict, ratio, ok"},
    {"same_server", S, false,
	"that both sides are the same server, and how much they differ"},
    {"caution", S, false, "what limits all results, with same_server"},
    {"headline", S, false, "caution, summary and outlook"},
    {"summary", S, false, "the answers of all cases, as in the text report"},
    {"outlook", S, false, "the end of headline: what would decide results"},
    {"next", S, false, "a command that says more about the result"},
    {"method", S, false, "how it was judged, in a few sentences"},
    {"warnings", A, false,
	"about the data: kind (failed, unmatched, environment, note), text"},
    {0}};

static const struct record_key shift_keys[] = {
    {"config", O, true, "configuration of the case"},
    {"baseline", O, true, "subject"}, {"contender", O, true, "subject"},
    {"hist", S, true, "name of the histogram"},
    {"quantiles", A, true,
	"each: percentile, baseline, contender (merged histograms), ratio, "
	"ci95 of runs"},
    {"ks", O, false,
	"of the merged histograms: d, at, w1, in the unit of the name"},
    {0}};

static const struct record_key commit_keys[] = {{"commit", S, true, "full id"},
    {"parents", A, false, "their ids"},
    {"time", S, false, "of the commit, UTC, ISO 8601"},
    {"ref", S, false, "branch or tag that led to it"},
    {"repository", S, false, "owner/name or URL"},
    {"title", S, false, "first line of its message"}, {0}};

static const struct record_key track_keys[] = {{"commit", S, true, "full id"},
    {"status", S, true, "in_progress, complete or failed"},
    {"time", S, true, "of the commit"},
    {"config_hash", S, true, "of the configuration"},
    {"architecture", S, false, "of the machine, as uname -m says it"},
    {"owner", S, false, "who holds or held it"},
    {"lease_until", S, false, "end of the claim"},
    {"attempts", N, true, "number of claims"},
    {"reason", S, false, "why it failed"},
    {"created", S, false, "time of the first claim"},
    {"updated", S, false, "time of the last change"}, {0}};

static const struct record_key track_config_keys[] = {
    {"config_hash", S, true, "of the configuration"},
    {"in_progress", N, false, "commits in that state"},
    {"complete", N, false, "commits in that state"},
    {"failed", N, false, "commits in that state"}, {0}};

static const struct record_key change_keys[] = {
    {"config", O, true, "configuration of the case"},
    {"metric", S, true, "name"},
    {"better", S, true, "higher, lower or neither"},
    {"kind", S, true,
	"regression, improvement, different, likely and one of these, spike or "
	"trend"},
    {"trend", O, false,
	"of a trend: direction (regression, improvement or different), points, "
	"per_point (relative change)"},
    {"subject", O, true, "the first with the new level, or of the trend"},
    {"commit", S, false, "of that subject"},
    {"previous", O, false, "the last subject with the old level"},
    {"range", A, false,
	"first and last commit the change may be at, by its uncertainty; of a "
	"trend where it is"},
    {"index", N, true, "of the point in the history, from 0"},
    {"indexes", A, false, "range as indexes"},
    {"n", A, true,
	"points before and after, up to the next changes; of a trend before it "
	"and its own"},
    {"median", A, true,
	"before and after; of a trend fitted, where it begins and ends"},
    {"ratio", N, false, "after over before"},
    {"ci95", A, false, "of the ratio"},
    {"probability", N, false, "of the change; absent: it was not judged"},
    {"method", S, true, "levels, slope, spike, exact, runs or sessions"},
    {"setup", S, false,
	"what changed besides the commit, so that it is not named a "
	"regression"},
    {"machines", A, false,
	"of several machines, those that show it: machine, n, median, ratio, "
	"ci95"},
    {"machines_without", A, false,
	"names of those that were measured on both sides and do not show it"},
    {"class", S, true, "gate or info"}, {"margin", N, true, "relative"},
    {"first_seen", S, false, "time of that subject or its first run"},
    {"new", B, false,
	"at or after --since and not reverted: determines the exit status"},
    {"reverted", O, false,
	"the first later subject at which the old level was back: closed"},
    {"group", S, false,
	"equal for one change that several series show; the key of its issue"},
    {"key", S, false, "stable name of the change, for issues"},
    {"waiver", O, false, "why the change is waived: rule, reason, expires"},
    {0}};

static const struct record_key env_keys[] = {
    {"session", S, false, "run.session of the runs measured in it"},
    {"time", S, true, "when it was read, UTC, ISO 8601"},
    {"env", O, true, "hardware, kernel, settings"},
    {"now", O, false, "load, frequency, temperature, ... at that time"}, {0}};

static const struct record_key profile_keys[] = {
    {"case", S, false, "case that loaded the process, from vkb-load"},
    {"subject", O, false, "what was profiled; with case"},
    {"config", O, false, "configuration of the case; with case"},
    {"run", O, false, "session, index, block; with case"},
    {"target", O, true,
	"who was watched: pid, comm, exe, command (its first word), port; what "
	"is known"},
    {"probed", O, true,
	"what the machine permits: perf_event_paranoid, kptr_restrict, "
	"cap_perfmon, allowed (user or all), perf"},
    {"mode", S, false,
	"cpu, wall, offcpu or count; absent: no stacks were taken"},
    {"sampling", O, false,
	"what was chosen and found: freq_hz, call_graph, call_graph_why, "
	"kernel, events, unit (samples or us), samples, cpu_s, switches, "
	"blocked_s, preempted_s, lost"},
    {"started", S, true, "UTC, ISO 8601"},
    {"duration_s", N, true, "length of the profile"},
    {"delay_s", N, false, "delay before it began"},
    {"counters", O, false, "EVENT: count, of what could be counted"},
    {"counted_percent", N, false,
	"least share of the time that a counter was active, if counters shared "
	"the hardware"},
    {"derived", O, false, "derived values: ipc, cache_miss_percent, ..."},
    {"requests", N, false, "requests that the server handled meanwhile"},
    {"per_req", O, false, "EVENT_per_req: count of each request"},
    {"calls", O, false, "FUNCTION: how often it was called"},
    {"calls_per_req", O, false, "FUNCTION: calls of each request"},
    {"functions", A, false,
	"with the mode count, each: name, object; of each request self and "
	"inclusive (instructions), calls, syscalls (none: 0)"},
    {"edges", A, false,
	"with the mode count, each: from and to, places in functions from 0 "
	"on; of each request calls and their inclusive instructions"},
    {"artifacts", O, false,
	"paths: perf_data, folded, svg, functions, archive"},
    {"stacks", S, false,
	"the most frequent stacks of artifacts.folded, kept by vkb-history"},
    {"status", S, true, "ok or failed"}, {"error", S, false, "why it failed"},
    {0}};

static const struct record_key raw_keys[] = {
    {"format", S, true, "as vkb-parse names it"},
    {"source", S, true, "file it came from, or the command"},
    {"run", O, false, "of the run that follows it: session, order"},
    {"text", S, false, "verbatim, where it is UTF-8"},
    {"base64", S, false, "verbatim, where it is not"}, {0}};

#undef S
#undef N
#undef B
#undef O
#undef A

const struct record_type record_types[] = {
    {"build", "a server that was built, from vkb-build", build_keys},
    {"spec", "a server that is wanted, read by vkb-serve", spec_keys},
    {"server", "a server that runs, from vkb-serve", server_keys},
    {"case", "a planned case, from vkb-load --plan", case_keys},
    {"run", "one repetition of a case, from vkb-load", run_keys},
    {"part",
	"what one of several vkb-load measured of a run, joined by vkb-stats",
	part_keys},
    {"summary", "repetitions summarised, from vkb-stats", summary_keys},
    {"delta", "one metric of one case judged, from vkb-compare", delta_keys},
    {"comparison", "what concerns all deltas, from vkb-compare, after them",
	comparison_keys},
    {"shift", "how the latencies of one case moved, from vkb-compare",
	shift_keys},
    {"commit", "a commit of a history", commit_keys},
    {"track",
	"the state of a commit under a configuration, from "
	"vkb-trackcommits",
	track_keys},
    {"track_config", "a configuration that commits are measured with",
	track_config_keys},
    {"change", "a change point of a history, from vkb-detect", change_keys},
    {"env", "the state of a machine, from vkb-env or vkb-load", env_keys},
    {"profile", "where a process spent its time, from vkb-profile",
	profile_keys},
    {"raw", "another tool's output, verbatim, from vkb-parse or vkb-load",
	raw_keys},
    {0}};
