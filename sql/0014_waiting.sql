-- Nobody waits for ever. A transaction that was begun and not ended holds on to what it touched: calls, budgets, chains
-- of its team. Whoever comes after gives up with an error (55P03) and can ask again.
set role cordon_owner;

do $$
declare
  waiting regprocedure;
begin
  for waiting in
    select p.oid from pg_proc p where p.pronamespace = 'agents'::regnamespace and p.prosecdef and p.provolatile = 'v'
      and not exists (select from unnest(p.proconfig) as setting where setting like 'lock_timeout=%')
      and exists (select from unnest(array['cordon_admin', 'cordon_operator', 'cordon_agent', 'cordon_runner', 'cordon_gateway', 'service_role']) as role where has_function_privilege(role, p.oid, 'execute'))
  loop
    execute format('alter function %s set lock_timeout = %L', waiting, '10s');
  end loop;
end $$;

reset role;
