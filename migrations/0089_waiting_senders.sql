-- Until when a bot has nothing it may send, so that no process holds it meanwhile; and when a broadcast's afterwards were last tried to be counted.
alter table bot_senders add column next_at timestamptz;
alter table broadcasts add column afterwards_tried_at timestamptz;
comment on column bot_senders.next_at is 'nothing is sent before; a deed of a person''s puts it to its own time';
