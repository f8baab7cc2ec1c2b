-- The link of an invitation carries a secret of its own, and the id of the row opens nothing. Links that carried an id stop working.

alter table invitations add column link_hash bytea;
comment on column invitations.link_hash is 'SHA-256 of the secret in the link that was shown to the inviter; null: there is no such link';
alter table invitations add column mail_hash bytea;
comment on column invitations.mail_hash is 'SHA-256 of the secret in the link that was mailed, which proves the address; null: there is no such link';

create unique index invitations_link_hash on invitations (link_hash);
create unique index invitations_mail_hash on invitations (mail_hash);
