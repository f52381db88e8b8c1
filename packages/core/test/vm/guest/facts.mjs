import { openSandbox } from '/cordon/dist/sandbox/index.js'
import { parsePolicy, resolvePolicy } from '/cordon/dist/policy/index.js'

export { openSandbox }

export const tellAt = (place) => (name, value) =>
  process.stdout.write(`fact: ${JSON.stringify({ place, name, value })}\n`)

export const boundaryOf = (policy) =>
  resolvePolicy(parsePolicy({ ...policy, filesystem: { read: ['/programs'] } }, 'guest'), {
    workspace: '/tmp',
    home: '/tmp',
    kind: 'process',
  })

export const run = async (sandbox, policy, argv, form) => {
  try {
    const { status, exitCode, signal, limit, violations, profile, usage, stdout, stderr } = await sandbox.run({
      boundary: boundaryOf(policy),
      cwd: '/tmp',
      argv,
      form,
    })
    const text = (bytes) => Buffer.from(bytes).toString('latin1')
    return {
      status,
      exitCode,
      signal,
      limit,
      violations,
      enforced: profile.enforced,
      usage,
      stdout: text(stdout),
      stderr: text(stderr),
    }
  } catch ({ code, message, fix }) {
    return { status: 'refused', code, message, fix }
  }
}
