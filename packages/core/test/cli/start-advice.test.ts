import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { expect, test } from 'vitest'

import { describeForms, temporaryFolder } from './cordon.js'

const folder = temporaryFolder()

/** A version manager's shim: a script that hands over to a program beside it. */
const home = join(folder, 'home')
mkdirSync(join(home, '.pyenv', 'shims'), { recursive: true })
mkdirSync(join(home, '.pyenv', 'libexec'))
writeFileSync(join(home, '.pyenv', 'shims', 'shimmed'), `#!/bin/sh\nexec ${home}/.pyenv/libexec/real\n`, {
  mode: 0o755,
})
writeFileSync(join(home, '.pyenv', 'libexec', 'real'), '#!/bin/sh\necho started\n', { mode: 0o755 })

/** A program whose library only the host's loader finds. */
const own = join(folder, 'own')
mkdirSync(join(own, 'lib'), { recursive: true })
writeFileSync(join(own, 'answer.c'), 'int answer(void) { return 42; }\n')
writeFileSync(join(own, 'main.c'), 'int answer(void); int main(void) { return answer() - 42; }\n')
execFileSync('cc', ['-shared', '-fPIC', '-o', join(own, 'lib', 'libanswer.so'), join(own, 'answer.c')])
execFileSync('cc', ['-o', join(own, 'main'), join(own, 'main.c'), `-L${join(own, 'lib')}`, '-lanswer'])

describeForms('a program that cannot start because of missing files', (run) => {
  const environment = { HOME: home, PATH: `${home}/.pyenv/shims:/usr/bin:/bin` }

  test('gets the preset for a shim of a version manager, and starts with it', () => {
    const refused = run(['--', 'shimmed'], { environment })
    expect(refused.status).not.toBe(0)
    expect(refused.stderr).toContain(
      `only the file ${home}/.pyenv/shims/shimmed is granted, not its folder: if files are missing, add ` +
        '--preset toolchains',
    )
    expect(run(['--preset', 'toolchains', '--', 'shimmed'], { environment })).toMatchObject({
      status: 0,
      stdout: 'started\n',
      stderr: '',
    })
  })

  test('gets the folder of a missing library, and starts with it', () => {
    const libraries = join(own, 'lib')
    const refused = run(['--env', 'LD_LIBRARY_PATH', '--', join(own, 'main')], {
      environment: { LD_LIBRARY_PATH: libraries },
    })
    expect(refused.status).toBe(127)
    expect(refused.stderr).toContain(
      `the program needs libanswer.so, which is at ${libraries}/libanswer.so: if files are missing, add ` +
        `--read ${libraries}`,
    )
    expect(
      run(['--env', 'LD_LIBRARY_PATH', '--read', libraries, '--', join(own, 'main')], {
        environment: { LD_LIBRARY_PATH: libraries },
      }).status,
    ).toBe(0)
  })

  test('gets no advice if it fails for its own reasons', () => {
    const program = join(own, 'fails')
    writeFileSync(program, '#!/bin/sh\nexit 1\n', { mode: 0o755 })
    expect(run(['--', program])).toEqual({ status: 1, stdout: '', stderr: '' })
    expect(run(['--', 'sh', '-c', 'exit 127'])).toEqual({ status: 127, stdout: '', stderr: '' })
  })
})
