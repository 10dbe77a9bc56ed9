-- The tables of vkb-pgpush and vkb-trackcommits, and the roles that may use them, for
-- PostgreSQL on a machine of your own or a managed one:
--
--	psql -X -v ON_ERROR_STOP=1 -f schema.sql perf
--
-- It may be run again at any time, also on tables of the Python tool, which keep their
-- rows. A user who may not create roles gets only the tables. It needs psql 14 or
-- newer. VKB_READER_PASSWORD and VKB_CI_PASSWORD in the environment set the passwords
-- of vkb_reader and vkb_ci.
--
--	vkb_owner   owns the tables; no user logs in as it
--	vkb_ci      stores runs and claims commits, by IAM where there is rds_iam
--	vkb_reader  reads: for Grafana, whose viewers may send any query

BEGIN;
SET LOCAL client_min_messages = warning;
-- Lock, because two of these scripts could make the same role.
SELECT pg_advisory_xact_lock(hashtext('vkb-schema')) \g /dev/null

CREATE TABLE IF NOT EXISTS vkb_runs (
  id BIGSERIAL PRIMARY KEY,
  created_at TIMESTAMPTZ DEFAULT NOW(),
  metrics_table TEXT NOT NULL,
  vkb_session TEXT NOT NULL,
  vkb_case TEXT NOT NULL,
  vkb_subject TEXT NOT NULL,
  vkb_index INTEGER NOT NULL,
  "timestamp" TIMESTAMPTZ,
  record JSON NOT NULL,
  UNIQUE (metrics_table, vkb_session, vkb_case, vkb_subject, vkb_index)
);
-- Rows of an older vkb-pgpush are brought up to date by the next push.
DO $$
BEGIN
  IF NOT EXISTS (SELECT FROM vkb_runs WHERE vkb_session LIKE 'object %') THEN
    COMMENT ON TABLE vkb_runs IS 'run records of vkb, edition 2';
  END IF;
END
$$;

CREATE TABLE IF NOT EXISTS vkb_envs (
  vkb_session TEXT NOT NULL,
  vkb_hash TEXT NOT NULL,
  created_at TIMESTAMPTZ DEFAULT NOW(),
  host TEXT,
  "time" TIMESTAMPTZ,
  record JSON NOT NULL,
  PRIMARY KEY (vkb_session, vkb_hash)
);

CREATE TABLE IF NOT EXISTS vkb_changes (
  metrics_table TEXT NOT NULL,
  vkb_key TEXT NOT NULL,
  vkb_case TEXT NOT NULL,
  created_at TIMESTAMPTZ DEFAULT NOW(),
  seen_at TIMESTAMPTZ DEFAULT NOW(),
  "time" TIMESTAMPTZ,
  record JSON NOT NULL,
  PRIMARY KEY (metrics_table, vkb_key)
);

-- The runs, with the columns that the dashboards need; vkb-pgpush adds the others.
DO $$
DECLARE
  t TEXT;
  c TEXT;
BEGIN
  FOREACH t IN ARRAY ARRAY['benchmark_metrics', 'benchmark_tags_metrics'] LOOP
    EXECUTE format('CREATE TABLE IF NOT EXISTS %I (id SERIAL PRIMARY KEY, '
      'created_at TIMESTAMPTZ DEFAULT NOW())', t);
    FOREACH c IN ARRAY ARRAY[
      'architecture VARCHAR(50)', 'avg_latency_ms NUMERIC(15,6)',
      'benchmark_mode VARCHAR(50)', 'clients INTEGER', 'cluster_mode BOOLEAN',
      'command TEXT NOT NULL', 'commit VARCHAR(255) NOT NULL',
      'data_size INTEGER', 'duration INTEGER', 'error TEXT',
      'io_threads INTEGER', 'max_latency_ms NUMERIC(15,6)',
      'min_latency_ms NUMERIC(15,6)', 'p50_latency_ms NUMERIC(15,6)',
      'p95_latency_ms NUMERIC(15,6)', 'p99_latency_ms NUMERIC(15,6)',
      'pipeline INTEGER', 'repository TEXT', 'requests INTEGER',
      'rps NUMERIC(15,6)', 'status VARCHAR(50)', 'test_type VARCHAR(50)',
      '"timestamp" TIMESTAMPTZ NOT NULL', 'tls BOOLEAN',
      'valkey_benchmark_threads INTEGER', 'vkb_case TEXT', 'vkb_index INTEGER',
      'vkb_session TEXT', 'vkb_subject TEXT', 'warmup INTEGER'] LOOP
      EXECUTE format('ALTER TABLE %I ADD COLUMN IF NOT EXISTS %s', t, c);
    END LOOP;
    FOREACH c IN ARRAY ARRAY['commit', 'timestamp', 'command'] LOOP
      EXECUTE format('CREATE INDEX IF NOT EXISTS %I ON %I (%I)',
        concat_ws('_', 'idx', t, c), t, c);
    END LOOP;
    EXECUTE format('CREATE INDEX IF NOT EXISTS %I ON %I '
      '(commit, command, data_size, pipeline, clients)', 'idx_' || t || '_config', t);
    EXECUTE format('CREATE UNIQUE INDEX IF NOT EXISTS %I ON %I '
      '(vkb_session, vkb_case, vkb_subject, vkb_index)', 'vkb_key_' || t, t);
  END LOOP;
