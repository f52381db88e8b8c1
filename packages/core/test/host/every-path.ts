// Every path that a run without a host looks at: what changes there counts in the next run of the host, as in one
// without it.
import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'

import { describe, expect, test } from 'vitest'

import { CORDON } from '../cli/cordon.js'
import { frontPlace, hostStarted, servedOf } from './front.js'

const place = frontPlace()
const { at, put } = place

/** In the file of the other tests of the host: it is one process, and others stop it. */
export const testEveryPath = (): void => {
  describe('every path that is looked at', { tags: ['matrix'] }, tests)
}

const isThere = (path: string): boolean => lstatSync(path, { throwIfNoEntry: false }) !== undefined

/** A change of what is at a path. Returns how to take it back. */
const change = (path: string): (() => void) => {
  const found = lstatSync(path, { throwIfNoEntry: false })
  if (found === undefined) {
    writeFileSync(path, '{ no: [ document')
    return () => {
      rmSync(path)
    }
  }
  const aside = `${path}.aside`
  renameSync(path, aside)
  if (found.isFile()) {
    writeFileSync(path, '{ no: [ document')
    chmodSync(path, found.mode & 0o777)
  }
  return () => {
    rmSync(path, { recursive: true, force: true })
    renameSync(aside, path)
  }
}

const tests = (): void => {
  test('what is changed there, made or removed counts in the next run', async () => {
    await hostStarted(place)
    put('policy.yaml', 'filesystem: { read: [ "./granted/**", "!**/*.key" ] }\n')
    put('.config/cordon/policies/mine.yaml', 'environment: [ "MINE=1" ]\n')
    put('.config/cordon/rules.yaml', 'rules: []\n')
    put('.config/cordon/rules/more.yaml', 'rules: []\n')
    put('.cordon/rules.yaml', 'rules: []\n')
    put('typed.yaml', 'rules: []\n')
    put('granted/text', 'text\n')
    put('granted/a.key', 'key\n')
    put('real/tool', `#!/bin/sh\necho $MINE; cat ${at('granted')}/* made/* 2>/dev/null; exit 3\n`)
    chmodSync(at('real/tool'), 0o755)
    for (const name of ['first', 'second', 'made']) mkdirSync(at(name), { recursive: true })
    symlinkSync('../real/tool', at('second/tool'))
    const more = { PATH: `${at('first')}:${at('second')}:/usr/bin:/bin` }
    const words = [
      ...['run', '--policy', './policy.yaml', '--policy', 'mine', '--rules', './typed.yaml'],
      ...['--read', './real/**', '--read', './second/**', '--write', './made/**', '--exec', 'all', '--', 'tool'],
    ]
    const alone = () => place.run(words, { ...more, CORDON_HOST: 'off' })
    const served = () => place.run(words, more)
    expect(alone()).toEqual({ status: 3, stdout: '1\ntext\n', stderr: '' })

    const trace = join('/var/tmp', `cordon-trace-${String(process.pid)}`)
    const traced = spawnSync(
      'strace',
      ['-f', '-qq', '-s', '4096', '-e', 'trace=%file', '-o', trace, process.execPath, CORDON, ...words],
      {
        cwd: place.folder,
        env: { ...place.environment, ...more, CORDON_HOST: 'off' },
      },
    )
    expect(traced.status).toBe(3)
    const named = readFileSync(trace, 'utf8').match(new RegExp(`(?<=")${place.folder}/[^"]*(?=")`, 'g')) ?? []
    rmSync(trace)
    // The record is written, and the program of the test is above.
    const paths = [...new Set(named.map((path) => path.replace(/\/+$/, '')))].filter(
      (path) =>
        !path.includes('/.local/state') && statSync(dirname(path), { throwIfNoEntry: false })?.isDirectory() === true,
    )
    expect(paths.length).toBeGreaterThan(25)
    expect(paths).toEqual(expect.arrayContaining([at('.cordon/rules.yaml'), at('first/tool'), at('granted')]))

    const unlike: string[] = []
    for (const path of paths) {
      served()
      served()
      const takeBack = change(path)
      const [now, expected] = [served(), alone()]
      if (JSON.stringify(now) !== JSON.stringify(expected)) unlike.push(`${path}: ${JSON.stringify({ now, expected })}`)
      takeBack()
      expect(isThere(`${path}.aside`)).toBe(false)
    }
    expect(unlike).toEqual([])
    let last
    expect(servedOf(() => (last = served()))).toBe(1)
    expect(last).toMatchObject({ status: 3, stdout: '1\ntext\n' })
  })
}
