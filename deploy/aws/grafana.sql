-- After schema.sql, on the server of deploy/aws: the database that Grafana keeps
-- its users and settings in.
\getenv grafana_password VKB_GRAFANA_PASSWORD
SELECT 'CREATE ROLE grafana LOGIN' WHERE to_regrole('grafana') IS NULL \gexec
ALTER ROLE grafana PASSWORD :'grafana_password';
-- The master user of RDS is not a superuser, so it must be a member of the owner.
SELECT format('GRANT grafana TO %I', current_user)
  WHERE NOT pg_has_role(current_user, 'grafana', 'USAGE') \gexec
SELECT 'CREATE DATABASE grafana OWNER grafana'
  WHERE NOT EXISTS (SELECT FROM pg_database WHERE datname = 'grafana') \gexec
REVOKE CONNECT ON DATABASE grafana FROM PUBLIC;
