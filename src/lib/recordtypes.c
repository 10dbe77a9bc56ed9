#include "record.h"

#define S JSON_STRING
#define N JSON_NUMBER
#define B JSON_BOOL
#define O JSON_OBJECT
#define A JSON_ARRAY

static const struct record_key build_keys[] = {{"subject", O, true},
    {"status", S, true}, {"server", S, false}, {"cli", S, false},
    {"benchmark", S, false}, {"module", S, false}, {"error", S, false},
    {"log", S, false}, {"binary_sha256", S, false}, {"module_sha256", S, false},
    {"version", S, false}, {"git_sha", S, false}, {"incremental", B, false},
    {"seconds", N, false}, {"cached", B, false}, {0}};

static const struct record_key spec_keys[] = {{"id", S, true},
    {"action", S, false}, {"server", S, false}, {"host", S, false},
    {"port", N, false}, {"unixsocket", B, false}, {"tls", B, false},
    {"primaries", N, false}, {"replicas", N, false}, {"io_threads", N, false},
    {"modules", A, false}, {"config", O, false}, {"config_file", S, false},
    {"config_set", O, false}, {"cpus", A, false}, {"placement", S, false},
    {"rdb", S, false}, {"aslr", B, false}, {"count", N, false},
    {"count_caches", B, false}, {0}};

static const struct record_key server_keys[] = {{"id", S, true},
    {"status", S, true}, {"error", S, false}, {"binary", O, false},
    {"modules", A, false}, {"version", S, false}, {"git_sha", S, false},
    {"build_id", S, false}, {"cluster", B, false}, {"nodes", A, false},
    {"tls", O, false}, {"ready_ms", N, false}, {"config", O, false},
    {"dir", S, false}, {"count", O, false}, {0}};

static const struct record_key case_keys[] = {{"id", S, true},
    {"config", O, true}, {"server", O, true}, {"client", O, false},
    {"scene", S, false}, {"step", N, false}, {"before", A, false},
    {"data", O, false}, {"about", O, false}, {0}};

static const struct record_key run_keys[] = {{"subject", O, true},
    {"config", O, true}, {"run", O, true}, {"run.session", S, false},
    {"run.index", N, false}, {"run.block", N, false}, {"run.slices", N, false},
    {"run.order", N, false}, {"run.started", S, false}, {"run.seed", N, false},
    {"run.overlap_percent", N, false}, {"run.parts", A, false},
    {"run.parts_overlap_percent", N, false}, {"run.server_path", S, false},
    {"run.module_path", S, false}, {"counted", B, false}, {"about", O, false},
    {"env", O, false}, {"metrics", O, false}, {"hist", O, false},
    {"series", O, false}, {"capacity", O, false}, {"samples", O, false},
    {"encodings", O, false}, {"artifacts", O, false}, {"errors", O, false},
    {"omitted", O, false}, {"bound", S, false}, {"flat", O, false},
    {"status", S, true}, {"error", S, false}, {0}};

static const struct record_key part_keys[] = {{"subject", O, true},
    {"config", O, true}, {"run", O, true}, {"run.session", S, true},
    {"run.part", O, true}, {"run.part.i", N, true}, {"run.part.n", N, true},
    {"run.part.clock_ahead_ms", N, false},
    {"run.part.clock_error_ms", N, false}, {"run.part.begin_us", N, false},
    {"run.part.end_us", N, false}, {"metrics", O, false}, {"hist", O, false},
    {"series", O, false}, {"errors", O, false}, {"status", S, true},
    {"error", S, false}, {0}};

static const struct record_key summary_keys[] = {{"subject", O, true},
    {"config", O, true}, {"n", N, true}, {"failed", N, true},
    {"doubled", N, false}, {"metrics", O, true}, {"hist", O, false},
    {"whole", O, false}, {"quantiles", O, false}, {"steady", O, false},
    {"env", O, false}, {"env_varied", A, false}, {"sessions", A, false},
    {"bound", O, false}, {"errors", A, false}, {0}};

static const struct record_key delta_keys[] = {{"config", O, true},
    {"baseline", O, true}, {"contender", O, true}, {"metric", S, true},
    {"better", S, true}, {"n", A, true}, {"values", A, false},
    {"median", A, true}, {"ratio", N, false}, {"ci95", A, false},
    {"ci90", A, false}, {"probability", N, false}, {"se", N, false},
    {"df", N, false}, {"method", S, true}, {"paired", B, true},
    {"margin", N, true}, {"margin_from", S, false}, {"class", S, true},
    {"primary", B, false}, {"common", B, false}, {"rest", O, false},
    {"slow", O, false}, {"verdict", S, true}, {"answer", S, false},
    {"reason", S, false}, {"noise", B, false}, {"outweighed", B, false},
    {"visible", N, false}, {"needed", O, false}, {"waiver", O, false},
    {"notes", A, false}, {"together", S, false}, {"functions", S, false}, {0}};

