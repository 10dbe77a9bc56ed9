-- The tables as the schema.sql of the Python tool (valkey-perf-benchmark d565f1c) makes them.
CREATE TABLE public.benchmark_commits (
    id integer NOT NULL,
    sha character varying(40) NOT NULL,
    "timestamp" timestamp with time zone NOT NULL,
    status character varying(20) NOT NULL,
    config jsonb NOT NULL,
    architecture character varying(50),
    created_at timestamp with time zone DEFAULT now(),
    updated_at timestamp with time zone DEFAULT now(),
    CONSTRAINT benchmark_commits_status_check CHECK (((status)::text = ANY ((ARRAY['in_progress'::character varying, 'complete'::character varying])::text[])))
);
CREATE SEQUENCE public.benchmark_commits_id_seq
    AS integer
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
ALTER SEQUENCE public.benchmark_commits_id_seq OWNED BY public.benchmark_commits.id;
CREATE TABLE public.benchmark_metrics (
    id integer NOT NULL,
    "timestamp" timestamp with time zone NOT NULL,
    commit character varying(40) NOT NULL,
    command character varying(50) NOT NULL,
    data_size integer,
    pipeline integer,
    clients integer,
    requests integer,
    rps numeric(12,2),
    avg_latency_ms numeric(10,3),
    min_latency_ms numeric(10,3),
    p50_latency_ms numeric(10,3),
    p95_latency_ms numeric(10,3),
    p99_latency_ms numeric(10,3),
    max_latency_ms numeric(10,3),
    cluster_mode boolean,
    tls boolean,
    io_threads integer,
    benchmark_threads integer,
    benchmark_mode character varying(50),
    duration integer,
    warmup integer,
    architecture character varying(50),
    created_at timestamp with time zone DEFAULT now()
);
CREATE SEQUENCE public.benchmark_metrics_id_seq
    AS integer
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
ALTER SEQUENCE public.benchmark_metrics_id_seq OWNED BY public.benchmark_metrics.id;
ALTER TABLE ONLY public.benchmark_commits ALTER COLUMN id SET DEFAULT nextval('public.benchmark_commits_id_seq'::regclass);
ALTER TABLE ONLY public.benchmark_metrics ALTER COLUMN id SET DEFAULT nextval('public.benchmark_metrics_id_seq'::regclass);
ALTER TABLE ONLY public.benchmark_commits
    ADD CONSTRAINT benchmark_commits_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.benchmark_metrics
    ADD CONSTRAINT benchmark_metrics_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.benchmark_commits
    ADD CONSTRAINT unique_sha_config_arch UNIQUE (sha, config, architecture);
CREATE INDEX idx_benchmark_metrics_timestamp_command ON public.benchmark_metrics USING btree ("timestamp", command);
CREATE INDEX idx_benchmark_metrics_unique ON public.benchmark_metrics USING btree ("timestamp", commit, command, data_size, pipeline, rps, cluster_mode, tls, io_threads, architecture);
CREATE INDEX idx_commits_config ON public.benchmark_commits USING gin (config);
CREATE INDEX idx_commits_sha_status ON public.benchmark_commits USING btree (sha, status);
CREATE INDEX idx_commits_status ON public.benchmark_commits USING btree (status);
