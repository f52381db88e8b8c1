// What a call writes, without anything that decides: the measure of what a database can do here.
// Asked for, claimed, completed: three transactions, and in each of them one row of a call, one entry and the head of
// its chain.

export const TABLES = `
  create table same_calls (id bigint primary key, status text, input jsonb, output jsonb, made timestamptz default now());
  create table same_entries (chain int, sequence bigint, line text, hash text, primary key (chain, sequence));
  create table same_chains (chain int primary key, sequence bigint not null default 0, hash text not null default '');
  insert into same_chains (chain) select generate_series(0, 63);
`

const LINE = JSON.stringify({
  subject: 'invocation:01900000-0000-7000-8000-000000000000',
  type: 'invocation.asked',
  details: { tool: 'look', input_hash: 'x'.repeat(71) },
})

const entry = `with head as (update same_chains set sequence = sequence + 1, hash = md5(hash) where chain = :chain returning chain, sequence, hash)
  insert into same_entries select chain, sequence, '${LINE}', hash from head;`

/** For pgbench. */
export const SCRIPT = `\\set id random(1, 9000000000000000)
\\set chain random(0, 63)
begin;
insert into same_calls (id, status, input) values (:id, 'approved', '{"path": "a"}') on conflict do nothing;
${entry}
commit;
begin;
update same_calls set status = 'running' where id = :id;
${entry}
commit;
begin;
update same_calls set status = 'completed', output = '{"ok": true}' where id = :id;
${entry}
commit;
`

/**
 * The same by an engine that pgbench cannot reach.
 * @param {import('../../dist/store/index.js').Engine} engine
 */
export function sameWrites(engine) {
  let next = 0
  return async () => {
    const id = (next += 1)
    const chain = Math.floor(Math.random() * 64)
    const write = (/** @type {string} */ sql, /** @type {unknown[]} */ values) =>
      engine.transaction(async (inside) => {
        await inside.query(sql, values)
        await inside.query(entry.replace(':chain', '$1').replace(/;$/, ''), [chain])
      })
    await write(`insert into same_calls (id, status, input) values ($1, 'approved', '{"path": "a"}')`, [id])
    await write(`update same_calls set status = 'running' where id = $1`, [id])
    await write(`update same_calls set status = 'completed', output = '{"ok": true}' where id = $1`, [id])
  }
}