static const struct record_key comparison_keys[] = {{"baseline", O, true},
    {"contender", O, true}, {"cases", N, true}, {"verdicts", O, true},
    {"claims", S, true}, {"rows", N, true}, {"metrics", O, false},
    {"sessions", A, false}, {"session_sd", N, false},
    {"session_from", S, false}, {"overall", O, true}, {"unmatched", A, true},
    {"failed", A, true}, {"env", A, true}, {"one_sided", A, true},
    {"waivers", A, false}, {"canary", A, false}, {"same_server", S, false},
    {"headline", S, false}, {"outlook", S, false}, {"next", S, false},
    {"method", S, false}, {"warnings", A, false}, {0}};

static const struct record_key shift_keys[] = {{"config", O, true},
    {"baseline", O, true}, {"contender", O, true}, {"hist", S, true},
    {"quantiles", A, true}, {"ks", O, false}, {0}};

static const struct record_key commit_keys[] = {{"commit", S, true},
    {"parents", A, false}, {"time", S, false}, {"ref", S, false},
    {"repository", S, false}, {"title", S, false}, {0}};

static const struct record_key track_keys[] = {{"commit", S, true},
    {"status", S, true}, {"time", S, true}, {"config_hash", S, true},
    {"architecture", S, false}, {"owner", S, false}, {"lease_until", S, false},
    {"attempts", N, true}, {"reason", S, false}, {"created", S, false},
    {"updated", S, false}, {0}};

static const struct record_key track_config_keys[] = {{"config_hash", S, true},
    {"in_progress", N, false}, {"complete", N, false}, {"failed", N, false},
    {0}};

static const struct record_key change_keys[] = {{"config", O, true},
    {"metric", S, true}, {"better", S, true}, {"kind", S, true},
    {"trend", O, false}, {"subject", O, true}, {"commit", S, false},
    {"previous", O, false}, {"range", A, false}, {"index", N, true},
    {"indexes", A, false}, {"n", A, true}, {"median", A, true},
    {"ratio", N, false}, {"ci95", A, false}, {"probability", N, false},
    {"method", S, true}, {"setup", S, false}, {"machines", A, false},
    {"machines_without", A, false}, {"seen", S, false}, {"class", S, true},
    {"margin", N, true}, {"first_seen", S, false}, {"new", B, false},
    {"reverted", O, false}, {"group", S, false}, {"key", S, false},
    {"waiver", O, false}, {0}};

static const struct record_key env_keys[] = {{"session", S, false},
    {"time", S, true}, {"env", O, true}, {"now", O, false}, {0}};

static const struct record_key profile_keys[] = {{"case", S, false},
    {"subject", O, false}, {"config", O, false}, {"run", O, false},
    {"target", O, true}, {"probed", O, true}, {"mode", S, false},
    {"sampling", O, false}, {"started", S, true}, {"duration_s", N, true},
    {"delay_s", N, false}, {"counters", O, false},
    {"counted_percent", N, false}, {"derived", O, false},
    {"requests", N, false}, {"per_req", O, false}, {"calls", O, false},
    {"calls_per_req", O, false}, {"functions", A, false}, {"edges", A, false},
    {"artifacts", O, false}, {"stacks", S, false}, {"status", S, true},
    {"error", S, false}, {0}};

static const struct record_key raw_keys[] = {{"format", S, true},
    {"source", S, true}, {"run", O, false}, {"text", S, false},
    {"base64", S, false}, {0}};

#undef S
#undef N
#undef B
#undef O
#undef A

const struct record_type record_types[] = {{"build", build_keys},
    {"spec", spec_keys}, {"server", server_keys}, {"case", case_keys},
    {"run", run_keys}, {"part", part_keys}, {"summary", summary_keys},
    {"delta", delta_keys}, {"comparison", comparison_keys},
    {"shift", shift_keys}, {"commit", commit_keys}, {"track", track_keys},
    {"track_config", track_config_keys}, {"change", change_keys},
    {"env", env_keys}, {"profile", profile_keys}, {"raw", raw_keys}, {0}};
