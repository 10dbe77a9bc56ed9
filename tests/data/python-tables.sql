-- The tables as the Python tool (valkey-perf-benchmark d565f1c) makes them.
CREATE TABLE public.benchmark_metrics (
    id integer NOT NULL,
    created_at timestamp with time zone DEFAULT now(),
    architecture character varying(50),
    avg_latency_ms numeric(15,6),
    benchmark_mode character varying(50),
    clients integer,
    cluster_mode boolean,
    command text NOT NULL,
    commit character varying(255) NOT NULL,
    data_size integer,
    duration integer,
    io_threads integer,
    max_latency_ms numeric(15,6),
    min_latency_ms numeric(15,6),
    p50_latency_ms numeric(15,6),
    p95_latency_ms numeric(15,6),
    p99_latency_ms numeric(15,6),
    pipeline integer,
    repository text,
    rps numeric(15,6),
    test_type character varying(50),
    "timestamp" timestamp with time zone NOT NULL,
    tls boolean,
    valkey_benchmark_threads integer,
    warmup integer
);
CREATE SEQUENCE public.benchmark_metrics_id_seq
    AS integer
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
ALTER SEQUENCE public.benchmark_metrics_id_seq OWNED BY public.benchmark_metrics.id;
ALTER TABLE ONLY public.benchmark_metrics ALTER COLUMN id SET DEFAULT nextval('public.benchmark_metrics_id_seq'::regclass);
ALTER TABLE ONLY public.benchmark_metrics
    ADD CONSTRAINT benchmark_metrics_pkey PRIMARY KEY (id);
CREATE INDEX idx_benchmark_metrics_command ON public.benchmark_metrics USING btree (command);
CREATE INDEX idx_benchmark_metrics_commit ON public.benchmark_metrics USING btree (commit);
CREATE INDEX idx_benchmark_metrics_config ON public.benchmark_metrics USING btree (commit, command, data_size, pipeline, clients);
CREATE INDEX idx_benchmark_metrics_timestamp ON public.benchmark_metrics USING btree ("timestamp");
CREATE TABLE public.benchmark_tags_metrics (
    id integer NOT NULL,
    created_at timestamp with time zone DEFAULT now(),
    architecture character varying(50),
    avg_latency_ms numeric(15,6),
    benchmark_mode character varying(50),
    clients integer,
    cluster_mode boolean,
    command text NOT NULL,
    commit character varying(255) NOT NULL,
    data_size integer,
    duration integer,
    io_threads integer,
    max_latency_ms numeric(15,6),
    min_latency_ms numeric(15,6),
    p50_latency_ms numeric(15,6),
    p95_latency_ms numeric(15,6),
    p99_latency_ms numeric(15,6),
    pipeline integer,
    repository text,
    rps numeric(15,6),
    test_type character varying(50),
    "timestamp" timestamp with time zone NOT NULL,
    tls boolean,
    valkey_benchmark_threads integer,
    warmup integer
);
CREATE SEQUENCE public.benchmark_tags_metrics_id_seq
    AS integer
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
ALTER SEQUENCE public.benchmark_tags_metrics_id_seq OWNED BY public.benchmark_tags_metrics.id;
ALTER TABLE ONLY public.benchmark_tags_metrics ALTER COLUMN id SET DEFAULT nextval('public.benchmark_tags_metrics_id_seq'::regclass);
ALTER TABLE ONLY public.benchmark_tags_metrics
    ADD CONSTRAINT benchmark_tags_metrics_pkey PRIMARY KEY (id);
