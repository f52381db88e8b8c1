import { TEAM } from './team.mjs'

/**
 * Old calls of the same team with the entries that they would have, in this month's partitions, in the way of
 * everything new. Whoever verifies the record finds nothing wrong with it.
 * @param {import('@cordon/team/store').Engine} engine of who owns the database
 * @param {number} count
 */
export async function addOldCalls(engine, count) {
  await engine.execute(`
    set work_mem = '256MB';
    create temporary table old_calls as select id, agents.fn_chain_of('invocation:' || id) as chain from (select agents.fn_new_id() as id from generate_series(1, ${String(count)}) offset 0) o;
    set session_replication_role = replica;
    insert into agents.tool_invocations (id, created_at, owner, tool_id, tool_key, tool_version, egress_class, agent, invoked_by, input, input_hash, output, status, approval_status, approval_required, runner, fence, expires_at, started_at, completed_at)
      select o.id, agents.fn_time_of(o.id), i.owner, i.tool_id, i.tool_key, i.tool_version, i.egress_class, i.agent, i.invoked_by, i.input, i.input_hash, i.output, 'completed', 'not_required', false, i.runner, 1, i.expires_at, i.started_at, i.completed_at
      from old_calls o, (select * from agents.tool_invocations where status = 'completed' and not approval_required limit 1) i;

    create function pg_temp.next_hash(before text, head text, line text) returns text language sql immutable
      as $$ select encode(sha256(convert_to(coalesce(before, head) || E'\\n' || line, 'UTF8')), 'hex') $$;
    create aggregate pg_temp.chain_hash(head text, line text) (sfunc = pg_temp.next_hash, stype = text);
    insert into agents.audit_chains (owner, chain) select '${TEAM}', generate_series(0, 63) on conflict do nothing;
    create temporary table old_entries as
      with said as (
        select o.chain, 'invocation:' || o.id as subject, t.type, t.actor, clock_timestamp() as at, t.details
        from old_calls o, (values ('invocation.asked', 'agent-1', '{"tool": "look", "agent": "agent-1", "status": "approved"}'::jsonb), ('invocation.started', 'host-1', '{"fence": 1, "runner": "bench"}'), ('invocation.completed', 'host-1', '{"runner": "bench"}')) as t (type, actor, details)
      ), numbered as (
        select s.*, h.hash as head, h.sequence + row_number() over (partition by s.chain order by s.at) as sequence from said s join agents.audit_chains h on h.owner = '${TEAM}' and h.chain = s.chain
      ), lines as (
        select *, jsonb_build_object('chain', chain, 'sequence', sequence, 'at', to_char(at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'owner', '${TEAM}', 'subject', subject, 'type', type, 'actor', actor, 'details', details)::text as line from numbered
      )
      select *, pg_temp.chain_hash(head, line) over (partition by chain order by sequence) as hash from lines;
    insert into agents.audit_events (at, chain, sequence, owner, subject, type, actor, line, previous_hash, hash)
      select at, chain, sequence, '${TEAM}', subject, type, actor, line, coalesce(lag(hash) over (partition by chain order by sequence), head), hash from old_entries;
    update agents.audit_chains h set sequence = e.sequence, hash = e.hash
      from (select distinct on (chain) chain, sequence, hash from old_entries order by chain, sequence desc) e where h.owner = '${TEAM}' and h.chain = e.chain;
    reset session_replication_role;
    reset work_mem;
    drop table old_calls, old_entries;`)
  // What the load leaves to be done later is done before anything is measured.
  for (const statement of [
    'vacuum analyze agents.tool_invocations',
    'vacuum analyze agents.audit_events',
    'vacuum analyze agents.audit_chains',
    'checkpoint',
  ])
    await engine.execute(statement)
}
