import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

import { afterAll, beforeEach, describe, expect, it } from 'vitest'

import { loadRules } from '../../src/gate/index.js'
import { parseAbsolutePath } from '../../src/policy/index.js'
import { withRule } from '../../src/runtime/rule-files/add-rule.js'
import { addRule, loadRuleFiles, readRuleFile, trustOf } from '../../src/runtime/rule-files/index.js'
import type { RuleFileSettings } from '../../src/runtime/index.js'

const base = realpathSync(mkdtempSync(join(tmpdir(), 'cordon-rules-')))
afterAll(() => {
  rmSync(base, { recursive: true, force: true })
})

const ME = process.geteuid?.() ?? 0
let folder = base
let count = 0
beforeEach(() => {
  count += 1
  folder = join(base, String(count))
  mkdirSync(join(folder, 'work', 'part'), { recursive: true })
})

const put = (path: string, text: string, mode = 0o644): string => {
  const file = join(folder, path)
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, text)
  chmodSync(file, mode)
  return file
}

const rule = (effect: string, because: string) => `rules:\n  - { effect: ${effect}, tool: bash, because: ${because} }\n`

const load = (settings: Partial<RuleFileSettings> = {}) =>
  loadRuleFiles({
    workspace: parseAbsolutePath(join(folder, 'work')),
    home: parseAbsolutePath(join(folder, 'home')),
    managed: { folder: join(folder, 'etc'), owner: ME },
    userFolder: join(folder, 'config'),
    projects: 'read',
    files: [],
    ...settings,
  })

const reasons = (settings?: Partial<RuleFileSettings>) =>
  load(settings).flatMap(({ source, rules }) => rules.map(({ effect, because }) => `${source} ${effect} ${because}`))

