-- Who founded an organization, for the limit of organizations per person: roles and memberships change, this does not.
alter table organizations add column founded_by uuid;
comment on column organizations.founded_by is 'The person who founded it; null: nobody knows any more';

update organizations o set founded_by = m.user_id
from members m
where m.org_id = o.org_id and m.role = 'owner' and m.joined_at = o.created_at;
