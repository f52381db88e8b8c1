-- PostgreSQL lets everybody call a new function. So after the last definition this right is revoked from all functions.
-- The roles that the files grant a function to can call it. Functions without a grant are internal.
set role cordon_owner;

revoke execute on all functions in schema agents from public;

reset role;
