import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import type { AbsolutePath } from '../policy/index.js'
import { parseAbsolutePath, parsePolicy, resolvePolicy } from '../policy/index.js'
import { describeEnding, openSandbox } from '../sandbox/index.js'
import type { CallResult, Sandbox } from '../sandbox/index.js'

import { STDOUT, oneLine, paintFor, writeText } from './console-text.js'
import type { Paint } from './console-text.js'
import type { Invocation } from './main.js'

interface Scene {
  readonly title: string
  readonly policy: unknown
  readonly script: string
  /** What must have come of it. */
  readonly holds: (result: CallResult, output: string) => boolean
}

const SECRET = 'the-secret-of-the-demo'

const failed = (result: CallResult): boolean => result.status !== 'exited' || result.exitCode !== 0

const SCENES: readonly Scene[] = [
  {
    title: 'computes, and reads programs of the system',
    policy: {},
    script: 'echo $((6 * 7)) | tee /tmp/answer',
    holds: (_, output) => output === '42',
  },
  {
    title: 'cannot see a file that was not granted',
    policy: {},
    script: 'cat private/secret',
    holds: (result, output) => failed(result) && !output.includes(SECRET),
  },
  {
    title: 'can read it when it is granted',
    policy: { filesystem: { read: ['private'] } },
    script: 'cat private/secret',
    holds: (_, output) => output === SECRET,
  },
  {
    title: 'can write where it may, but plants no git hook',
    policy: { filesystem: { write: ['project'] } },
    script: 'echo done > project/result && cat project/result; echo evil > project/.git/hooks/pre-commit',
    holds: (result, output) => failed(result) && output.startsWith('done'),
  },
  {
    title: 'has no variables of the caller',
    policy: {},
    script: 'echo "HOME=$HOME DEMO_TOKEN=$DEMO_TOKEN"',
    holds: (_, output) => output.endsWith('DEMO_TOKEN='),
  },
  {
    title: 'is ended by its limit of time, with everything it started',
    policy: { limits: { wall: '300ms' } },
    script: 'sleep 60 & sleep 60',
    holds: (result) => result.status === 'limit' && result.limit === 'wall',
  },
]

export const demo = async ({ environment }: Invocation): Promise<number> => {
  const folder = parseAbsolutePath(realpathSync(mkdtempSync(join(tmpdir(), 'cordon-demo-'))), 'the temporary folder')
  const sandbox = await openSandbox()
  try {
    mkdirSync(join(folder, 'private'))
    writeFileSync(join(folder, 'private', 'secret'), SECRET)
    mkdirSync(join(folder, 'project', '.git', 'hooks'), { recursive: true })
    return await play(sandbox, folder, paintFor(STDOUT, environment))
  } finally {
    await sandbox.close()
    rmSync(folder, { recursive: true, force: true })
  }
}

const play = async (sandbox: Sandbox, folder: AbsolutePath, paint: Paint): Promise<number> => {
  let failures = 0
  let form = ''
  for (const { title, policy, script, holds } of SCENES) {
    const boundary = resolvePolicy(parsePolicy(policy, 'demo'), { workspace: folder, home: folder, kind: 'process' })
    const result = await sandbox.run({ boundary, cwd: folder, argv: ['/bin/sh', '-c', script], hostEnvironment: { DEMO_TOKEN: SECRET } })
    const output = oneLine(Buffer.concat([result.stdout, result.stderr]).toString().trim())
    const held = holds(result, output)
    failures += held ? 0 : 1
    form = result.profile.form
    writeText(STDOUT, `${held ? paint('green', 'held') : paint('red', 'NOT HELD')}  ${title}\n      policy  ${JSON.stringify(policy)}\n      $ ${script}\n      ${describeEnding(result)}${output === '' ? '' : `: ${output}`}\n\n`)
  }
  writeText(STDOUT, `${String(SCENES.length - failures)} of ${String(SCENES.length)} held, in the form "${form}"; \`cordon doctor\` says by what.\n`)
  return failures === 0 ? 0 : 1
}
