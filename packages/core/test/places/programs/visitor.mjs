// Runs inside a place: opens a sandbox there, makes the calls it is asked for, and tells how each went.
//
// The first line of stdin is the request; one line of stdout is the answer. It stays until stdin ends,
// so that whoever sent it can look around meanwhile.
import { createInterface } from 'node:readline'

const DIST = new URL('../../../dist/', import.meta.url)
const { openSandbox } = await import(new URL('sandbox/index.js', DIST).href)
const { parseIpAddress, parsePolicy, resolvePolicy } = await import(new URL('policy/index.js', DIST).href)
const { createCallNetworks, openNetwork } = await import(new URL('runtime/network/index.js', DIST).href)

// Pinned: a name leads to this machine, and nothing is looked up. In a cell that grants hosts, its keeper knows their
// names.
const networksOf = (names, sandbox) =>
  names === 'looked-up'
    ? createCallNetworks(() => openNetwork({ authorities: [], isNested: () => sandbox.host.nesting.held }), new Map())
    : createCallNetworks(
        () => openNetwork({ authorities: [], resolve: () => Promise.resolve([]) }),
        new Map([['host.test', [parseIpAddress('127.0.0.1')]]]),
      )

const described = ({ code, message, fix, params }) => ({ kind: 'refused', code, message, fix, params })

const make = async (sandbox, networks, { policy = {}, argv, cwd = '/usr', form, observe, stdin }) => {
  try {
    const boundary = resolvePolicy(parsePolicy(policy, 'visitor'), { workspace: cwd, home: cwd, kind: 'process' })
    const result = await networks.during(
      boundary,
      { callId: 'visit', writeApproval: 'recorded', record: () => undefined },
      (input) =>
        sandbox.run({ boundary, cwd, argv, form, observe, stdin, ...networks.settingsFor(boundary), ...input }),
    )
    const text = (bytes) => Buffer.from(bytes).toString('latin1')
    const { status, exitCode, signal, limit, violations, profile } = result
    return {
      kind: 'ran',
      status,
      exitCode,
      signal,
      limit,
      violations,
      profile,
      stdout: text(result.stdout),
      stderr: text(result.stderr),
    }
  } catch (error) {
    return described(error)
  }
}

const visit = async ({ calls = {}, open = {}, names = 'pinned', warm = false }) => {
  let sandbox
  try {
    sandbox = await openSandbox(open)
  } catch (error) {
    return { opened: described(error), calls: {} }
  }
  const answers = {}
  const networks = networksOf(names, sandbox)
  for (const [name, call] of Object.entries(calls)) answers[name] = await make(sandbox, networks, call)
  if (warm) answers.warm = await callWarm(sandbox)
  return {
    opened: { kind: 'open' },
    host: sandbox.host,
    calls: answers,
    close: () => {
      networks.close()
      return sandbox.close()
    },
  }
}

const callWarm = async (sandbox) => {
  const pool = sandbox.warm({
    boundary: resolvePolicy(parsePolicy({}, 'visitor'), { workspace: '/usr', home: '/usr', kind: 'process' }),
    cwd: '/usr',
    program: '/bin/echo',
  })
  try {
    await pool.ready()
    const { status, exitCode, stdout } = await pool.run({ argv: ['/bin/echo', 'warm'] })
    return { kind: 'ran', status, exitCode, stdout: Buffer.from(stdout).toString() }
  } catch (error) {
    return described(error)
  } finally {
    pool.close()
  }
}

const lines = createInterface({ input: process.stdin })
let asked = false
lines.on('line', (line) => {
  if (asked) return
  asked = true
  visit(JSON.parse(line)).then(
    async ({ close, ...answer }) => {
      process.stdout.write(`visitor: ${JSON.stringify(answer)}\n`)
      await new Promise((resolve) => lines.once('close', resolve))
      await close?.()
    },
    (error) => {
      process.stderr.write(`visitor: ${error.stack}\n`)
      process.exitCode = 1
      lines.close()
    },
  )
})
