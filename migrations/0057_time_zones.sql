-- By whose clock the dashboard tells times and begins days. null: UTC. What is stored and what the API of keys answers stays UTC.
alter table organizations add column timezone text;
-- null: as the workspace's.
alter table users add column timezone text;
