import fc from 'fast-check'
import { describe, expect, it } from 'vitest'

import { isWithinPath } from '../../src/policy/index.js'
import { byPath, layOutNamespaces, outermost } from '../../src/sandbox/plan/layout.js'
import type { Layout, LayoutInput } from '../../src/sandbox/plan/layout.js'
import { path } from '../policy/places.js'

const folder = (text: string) => ({ path: path(text), object: 'directory' as const })
const file = (text: string) => ({ path: path(text), object: 'file' as const })

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
  system: {
    places: [folder('/usr')],
    links: [{ path: path('/bin'), target: 'usr/bin' }],
    files: [{ path: path('/etc/hosts'), content: 'h' }],
  },
  survey: SURVEY,
  loaded: [],
  execute: { kind: 'all' },
  cwd: path('/'),
  temporary: path('/tmp'),
  ownProc: true,
  kernelSecrets: [path('/proc/keys')],
  tty: true,
  own: [],
  covers: [],
}

const layOut = (survey: Partial<LayoutInput['survey']>, changes: Partial<LayoutInput> = {}): Layout =>
  layOutNamespaces({ ...NOTHING, survey: { ...SURVEY, ...survey }, ...changes })

const stepAt = ({ steps }: Layout, at: string): string | undefined => {
  const step = steps.find((candidate) => candidate.path === at)
  return step?.kind === 'bind' ? `bind ${step.access}` : step?.kind
}

const accessAt = ({ rules }: Layout, at: string): string | undefined => rules.find((rule) => rule.path === at)?.access

describe('the root of a cell', () => {
  it("has the system's files: folders bound, links and small files created", () => {
    const layout = layOut({})
    expect(['/usr', '/bin', '/etc/hosts', '/dev/null', '/proc', '/tmp'].map((at) => stepAt(layout, at))).toEqual([
      'bind rx',
      'link',
      'file',
      'bind rd',
      'proc',
      'scratch',
    ])
  })

  it('has read grants read-only, and write grants writable', () => {
    const layout = layOut({ read: [folder('/data')], write: [folder('/out')] })
    expect([stepAt(layout, '/data'), stepAt(layout, '/out')]).toEqual(['bind rx', 'bind rwx'])
    expect([accessAt(layout, '/data'), accessAt(layout, '/out')]).toEqual(['rx', 'rwx'])
  })

  it('keeps a write root writable despite a read grant inside it', () => {
    expect(stepAt(layOut({ read: [folder('/w/sub')], write: [folder('/w')] }), '/w/sub')).toBeUndefined()
  })

  it('seals protected names in a write root, and pins every folder between', () => {
    const layout = layOut({ write: [folder('/w')], sealed: [folder('/w/a/.git/hooks')] })
    expect(['/w', '/w/a', '/w/a/.git', '/w/a/.git/hooks'].map((at) => stepAt(layout, at))).toEqual([
      'bind rwx',
      'bind rwx',
      'bind rwx',
      'bind rx',
    ])
  })

  it('pins no folder inside a sealed one, because a pin is writable', () => {
    const layout = layOut({
      write: [folder('/w')],
      sealed: [folder('/w/r/.git/modules'), file('/w/r/.git/modules/x/config')],
    })
    expect(stepAt(layout, '/w/r/.git/modules/x')).toBeUndefined()
    expect(
      ['/w/r', '/w/r/.git', '/w/r/.git/modules', '/w/r/.git/modules/x/config'].map((at) => stepAt(layout, at)),
    ).toEqual(['bind rwx', 'bind rwx', 'bind rx', 'bind rx'])
  })

  it('hides carve-outs, and pins the folders between in a write root', () => {
    const layout = layOut({ write: [folder('/w')], hidden: [file('/w/a/key')] })
    expect(['/w/a', '/w/a/key'].map((at) => stepAt(layout, at))).toEqual(['bind rwx', 'hide'])
  })

  it('hides kernel secrets in its own /proc, and opens only figures in a borrowed one', () => {
    expect(stepAt(layOut({}), '/proc/keys')).toBe('hide')
    const borrowed = layOut({}, { ownProc: false })
    expect([stepAt(borrowed, '/proc'), accessAt(borrowed, '/proc'), accessAt(borrowed, '/proc/meminfo')]).toEqual([
      'bind r',
      undefined,
      'r',
    ])
    expect(borrowed.rules.filter(({ path: at }) => at === '/')).toEqual([])
  })

  it('allows executing only the listed programs and their loaders, if programs are limited', () => {
    const execute: LayoutInput['execute'] = {
      kind: 'only',
      programs: [path('/usr/bin/cat')],
      files: [path('/usr/bin/cat'), path('/usr/lib/ld.so')],
      libraries: [path('/usr/lib')],
    }
    const layout = layOut({ write: [folder('/w')] }, { execute })
    expect(layout.rules.filter(({ access }) => access.includes('x')).map(({ path: at }) => at)).toEqual([
      '/usr/bin/cat',
      '/usr/lib/ld.so',
    ])
    expect(['/usr', '/w', '/usr/lib'].map((at) => stepAt(layout, at))).toEqual(['bind r', 'bind rw', 'bind rx'])
  })

  it('creates the working directory unless it is inside a bound folder', () => {
    expect(stepAt(layOut({}, { cwd: path('/elsewhere/project') }), '/elsewhere/project')).toBe('directory')
    expect(stepAt(layOut({ read: [folder('/data')] }, { cwd: path('/data/sub') }), '/data/sub')).toBeUndefined()
  })

  it('has its own terminals, and /dev/tty if the host has it', () => {
    expect(['/dev/pts', '/dev/tty', '/dev/ptmx'].map((at) => stepAt(layOut({}), at))).toEqual([
      'terminals',
      'bind rd',
      'link',
    ])
    expect(stepAt(layOut({}, { tty: false }), '/dev/tty')).toBeUndefined()
  })
})