describe('rule files', () => {
  it('are found in the folders of machine, project and user, and where the command line names one', () => {
    put('etc/rules.yaml', rule('deny', 'machine'))
    put('etc/rules/10-more.yaml', rule('deny', 'more'))
    put('etc/rules/README', 'no rules')
    put('work/.cordon/rules.json', JSON.stringify({ rules: [{ effect: 'ask', tool: 'bash', because: 'project' }] }))
    put('config/rules.yml', rule('allow', 'user'))
    const typed = put('typed.yaml', rule('ask', 'typed'))
    expect(reasons({ files: [typed] })).toEqual([
      'managed deny machine',
      'managed deny more',
      'user allow user',
      'command_line ask typed',
      'project ask project',
    ])
    expect(reasons({ projects: 'left-out', userFolder: undefined })).toEqual([
      'managed deny machine',
      'managed deny more',
    ])
  })

  it('of a project apply in its subfolders, also behind a folder that a tool has opened to everybody', () => {
    put('.cordon/rules.yaml', rule('deny', 'outer'))
    put('work/.cordon/rules.yaml', rule('deny', 'inner'))
    const workspace = parseAbsolutePath(join(folder, 'work', 'part'))
    expect(reasons({ workspace })).toEqual(['project deny inner', 'project deny outer'])
    for (const mode of [0o777, 0o1777]) {
      chmodSync(folder, mode)
      chmodSync(join(folder, 'work'), mode)
      expect(reasons({ workspace })).toEqual(['project deny inner', 'project deny outer'])
    }
    // Anybody could have made it there.
    chmodSync(join(folder, '.cordon'), 0o777)
    expect(reasons({ workspace })).toEqual(['project deny inner'])
  })

  it('of a project are found through a link to it', () => {
    put('work/.cordon/rules.yaml', rule('deny', 'inner'))
    symlinkSync(join(folder, 'work', 'part'), join(folder, 'link'))
    expect(reasons({ workspace: parseAbsolutePath(join(folder, 'link')) })).toEqual(['project deny inner'])
  })

  it('of a project allow nothing unless it is trusted', () => {
    put('work/.cordon/rules.yaml', rule('allow', 'project'))
    expect(load().map(({ isTrusted }) => isTrusted)).toEqual([false])
    put('config/rules.yaml', `trusted_projects: [ ${folder}/other ]\n`)
    expect(load().map(({ isTrusted }) => isTrusted)).toEqual([true, false])
    put('config/rules.yaml', `trusted_projects: [ ${folder}/** ]\n`)
    expect(load().map(({ isTrusted }) => isTrusted)).toEqual([true, true])
    put('config/rules.yaml', `trusted_projects: [ ${folder}/**, "!${folder}/work" ]\n`)
    expect(load().map(({ isTrusted }) => isTrusted)).toEqual([true, false])
  })

  it('cannot trust themselves, or lock settings', () => {
    const file = put('work/.cordon/rules.yaml', `trusted_projects: [ ${folder}/** ]\n`)
    expect(load).toThrow(`${file}:1: trusted_projects must be left out`)
    put('work/.cordon/rules.yaml', 'modes: [ bypass ]\n')
    expect(load).toThrow(`${file}:1: modes must be left out`)
    put('work/.cordon/rules.yaml', '')
    put('config/rules.yaml', 'trusted_projects: [ . ]\n')
    expect(load).toThrow('a folder that begins with / or ~')
  })

  it('that are invalid are errors with file and line, never skipped', () => {
    const file = put('work/.cordon/rules.yaml', 'rules:\n  - effect: deny\n    comand: rm\n    because: typo\n')
    expect(load).toThrow(`${file}:3: unknown key "comand"`)
    put('work/.cordon/rules.yaml', '# everything is commented out\n')
    expect(reasons()).toEqual([])
  })

  it.each(['etc', 'work/.cordon'])('in %s are not read through links to files or folders', (place) => {
    const elsewhere = put('elsewhere/rules.yaml', rule('allow', 'elsewhere'))
    mkdirSync(join(folder, place), { recursive: true })
    symlinkSync(elsewhere, join(folder, place, 'rules.yaml'))
    expect(load).toThrow('it is a link')
    rmSync(join(folder, place), { recursive: true })
    symlinkSync(dirname(elsewhere), join(folder, place))
    expect(load).toThrow('it is a link')
  })

  it('of the user may be links to a settings folder', () => {
    const elsewhere = put('dotfiles/rules.yaml', rule('deny', 'linked'))
    mkdirSync(join(folder, 'config'))
    symlinkSync(elsewhere, join(folder, 'config', 'rules.yaml'))
    expect(reasons()).toEqual(['user deny linked'])
    chmodSync(elsewhere, 0o666)
    expect(load).toThrow('every user can write to it')
  })

  it.each([
    ['etc', 0o664, 'its group can write to it'],
    ['etc', 0o646, 'every user can write to it'],
    ['config', 0o664, 'its group can write to it'],
    ['work/.cordon', 0o646, 'every user can write to it'],
  ])('in %s with mode %o stop every call', (place, mode, problem) => {
    const file = put(`${place}/rules.yaml`, rule('allow', 'anybody'), mode)
    expect(load).toThrow(`the rules in ${file} are not safe to use: ${problem}`)
    chmodSync(file, 0o644)
    chmodSync(join(folder, place), mode | 0o111)
    expect(load).toThrow(`the rules in ${join(folder, place)} are not safe to use: ${problem}`)
  })

  it('of a project may belong to a group', () => {
    put('work/.cordon/rules.yaml', rule('deny', 'shared'), 0o664)
    expect(reasons()).toEqual(['project deny shared'])
  })

  it.each(['user', 'project'] as const)('of the %s that belong to another owner stop every call', (source) => {
    const file = put('other/rules.yaml', rule('allow', 'foreign'))
    const trust = trustOf(source, ME, ME)
    expect(readRuleFile(file, trust)).toContain('foreign')
    expect(() => readRuleFile(file, { ...trust, owners: [ME + 1] })).toThrow(`it belongs to the user ${String(ME)}`)
  })

  it('of a project may belong to its owner if root works in it', () => {
    expect(trustOf('project', 0, 1000).owners).toContain(1000)
    expect(trustOf('user', 0, 1000).owners).not.toContain(1000)
    expect(trustOf('managed', 1000, 0).owners).toEqual([0])
  })

  it('of the machine must belong to its owner, not even to the current user', () => {
    put('etc/rules.yaml', rule('allow', 'anybody'))
    expect(() => load({ managed: { folder: join(folder, 'etc'), owner: ME + 1 } })).toThrow(
      `it belongs to the user ${String(ME)}`,
    )
  })

  it('that are pipes make nobody wait', () => {
    mkdirSync(join(folder, 'config'))
    execFileSync('mkfifo', [join(folder, 'config', 'rules.yaml')])
    chmodSync(join(folder, 'config', 'rules.yaml'), 0o600)
    expect(load).toThrow('it is no ordinary file')
  })

  it('that cannot be read stop every call', () => {
    const file = put('etc/rules.yaml', rule('deny', 'hidden'), 0o000)
    chmodSync(base, 0o755)
    // Root can read everything.
    if (ME === 0) process.seteuid?.(12345)
    try {
      expect(load).toThrow(`the rules in ${file} cannot be read: EACCES`)
    } finally {
      if (ME === 0) process.seteuid?.(0)
    }
  })
})

const item = (id: string): readonly string[] => [
  '# why',
  `- id: ${id}`,
  '  effect: allow',
  '  tool: bash',
  '  because: kept',
]
const added = (text: string) => withRule(text, item('new'))

