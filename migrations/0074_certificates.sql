-- A certificate for each name that is served by TLS=auto. Times are the database's, so that processes agree on them.
create table certificates (
  name text primary key,
  directory text,
  chain text,
  key bytea,
  serial text,
  not_before timestamptz,
  not_after timestamptz,
  ari_from timestamptz,
  ari_to timestamptz,
  ari_at timestamptz,
  renew_at timestamptz,
  next_try_at timestamptz,
  attempts integer not null default 0,
  problem text,
  leased_until timestamptz,
  lease_token uuid,
  gone_at timestamptz,
  told_at timestamptz,
  telling_until timestamptz
);
comment on column certificates.directory is 'of which authority it was had; another one is asked for another at once';
comment on column certificates.chain is 'PEM, the name''s own certificate first; null: none yet';
comment on column certificates.key is 'sealed by SECRET';
comment on column certificates.ari_from is 'when the authority wants it renewed (RFC 9773); null: it has not said';
comment on column certificates.ari_at is 'when the authority is asked that again';
comment on column certificates.lease_token is 'who orders it; what is written under an older one changes nothing';
comment on column certificates.gone_at is 'since when the name is not served; its row is kept 30 days';
comment on column certificates.told_at is 'when the owners were told that it nears its end, or cannot be had';

-- What the authority finds under /.well-known/acme-challenge, whichever process it comes to.
create table acme_challenges (
  token text primary key,
  name text not null,
  key_authorization text not null,
  expires_at timestamptz not null
);
