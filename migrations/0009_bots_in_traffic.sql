-- Click flows lead to bots, so every process asks once a second which bots came or went.
create index bots_changed on bots (greatest(created_at, deleted_at));
