// What a call writes, without anything that decides: the measure of what a database can do here. In each transaction
// there is one row of a call, its entries and the head of their chain.

export const TABLES = `
  create table same_calls (id bigint primary key, status text, input jsonb, output jsonb, made timestamptz default now());
  create table same_requests (request bigint primary key, id bigint, made timestamptz default now());
  create table same_entries (chain int, sequence bigint, line text, hash text, primary key (chain, sequence));
  create table same_chains (chain int primary key, sequence bigint not null default 0, hash text not null default '');
  insert into same_chains (chain) select generate_series(0, 63);
`

const LINE = JSON.stringify({
  subject: 'invocation:01900000-0000-7000-8000-000000000000',
  type: 'invocation.asked',
  details: { tool: 'look', input_hash: 'x'.repeat(71) },
})

/** @param {number} count */
const entries = (count) =>
  `with head as (update same_chains set sequence = sequence + ${count}, hash = md5(hash) where chain = :chain returning chain, sequence, hash)
  insert into same_entries select chain, sequence - n, '${LINE}', hash from head, generate_series(0, ${count - 1}) as n`

const CALL = `insert into same_calls (id, status, input) values (:id, 'approved', '{"path": "a"}') on conflict do nothing`
const REQUEST = 'insert into same_requests (request, id) values (:id, :id) on conflict do nothing'
const STARTED = `update same_calls set status = 'running' where id = :id`
const COMPLETED = `update same_calls set status = 'completed', output = '{"ok": true}' where id = :id`

/** The transactions of a call that its caller runs, and of one that a runner of the queue runs. */
const TRANSACTIONS = {
  own: [
    [REQUEST, CALL, entries(2)],
    [COMPLETED, entries(1)],
  ],
  queued: [
    [CALL, entries(1)],
    [STARTED, entries(1)],
    [COMPLETED, entries(1)],
  ],
}

/** For pgbench. @param {keyof typeof TRANSACTIONS} way */
export const scriptOf = (way) =>
  [
    '\\set id random(1, 9000000000000000)',
    '\\set chain random(0, 63)',
    ...TRANSACTIONS[way].flatMap((statements) => ['begin', ...statements, 'commit'].map((each) => `${each};`)),
    '',
  ].join('\n')

/**
 * The same as a call of its caller, by an engine that pgbench cannot reach.
 * @param {import('@cordon/team/store').Engine} engine
 */
export function sameWrites(engine) {
  let next = 0
  return async () => {
    const values = { id: (next += 1), chain: Math.floor(Math.random() * 64) }
    for (const statements of TRANSACTIONS.own)
      await engine.transaction(async (inside) => {
        for (const statement of statements) {
          const name = statement.includes(':chain') ? 'chain' : 'id'
          await inside.query(statement.replaceAll(`:${name}`, '$1'), [values[name]])
        }
      })
  }
}