END $$;

-- The commits. vkb-trackcommits migrates a table of the Python tool: it computes the
-- hashes of its rows.
DO $$
BEGIN
  IF to_regclass('benchmark_commits') IS NOT NULL THEN RETURN; END IF;
  CREATE TABLE benchmark_commits (
    id SERIAL PRIMARY KEY,
    sha VARCHAR(40) NOT NULL,
    "timestamp" TIMESTAMPTZ NOT NULL,
    status VARCHAR(20) NOT NULL
      CHECK (status IN ('in_progress', 'complete', 'failed')),
    config JSONB NOT NULL,
    architecture VARCHAR(50),
    created_at TIMESTAMPTZ DEFAULT NOW(),
    updated_at TIMESTAMPTZ DEFAULT NOW(),
    config_hash TEXT,
    covers BIGINT[],
    owner TEXT,
    lease_until TIMESTAMPTZ,
    attempts INTEGER NOT NULL DEFAULT 0,
    reason TEXT,
    -- The ON CONFLICT of the Python tool needs this constraint.
    CONSTRAINT unique_sha_config_arch UNIQUE (sha, config, architecture)
  );
  CREATE INDEX idx_commits_sha ON benchmark_commits (sha);
  CREATE INDEX idx_commits_status ON benchmark_commits (status);
  CREATE INDEX idx_commits_timestamp ON benchmark_commits ("timestamp");
  CREATE INDEX idx_commits_sha_status ON benchmark_commits (sha, status);
  CREATE UNIQUE INDEX vkb_key_benchmark_commits ON benchmark_commits
    (sha, config_hash, architecture);
END $$;

-- Roles. On a managed server the master user is not a superuser. It must never become
-- a member of vkb_ci: through rds_iam it could then no longer log in by password.
DO $$
DECLARE
  t RECORD;
BEGIN
  IF NOT (SELECT rolsuper OR rolcreaterole FROM pg_roles WHERE rolname = current_user) THEN
    RAISE WARNING '''%'' may not create roles: it owns the tables', current_user;
    RETURN;
  END IF;
  IF to_regrole('vkb_owner') IS NULL THEN CREATE ROLE vkb_owner NOLOGIN; END IF;
  IF to_regrole('vkb_ci') IS NULL THEN CREATE ROLE vkb_ci LOGIN; END IF;
  IF to_regrole('vkb_reader') IS NULL THEN CREATE ROLE vkb_reader LOGIN; END IF;
  IF to_regrole('rds_iam') IS NOT NULL THEN GRANT rds_iam TO vkb_ci; END IF;
  -- Tables that vkb_ci makes belong to vkb_owner.
  GRANT vkb_owner TO vkb_ci;
  ALTER ROLE vkb_ci SET role = vkb_owner;
  IF NOT pg_has_role(current_user, 'vkb_owner', 'USAGE') THEN
    EXECUTE format('GRANT vkb_owner TO %I', current_user);
  END IF;
  EXECUTE format('GRANT USAGE, CREATE ON SCHEMA %I TO vkb_owner', current_schema());
  EXECUTE format('GRANT USAGE ON SCHEMA %I TO vkb_reader', current_schema());
  EXECUTE format('ALTER DEFAULT PRIVILEGES FOR ROLE vkb_owner IN SCHEMA %I '
    'GRANT SELECT ON TABLES TO vkb_reader', current_schema());
  FOR t IN SELECT relname, r.rolname AS owner, r.rolsuper FROM pg_class
      JOIN pg_roles r ON r.oid = relowner
      WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'p')
      AND relname ~ '^(benchmark_(tags_)?metrics|benchmark_commits|vkb_(runs|envs|changes)$)' LOOP
    IF NOT pg_has_role(current_user, t.owner, 'USAGE') THEN
      RAISE WARNING 'table ''%'' is of ''%'': nothing is changed there', t.relname, t.owner;
      CONTINUE;
    END IF;
    IF t.owner <> 'vkb_owner' THEN
      EXECUTE format('ALTER TABLE %I OWNER TO vkb_owner', t.relname);
      IF NOT t.rolsuper AND NOT pg_has_role(t.owner, 'vkb_owner', 'USAGE') THEN
        EXECUTE format('GRANT vkb_owner TO %I', t.owner);
      END IF;
    END IF;
    EXECUTE format('GRANT SELECT ON %I TO vkb_reader', t.relname);
  END LOOP;
END $$;

\getenv vkb_reader_password VKB_READER_PASSWORD
\if :{?vkb_reader_password}
ALTER ROLE vkb_reader PASSWORD :'vkb_reader_password';
\endif
\getenv vkb_ci_password VKB_CI_PASSWORD
\if :{?vkb_ci_password}
ALTER ROLE vkb_ci PASSWORD :'vkb_ci_password';
\endif
COMMIT;
