import { readdirSync } from 'node:fs'
import { join } from 'node:path'

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'

import { isWithinPath } from '../../src/policy/index.js'
import type { AbsolutePath } from '../../src/policy/index.js'
import { layOutLandlock } from '../../src/sandbox/plan/landlock-layout.js'
import type { LayoutInput } from '../../src/sandbox/plan/layout.js'
import { objectAt } from '../../src/sandbox/grants/object-at.js'
import type { Rule } from '../../src/sandbox/plan/plan.js'
import { path } from '../policy/places.js'

import { newFolder, plant } from './tree.js'

const SURVEY: LayoutInput['survey'] = {
  read: [],
  write: [],
  shown: [],
  links: [],
  hidden: [],
  sealed: [],
  carvedLinks: [],
}
const NOTHING: LayoutInput = {
  system: { places: [], links: [], files: [] },
  survey: SURVEY,
  loaded: [],
  execute: { kind: 'all' },
  cwd: path('/'),
  temporary: path('/tmp/cordon-private'),
  ownProc: false,
  kernelSecrets: [],
  tty: true,
  own: [],
  covers: [],
}

const layOut = (survey: Partial<LayoutInput['survey']>, changes: Partial<LayoutInput> = {}): readonly Rule[] =>
  layOutLandlock({ ...NOTHING, survey: { ...SURVEY, ...survey }, ...changes }, false).rules

const layOutKept = (survey: Partial<LayoutInput['survey']>) =>
  layOutLandlock({ ...NOTHING, survey: { ...SURVEY, ...survey } }, true)

/** Landlock adds up: all that any rule on the way to the path allows. */
const accessTo = (rules: readonly Rule[], at: string): string =>
  [
    ...new Set(
      rules.filter((rule) => isWithinPath(at as AbsolutePath, rule.path)).flatMap(({ access }) => Array.from(access)),
    ),
  ]
    .sort()
    .join('')

const place = (at: string) => ({ path: path(at), object: 'directory' as const })

describe('Landlock rules', () => {
  it('are one per root without carve-outs', () => {
    const root = newFolder()
    plant(root, ['r/a/f', 'w/a/f'])
    const rules = layOut({ read: [place(`${root}/r`)], write: [place(`${root}/w`)] }).filter(({ path: at }) =>
      isWithinPath(at, root),
    )
    expect(rules).toEqual([
      { access: 'rx', path: `${root}/r` },
      { access: 'rx', path: `${root}/w` },
      { access: 'rwx', path: `${root}/w` },
    ])
  })

  it('leave protected files readable, and their folder closed for new names', () => {
    const root = newFolder()
    plant(root, ['w/.git/hooks/h', 'w/.git/HEAD', 'w/src/f'])
    const rules = layOut({ write: [place(`${root}/w`)], sealed: [place(`${root}/w/.git/hooks`)] })
    expect(
      ['w/src/f', 'w/.git/HEAD', 'w/.git/hooks/h', 'w/.git', 'w'].map((name) => accessTo(rules, join(root, name))),
    ).toEqual(['rwx', 'rwx', 'rx', 'rx', 'rx'])
  })

  it('let the tool write neither protected files nor their folder, where the keeper writes', () => {
    const root = newFolder()
    plant(root, ['w/.git/hooks/h', 'w/key', 'w/src/f', 'free/f'])
    const hidden = [{ path: path(`${root}/w/key`), object: 'file' as const }]
    const { rules, kept } = layOutKept({
      write: [place(`${root}/w`), place(`${root}/free`)],
      hidden,
      sealed: [place(`${root}/w/.git/hooks`)],
    })
    expect(kept).toEqual({ roots: [`${root}/w`], sealed: [`${root}/w/.git/hooks`], hidden: [`${root}/w/key`] })
    expect(['w/src/f', 'w/.git/hooks/h', 'w/key', 'free/f'].map((name) => accessTo(rules, join(root, name)))).toEqual([
      'lrwx',
      'lrx',
      'l',
      'rwx',
    ])
  })

  it('are left to the keeper if there are too many', () => {
    const root = newFolder()
    plant(root, ['.git/hooks/h', ...Array.from({ length: 4_100 }, (_, index) => `f${String(index)}`)])
    const { rules, kept } = layOutKept({ write: [place(root)], sealed: [place(`${root}/.git/hooks`)] })
    expect({ kept: kept.roots, access: accessTo(rules, `${root}/f1`) }).toEqual({ kept: [root], access: 'rx' })
  })

  it('grant nothing in a root inside a carve-out', () => {
    const root = newFolder()
    plant(root, ['w/.git/hooks/h'])
    const { rules, kept } = layOutKept({
      write: [place(`${root}/w/.git`)],
      hidden: [place(`${root}/w`)],
      sealed: [place(`${root}/w/.git/hooks`)],
    })
    expect({ kept: kept.roots, access: accessTo(rules, `${root}/w/.git/HEAD`) }).toEqual({ kept: [], access: '' })
  })

  it('never name a link, because its target has rules of its own', () => {
    const root = newFolder()
    plant(root, ['w/key', 'w/other', 'w/link -> /etc'])
    const rules = layOut({ write: [place(`${root}/w`)], hidden: [{ path: path(`${root}/w/key`), object: 'file' }] })
    expect(rules.filter(({ path: at }) => isWithinPath(at, root) && objectAt(at) === 'link')).toEqual([])
    expect(accessTo(rules, '/etc/passwd')).toBe('')
  })

  it('allow executing only listed programs, if programs are limited', () => {
    const root = newFolder()
    plant(root, ['w/f', 'program'])
    const program = path(`${root}/program`)
    const rules = layOut(
      { write: [place(`${root}/w`)] },
      { execute: { kind: 'only', programs: [program], files: [program], libraries: [] } },
    )
    expect(rules.filter(({ access }) => access.includes('x')).map(({ path: at }) => at)).toEqual([program])
  })

  it('are refused if there are too many', () => {
    const root = newFolder()
    plant(root, ['key', ...Array.from({ length: 2_100 }, (_, index) => `f${String(index)}`)])
    expect(() => layOut({ write: [place(root)], hidden: [{ path: path(`${root}/key`), object: 'file' }] })).toThrow(
      expect.objectContaining({ code: 'plan-rejected' }),
    )
  })

  it('grant everything in a root except the carve-outs', () => {
    const folder = newFolder()
    const name = fc.constantFrom('a', 'b', 'c')
    let count = 0
    fc.assert(
      fc.property(
        fc.array(fc.array(name, { minLength: 1, maxLength: 3 }), { minLength: 1, maxLength: 8 }),
        fc.array(fc.nat(), { maxLength: 3 }),
        (paths, choices) => {
          count += 1
          const root = join(folder, String(count))
          plant(
            root,
            paths.map((names) => `${names.join('/')}/`),
          )
          const all = readdirSync(root, { recursive: true, encoding: 'utf8' }).map(
            (at) => join(root, at) as AbsolutePath,
          )
          const carved = choices.map((choice) => all[choice % all.length]).filter((at) => at !== undefined)
          const rules = layOut({ write: [place(root)], hidden: carved.map(place) })
          for (const at of all) {
            const isCarved = carved.some((path) => isWithinPath(at, path))
            const holdsCarved = carved.some((path) => isWithinPath(path, at))
            expect(accessTo(rules, at), at).toBe(isCarved || holdsCarved ? '' : 'rwx')
          }
        },
      ),
      { numRuns: 60 },
    )
  })
})