CREATE INDEX idx_benchmark_tags_metrics_command ON public.benchmark_tags_metrics USING btree (command);
CREATE INDEX idx_benchmark_tags_metrics_commit ON public.benchmark_tags_metrics USING btree (commit);
CREATE INDEX idx_benchmark_tags_metrics_config ON public.benchmark_tags_metrics USING btree (commit, command, data_size, pipeline, clients);
CREATE INDEX idx_benchmark_tags_metrics_timestamp ON public.benchmark_tags_metrics USING btree ("timestamp");
CREATE TABLE public.benchmark_metrics_search (
    id integer NOT NULL,
    created_at timestamp with time zone DEFAULT now(),
    architecture character varying(50),
    avg_latency_ms numeric(15,6),
    benchmark_mode character varying(50),
    clients integer,
    cluster_mode boolean,
    command text NOT NULL,
    commit character varying(255) NOT NULL,
    config_name character varying(50),
    config_set jsonb,
    data_size integer,
    dataset text,
    duration integer,
    error text,
    "group" integer,
    group_description character varying(500),
    io_threads integer,
    max_latency_ms numeric(15,6),
    min_latency_ms numeric(15,6),
    module_commit character varying(255),
    module_commit_timestamp timestamp with time zone,
    p50_latency_ms numeric(15,6),
    p95_latency_ms numeric(15,6),
    p99_latency_ms numeric(15,6),
    pipeline integer,
    repository text,
    rps numeric(15,6),
    scenario character varying(50),
    scenario_description character varying(500),
    status character varying(50),
    test_id character varying(50),
    test_phase character varying(50),
    test_type character varying(50),
    "timestamp" timestamp with time zone NOT NULL,
    tls boolean,
    valkey_benchmark_threads integer,
    warmup integer
);
CREATE SEQUENCE public.benchmark_metrics_search_id_seq
    AS integer
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
ALTER SEQUENCE public.benchmark_metrics_search_id_seq OWNED BY public.benchmark_metrics_search.id;
ALTER TABLE ONLY public.benchmark_metrics_search ALTER COLUMN id SET DEFAULT nextval('public.benchmark_metrics_search_id_seq'::regclass);
ALTER TABLE ONLY public.benchmark_metrics_search
    ADD CONSTRAINT benchmark_metrics_search_pkey PRIMARY KEY (id);
CREATE INDEX idx_benchmark_metrics_search_command ON public.benchmark_metrics_search USING btree (command);
CREATE INDEX idx_benchmark_metrics_search_commit ON public.benchmark_metrics_search USING btree (commit);
CREATE INDEX idx_benchmark_metrics_search_config ON public.benchmark_metrics_search USING btree (commit, command, data_size, pipeline, clients);
CREATE INDEX idx_benchmark_metrics_search_timestamp ON public.benchmark_metrics_search USING btree ("timestamp");
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
ALTER TABLE ONLY public.benchmark_commits ALTER COLUMN id SET DEFAULT nextval('public.benchmark_commits_id_seq'::regclass);
ALTER TABLE ONLY public.benchmark_commits
    ADD CONSTRAINT benchmark_commits_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.benchmark_commits
    ADD CONSTRAINT unique_sha_config_arch UNIQUE (sha, config, architecture);
CREATE INDEX idx_commits_config ON public.benchmark_commits USING gin (config);
CREATE INDEX idx_commits_sha ON public.benchmark_commits USING btree (sha);
CREATE INDEX idx_commits_sha_status ON public.benchmark_commits USING btree (sha, status);
CREATE INDEX idx_commits_status ON public.benchmark_commits USING btree (status);
CREATE INDEX idx_commits_timestamp ON public.benchmark_commits USING btree ("timestamp");
CREATE TABLE public.benchmark_commits_search (
    id integer NOT NULL,
    sha character varying(40) NOT NULL,
    "timestamp" timestamp with time zone NOT NULL,
    status character varying(20) NOT NULL,
    config jsonb NOT NULL,
    architecture character varying(50),
    created_at timestamp with time zone DEFAULT now(),
    updated_at timestamp with time zone DEFAULT now(),
    CONSTRAINT benchmark_commits_search_status_check CHECK (((status)::text = ANY ((ARRAY['in_progress'::character varying, 'complete'::character varying])::text[])))
);
CREATE SEQUENCE public.benchmark_commits_search_id_seq
    AS integer
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
ALTER SEQUENCE public.benchmark_commits_search_id_seq OWNED BY public.benchmark_commits_search.id;
ALTER TABLE ONLY public.benchmark_commits_search ALTER COLUMN id SET DEFAULT nextval('public.benchmark_commits_search_id_seq'::regclass);
ALTER TABLE ONLY public.benchmark_commits_search
    ADD CONSTRAINT benchmark_commits_search_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.benchmark_commits_search
    ADD CONSTRAINT unique_search_sha_config_arch UNIQUE (sha, config, architecture);
CREATE INDEX idx_search_commits_config ON public.benchmark_commits_search USING gin (config);
CREATE INDEX idx_search_commits_sha ON public.benchmark_commits_search USING btree (sha);
CREATE INDEX idx_search_commits_sha_status ON public.benchmark_commits_search USING btree (sha, status);
CREATE INDEX idx_search_commits_status ON public.benchmark_commits_search USING btree (status);
CREATE INDEX idx_search_commits_timestamp ON public.benchmark_commits_search USING btree ("timestamp");
