-- Whether the process that asked a question still waits for the answer. A list of questions shows that to everybody who
-- sees the question, so agents may read when a process of their team was heard. Labels and facts of its host stay hidden.
set role cordon_owner;

grant select (team, actor, lease, first_seen, last_seen) on agents.runners to cordon_agent;

-- Of one call, in a function of its own: the day of a call that is looked up by a variable is the only partition that is
-- locked. Within a larger statement every partition would be.
create function agents.fn_runs_at_caller(p_id uuid) returns boolean
language plpgsql stable set search_path = pg_catalog, pg_temp set plan_cache_mode = force_custom_plan as $$
begin
  return exists (select from agents.tool_invocations i where i.id = p_id and i.created_at = agents.fn_time_of(p_id) and i.dispatch = 'caller');
end $$;

revoke all on function agents.fn_runs_at_caller(uuid) from public;
grant execute on function agents.fn_runs_at_caller(uuid) to cordon_admin, cordon_operator, cordon_agent, cordon_runner, cordon_gateway, service_role;

reset role;
