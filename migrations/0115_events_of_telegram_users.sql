-- Conversions by the Telegram user, for whoever looks for a person. It also serves the look-up of joins and launches, whose own index it replaces.
drop index events_in_telegram;
create index events_in_telegram on events (org_id, telegram_user_id) where telegram_user_id is not null;