describe('adding a rule', () => {
  it.each([
    ['a new file', '', 'rules:\n  # why\n  - id: new\n'],
    ['a file of comments', '# mine\n', '# mine\nrules:\n  # why\n  - id: new\n'],
    [
      'a file without rules',
      'trusted_projects: [ /x ] # mine',
      'trusted_projects: [ /x ] # mine\nrules:\n  # why\n  - id: new\n',
    ],
    [
      'rules without indentation',
      'rules:\n- { effect: deny, because: x } # mine\n',
      'rules:\n- { effect: deny, because: x } # mine\n# why\n- id: new\n',
    ],
    [
      'rules before another key',
      'rules:\n    - effect: deny\n      because: x # mine\n# about the next\ntrusted_projects: []\n',
      '      because: x # mine\n    # why\n    - id: new\n',
    ],
    [
      'a last line without an end',
      'rules:\n  - effect: deny\n    because: x',
      '    because: x\n  # why\n  - id: new\n',
    ],
    [
      'a text of several lines',
      'rules:\n  - effect: deny\n    because: >\n      one\n      two\n\n# end\n',
      '      two\n',
    ],
  ])('to %s keeps every character of it', (_, before, part) => {
    const after = added(before)
    expect(after).toContain(part)
    expect(
      after
        .replace(/^ *(# why|- id: new|  effect: allow|  tool: bash|  because: kept)\n/gm, '')
        .replace(before === '' || !before.includes('rules:') ? /^rules:\n/m : '', ''),
    ).toBe(before === '' || before.endsWith('\n') ? before : `${before}\n`)
    const context = {
      source: 'user',
      places: { workspace: parseAbsolutePath('/w'), home: parseAbsolutePath('/h') },
    } as const
    expect(loadRules(after, 'x', context).rules.at(-1)?.id).toBe('new')
  })

  it.each(['rules: []\n', 'rules: [ { effect: deny, because: x } ]\n', '{ "rules": [] }\n', '- a list\n'])(
    'to an unsupported format is refused, with the rule to add by hand: %j',
    async (text) => {
      const file = put('config/rules.yaml', text, 0o600)
      const context = {
        source: 'user',
        places: { workspace: parseAbsolutePath('/w'), home: parseAbsolutePath('/h') },
      } as const
      await expect(addRule(file, { id: 'new', lines: item('new'), text: 'THE RULE' }, context)).rejects.toMatchObject({
        code: expect.stringMatching(/rule-not-added|policy-not-an-object/) as string,
      })
      expect(readFileSync(file, 'utf8')).toBe(text)
      expect(readdirSync(dirname(file))).toEqual(['rules.yaml'])
    },
  )

  it('by many processes at once loses none, and no comment', async () => {
    const file = put(
      'config/rules.yaml',
      '# mine\nrules:\n  - { id: first, effect: deny, tool: x, because: y } # stays\n',
      0o600,
    )
    const module = fileURLToPath(new URL('../../dist/runtime/rule-files/index.js', import.meta.url))
    const program = `
      const { addRule } = await import(${JSON.stringify(module)})
      const id = process.argv[1]
      await addRule(${JSON.stringify(file)}, { id, text: '', lines: ['- id: ' + id, '  effect: allow', '  tool: bash', '  because: kept'] }, { source: 'user', places: { workspace: '/w', home: '/h' } })`
    const ids = Array.from({ length: 8 }, (_, at) => `rule-${String(at)}`)
    const statuses = await Promise.all(
      ids.map(
        (id) =>
          new Promise((resolve) => {
            spawn(process.execPath, ['--input-type=module', '-e', program, id], { stdio: 'inherit' }).on(
              'exit',
              resolve,
            )
          }),
      ),
    )
    expect(statuses).toEqual(ids.map(() => 0))
    expect(
      load()
        .flatMap(({ rules }) => rules.map(({ id }) => id))
        .sort(),
    ).toEqual(['first', ...ids].sort())
    expect(readFileSync(file, 'utf8')).toContain('because: y } # stays\n')
    expect(readdirSync(dirname(file))).toEqual(['rules.yaml'])
  })

  it('follows a link', async () => {
    const real = put('dotfiles/rules.yaml', 'rules:\n  - { effect: deny, tool: x, because: y }\n', 0o600)
    mkdirSync(join(folder, 'config'))
    const file = join(folder, 'config', 'rules.yaml')
    symlinkSync(real, file)
    const context = {
      source: 'user',
      places: { workspace: parseAbsolutePath('/w'), home: parseAbsolutePath('/h') },
    } as const
    await addRule(file, { id: 'new', lines: item('new'), text: '' }, context)
    expect(readFileSync(real, 'utf8')).toContain('id: new')
    expect(readFileSync(file, 'utf8')).toBe(readFileSync(real, 'utf8'))
  })

  it('does not wait for a process that was killed while it added one', async () => {
    const file = put('config/rules.yaml', '', 0o600)
    const module = fileURLToPath(new URL('../../dist/platform/index.js', import.meta.url))
    const program = `
      const { takeLock } = await import(${JSON.stringify(module)})
      await takeLock(${JSON.stringify(`${file}.lock`)})
      process.kill(process.pid, 'SIGKILL')`
    expect(spawnSync(process.execPath, ['--input-type=module', '-e', program]).signal).toBe('SIGKILL')
    expect(readdirSync(dirname(file))).toEqual(['rules.yaml', 'rules.yaml.lock'])
    const context = {
      source: 'user',
      places: { workspace: parseAbsolutePath('/w'), home: parseAbsolutePath('/h') },
    } as const
    const start = performance.now()
    await addRule(file, { id: 'new', lines: item('new'), text: '' }, context)
    expect(performance.now() - start).toBeLessThan(2_000)
    expect(readFileSync(file, 'utf8')).toContain('id: new')
    expect(readdirSync(dirname(file))).toEqual(['rules.yaml'])
  })
})
