// The scripts of `cordon completion`, read by the shells themselves.
import { execFileSync, spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { expect, test } from 'vitest'

import { IN_MATRIX } from '../../../../test/turns.js'
import { needs } from '../../../../test/requirement.js'
import { cordon, temporaryFolder } from './cordon.js'

const scriptFor = (shell: string): string => {
  const { status, stdout } = cordon(['completion', shell])
  expect(status).toBe(0)
  return stdout
}

const BASH = scriptFor('bash')

/** What bash offers for the last word of a line. */
const offeredByBash = (line: string): readonly string[] => {
  const words = line.split(' ')
  const script = `${BASH}
COMP_WORDS=(${words.map((word) => `'${word}'`).join(' ')})
COMP_CWORD=${String(words.length - 1)}
_cordon
printf '%s\\n' "\${COMPREPLY[@]}"`
  return execFileSync('bash', ['--norc', '-c', script], { encoding: 'utf8' }).trim().split('\n')
}

test.each([
  ['cordon ', ['run', 'hook', 'why', 'completion']],
  ['cordon expl', ['explain']],
  ['cordon run --rea', ['--read']],
  ['cordon why last --js', ['--json']],
])('bash offers the words that follow "%s"', (line, words) => {
  expect(offeredByBash(line)).toEqual(expect.arrayContaining(words))
})

test('bash offers no option of Cordon after `--`, and none of another command', () => {
  expect(offeredByBash('cordon run -- ls --rea')).toEqual([''])
  expect(offeredByBash('cordon explain --rea')).toEqual([''])
})

test('a shell that it does not know is refused with the known ones', () => {
  expect(cordon(['completion', 'csh'])).toMatchObject({
    status: 2,
    stderr: expect.stringContaining('name one shell: bash, zsh, fish') as string,
  })
})

test('fish offers the words that follow "cordon run --rea"', IN_MATRIX, (context) => {
  needs(context, spawnSync('fish', ['--version']).status === 0, 'fish is not installed')
  const script = join(temporaryFolder(), 'cordon.fish')
  writeFileSync(script, scriptFor('fish'))
  const ask = (line: string): string =>
    execFileSync('fish', ['--no-config', '-c', `source ${script}; complete -C '${line}'`], { encoding: 'utf8' })
  expect(ask('cordon run --rea')).toMatch(/^--read\t/)
  expect(ask('cordon explain --rea')).toBe('')
})

test('zsh reads its script', IN_MATRIX, (context) => {
  needs(context, spawnSync('zsh', ['--version']).status === 0, 'zsh is not installed')
  expect(execFileSync('zsh', ['-n'], { input: scriptFor('zsh'), encoding: 'utf8' })).toBe('')
})