const names = fc.array(fc.constantFrom('a', 'b', 'c', 'a-', 'a.b'), { minLength: 1, maxLength: 4 })
const places = fc.array(
  names.map((list) => folder(`/${list.join('/')}`)),
  { maxLength: 10 },
)

describe('steps', () => {
  it('create a folder before its content', () => {
    fc.assert(
      fc.property(places, places, places, places, (read, write, hidden, sealed) => {
        const { steps } = layOut({ read, write, hidden, sealed })
        for (const [index, { path: at }] of steps.entries()) {
          for (const later of steps.slice(index + 1))
            expect(later.path !== at && isWithinPath(at, later.path), `${at} before ${later.path}`).toBe(false)
        }
      }),
    )
  })

  it('hide every carve-out, whatever else is granted', () => {
    fc.assert(
      fc.property(places, places, places, (read, write, hidden) => {
        const layout = layOut({ read, write, hidden })
        for (const { path: at } of hidden) expect(stepAt(layout, at)).toBe('hide')
      }),
    )
  })

  it('bind nothing writable outside write roots, and nothing sealed', () => {
    fc.assert(
      fc.property(places, places, places, (read, write, sealed) => {
        for (const step of layOut({ read, write, sealed }).steps) {
          if (step.kind !== 'bind' || !step.access.includes('w')) continue
          expect(write.some((root) => isWithinPath(step.path, root.path))).toBe(true)
          expect(sealed.some((place) => place.path === step.path)).toBe(false)
        }
      }),
    )
  })
})

describe('the outermost of several paths', () => {
  it('do not contain each other, and contain every path', () => {
    fc.assert(
      fc.property(places, (list) => {
        const kept = outermost(list)
        for (const place of kept) expect(kept.filter((other) => isWithinPath(place.path, other.path))).toEqual([place])
        for (const place of list) expect(kept.some((other) => isWithinPath(place.path, other.path))).toBe(true)
      }),
    )
  })

  it('are found by whole names: a sibling that sorts between a folder and its content changes nothing', () => {
    expect([folder('/a.b'), folder('/a/b'), folder('/a')].sort(byPath).map(({ path: at }) => at)).toEqual([
      '/a',
      '/a/b',
      '/a.b',
    ])
  })
})
