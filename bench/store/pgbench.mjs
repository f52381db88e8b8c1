/**
 * Transactions per second of a script, by as many clients at the same time.
 * @param {import('../../scripts/postgres-server.mjs').Server} server
 * @param {string} script
 * @param {{ clients: number } & ({ seconds: number } | { transactions: number })} load
 */
export function pgbench({ folder, run }, script, load) {
  const length = 'seconds' in load ? ['--time', String(load.seconds)] : ['--transactions', String(load.transactions)]
  const said = run('pgbench', [
    '--host',
    folder,
    '--username',
    'postgres',
    '--no-vacuum',
    '--protocol',
    'prepared',
    '--client',
    String(load.clients),
    '--jobs',
    String(Math.min(2, load.clients)),
    ...length,
    '--file',
    script,
    'postgres',
  ])
  return Number(/tps = ([\d.]+)/.exec(said)?.[1] ?? Number.NaN)
}
