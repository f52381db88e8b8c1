// Cells in the guest, through the installed package.
import { parsePolicy, resolvePolicy } from 'cordon/policy'
import { openSandbox } from 'cordon/sandbox'

export { openSandbox }

export const tellAt = (place) => (name, value) =>
  process.stdout.write(`fact: ${JSON.stringify({ place, name, value })}\n`)

const PROGRAMS = '/programs'

/** Only the lines that report a route: the console is slow. */
export const routesIn = (text) =>
  text
    .split('\n')
    .filter((line) => line.startsWith('{"route"'))
    .map((line) => JSON.parse(line))

const boundaryOf = (policy, workspace) =>
  resolvePolicy(
    parsePolicy(
      { ...policy, filesystem: { ...policy.filesystem, read: [...(policy.filesystem?.read ?? []), PROGRAMS] } },
      'guest',
    ),
    { workspace, home: workspace, kind: 'process' },
  )

export const callIn = async (sandbox, form, { argv, policy = {}, workspace }) => {
  try {
    const result = await sandbox.run({
      boundary: boundaryOf(policy, workspace),
      cwd: workspace,
      argv,
      form,
    })
    const stdout = Buffer.from(result.stdout).toString('latin1')
    return {
      status: result.status,
      exitCode: result.exitCode,
      form: result.profile.form,
      stdout,
      stderr: Buffer.from(result.stderr).toString('latin1'),
    }
  } catch ({ code, message, stack }) {
    return { status: 'refused', code, message, ...(code === undefined ? { stack } : {}) }
  }
}
