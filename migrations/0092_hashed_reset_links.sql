-- From here on only hashes of reset tokens are kept. The ones that lie here in clear stop working: ask for a new link.
delete from verifications where identifier like 'reset-password:%';
