-- Why a call was not accepted. An error takes back everything that was written with it, so it is said afterwards, in a
-- transaction of its own, by who spoke to the database: Cordon's library and server do. One speaks of oneself, and of the
-- same thing once in ten seconds: who is refused a thousand times a second does not fill the record.
set role cordon_owner;

create function agents.fn_note_refusal(p_tool uuid, p_agent text, p_type text, p_reason text) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  tool agents.tools_registry;
begin
  select * into tool from agents.tools_registry where id = p_tool;
  if not found then raise exception 'there is no tool %', p_tool using errcode = 'P0002'; end if;
  perform agents.fn_require_member(tool.owner, array['agent']);
  if p_agent is distinct from agents.fn_actor() then raise exception '% does not speak for %', agents.fn_actor(), p_agent using errcode = '42501'; end if;
  if exists (select from agents.policy_evaluations where invocation_id is null and tool_id = p_tool and agent = p_agent and type = p_type and at > clock_timestamp() - interval '10 seconds') then return; end if;
  insert into agents.policy_evaluations (owner, tool_id, agent, point, type, verdict, reason) values (tool.owner, p_tool, p_agent, 'pre_tool', p_type, 'deny', left(p_reason, 1000));
  perform agents.fn_audit(tool.owner, 'tool:' || p_tool, 'invocation.refused', jsonb_build_object('tool', tool.key, 'agent', p_agent, 'by', p_type, 'reason', left(p_reason, 1000)));
end $$;

revoke execute on function agents.fn_note_refusal(uuid, text, text, text) from public;
grant execute on function agents.fn_note_refusal(uuid, text, text, text) to cordon_agent;

reset role;
