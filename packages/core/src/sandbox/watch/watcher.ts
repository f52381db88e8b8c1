// The connection to the watcher, the launcher process that watches write roots for protected names.
import { spawn } from 'node:child_process'
import type { Socket } from 'node:net'

import { bug, fail, messageOf } from '../../errors/index.js'
import { quotedWord } from '../../platform/index.js'
import type { AbsolutePath, Boundary, PathPattern, ProtectedName } from '../../policy/index.js'
import { PROTECTED_NAMES, isNamedBy, isWithinPath } from '../../policy/index.js'

import { bytesOfName, textOfName } from '../grants/file-names.js'
import { FROM_WATCHER, TO_WATCHER, createFrameReader, encodeFrame } from '../frames.js'
import type { FrameToWatcher } from '../frames.js'
import { objectAt } from '../grants/object-at.js'
import type { FoundObject, ObjectKind } from '../grants/object-at.js'
import type { Violation } from '../result/violations.js'

export interface Patrol {
  readonly found: readonly FoundObject[]
  /** As long as it stays the same, no file in a write root has got another name. */
  readonly links: string
  /**
   * Called when the tool starts: from now on it may have made what appears. It can make nothing in `closed` folders,
   * and `missing` paths must not appear.
   */
  readonly go: (closed: readonly AbsolutePath[], missing: readonly AbsolutePath[]) => void
  /** Searches the root once more. If the tool never ran, nothing there is its doing. */
  readonly end: (use: 'used' | 'unused') => Promise<PatrolEnd>
}

interface PatrolEnd {
  readonly violations: readonly Violation[]
  /** If something was made in the root: the protected names that exist in it now. */
  readonly found: readonly FoundObject[] | undefined
}

/** Links that the policy carves out. They are put back if they change. */
interface CarvedLinks {
  readonly all: readonly AbsolutePath[]
  /** What these lead to is not guarded with them. */
  readonly alone: readonly AbsolutePath[]
}

/** Knows the protected names of every write root in use, and sees new ones appear. */
export interface Watcher {
  readonly begin: (
    root: AbsolutePath,
    boundary: Pick<Boundary, 'read' | 'write'>,
    onAppearance: () => void,
    links: CarvedLinks,
  ) => Promise<Patrol>
  /** Watches single names that must stay closed to a call if another program replaces or makes them. */
  readonly hold: (names: readonly AbsolutePath[], onReplacement: () => void) => Promise<Pick<Patrol, 'end'>>
  /** The other names of sealed files in the write roots and in `readable` folders. */
  readonly otherNames: (
    roots: readonly AbsolutePath[],
    sealed: readonly AbsolutePath[],
    readable: readonly AbsolutePath[],
  ) => Promise<readonly FoundObject[]>
  readonly isAlive: () => boolean
  readonly close: () => void
}

interface OrderedWatch extends Pick<Patrol, 'end'> {
  readonly answer: readonly string[]
  readonly go: (words: readonly string[]) => void
}

export const SCOPE_LETTERS = { anywhere: 'a', project: 'p', root: 'r' } as const

const letterOf = ({ scope, object }: ProtectedName): string => (object === 'file' ? 'f' : SCOPE_LETTERS[scope])

const KINDS: Readonly<Record<string, ObjectKind>> = { d: 'directory', f: 'file', l: 'link' }

export const DEED_LETTERS = {
  m: 'set-aside',
  b: 'put-back',
  l: 'left',
  c: 'shared',
  u: 'unseen',
  s: 'separated',
  r: 'replaced',
} as const

const isDeed = (letter: string): letter is keyof typeof DEED_LETTERS => letter in DEED_LETTERS

const violationOf = (path: string, letter: string, aside: string): Violation => {
  if (!isDeed(letter)) return bug(`the watcher did ${JSON.stringify(letter)}, which nobody knows`)
  const deed = DEED_LETTERS[letter]
  if (deed === 'replaced') return { kind: 'unsealed', path }
  return deed === 'set-aside'
    ? { kind: 'protected', deed, path, aside, restore: restoring(path, aside) }
    : { kind: 'protected', deed, path }
}

/** `-n`: its user may have made another one since. */
const restoring = (path: string, aside: string): string => `mv -nT -- ${quotedWord(aside)} ${quotedWord(path)}`

export const startWatcher = (launcher: string): Watcher => {
  const child = spawn(launcher, ['watcher'], { stdio: ['ignore', 'ignore', 'ignore', 'pipe'], env: {} })
  const line = child.stdio[3] as Socket
  const asides = new Map<number, { readonly list: Violation[]; readonly onAppearance: () => void }>()
  const answers: { readonly resolve: (words: readonly string[]) => void; readonly reject: (error: Error) => void }[] =
    []
  const exemptions = rememberExemptions()
  let lastNumber = 0
  let gone = false

  const end = (how: string) => {
    gone = true
    for (const { reject } of answers.splice(0)) reject(fail('launcher-died', { how }))
  }
  const read = createFrameReader(FROM_WATCHER, (kind, payload) => {
    const words = textOfName(payload).split('\0').slice(0, -1)
    if (kind !== FROM_WATCHER.aside) {
      answers.shift()?.resolve(words)
      return
    }
    const [number = '', path = '', deed = '', aside = ''] = words
    const order = asides.get(Number(number))
    order?.list.push(violationOf(path, deed, aside))
    order?.onAppearance()
  })
  line.on('data', (bytes: Buffer) => {
    try {
      read(bytes)
    } catch (error) {
      end(messageOf(error))
      line.destroy()
    }
  })
  line.on('error', () => undefined)
  line.on('close', () => {
    end('the watcher ended')
  })
  child.once('error', (error) => {
    end(error.message)
  })
  const ask = async (kind: FrameToWatcher, words: readonly string[]): Promise<readonly string[]> => {
    if (gone) throw fail('launcher-died', { how: 'the watcher ended' })
    return new Promise((resolve, reject) => {
      answers.push({ resolve, reject })
      if (answers.length === 1) keepAlive(true)
      line.write(encodeFrame(kind, wordsOf(words)))
    }).finally(() => {
      if (answers.length === 0) keepAlive(false)
    }) as Promise<readonly string[]>
  }
  /** Only an expected answer keeps the host process running. */
  const keepAlive = (wanted: boolean) => {
    if (wanted) line.ref()
    else line.unref()
  }
  child.unref()
  line.unref()
  line.write(encodeFrame(TO_WATCHER.names, wordsOf(PROTECTED_NAMES.map((entry) => `${letterOf(entry)}${entry.name}`))))

  /** Asks for a watch under a new number. The answer is words, or `!` and the reason why it cannot be watched. */
  const order = async (
    kind: FrameToWatcher,
    subject: string,
    words: readonly string[],
    onAppearance: () => void,
  ): Promise<OrderedWatch> => {
    lastNumber += 1
    const number = lastNumber
    const list: Violation[] = []
    asides.set(number, { list, onAppearance })
    const answer = await ask(kind, [String(number), ...words])
    const [first = ''] = answer
    if (first.startsWith('!')) {
      asides.delete(number)
      throw fail('plan-rejected', { problem: `${subject}: ${first.slice(1)}` })
    }
    const go = (words: readonly string[]) => {
      if (!gone) line.write(encodeFrame(TO_WATCHER.go, wordsOf([String(number), ...words])))
    }
    const end = async (use: 'used' | 'unused') => {
      const [, grown, ...found] = await ask(TO_WATCHER.end, use === 'used' ? [String(number)] : [String(number), use])
      asides.delete(number)
      return { violations: list, found: grown === undefined ? undefined : found.map(foundName) }
    }
    return { answer, go, end }
  }

  return {
    begin: async (root, boundary, onAppearance, { all, alone }) => {
      const below = (letter: string, paths: readonly AbsolutePath[]) =>
        paths.filter((path) => isWithinPath(path, root)).map((path) => `${letter}${path.slice(root.length + 1)}`)
      const missing = missingCarveOuts(boundary).filter((path) => path !== root)
      const { answer, go, end } = await order(
        TO_WATCHER.begin,
        `the write root ${root} cannot be looked into`,
        [root, ...exemptions(root, boundary.write), ...below('!', missing), ...below('@', all), ...below('#', alone)],
        onAppearance,
      )
      const [links = '', ...found] = answer
      return {
        found: found.map(foundName),
        links,
        go: (closed, missing) => {
          go([...below('-', closed), ...below('!', missing)])
        },
        end,
      }
    },
    otherNames: async (roots, sealed, readable) => {
      const words = await ask(TO_WATCHER.otherNames, [
        '0',
        ...roots.map((path) => `r${path}`),
        ...readable.map((path) => `R${path}`),
        ...sealed.map((path) => `s${path}`),
      ])
      const unseen = words.find((word) => word.startsWith('!'))
      if (unseen !== undefined)
        throw fail('plan-rejected', {
          problem:
            `a file that the policy takes out has another name (a hard link), and ${unseen.slice(1)} holds too ` +
            'many folders to look for it; grant smaller folders',
        })
      return words.map(foundName)
    },
    hold: async (names, onReplacement) =>
      order(TO_WATCHER.hold, 'what is carved out cannot be watched', names, onReplacement),
    isAlive: () => !gone,
    close: () => {
      line.destroy()
    },
  }
}

const foundName = (word: string): FoundObject => ({
  path: word.slice(1) as AbsolutePath,
  object: KINDS[word[0] ?? ''] ?? 'other',
})

const wordsOf = (words: readonly string[]): Buffer => bytesOfName(words.map((word) => `${word}\0`).join(''))

/** Compares every protected name with every grant once: the grants of a boundary never change. */
const rememberExemptions = (): typeof exemptionsIn => {
  const known = new WeakMap<readonly PathPattern[], Map<AbsolutePath, readonly string[]>>()
  return (root, write) => {
    const byRoot = known.get(write) ?? new Map<AbsolutePath, readonly string[]>()
    const words = byRoot.get(root) ?? exemptionsIn(root, write)
    known.set(write, byRoot.set(root, words))
    return words
  }
}

/** Names that the policy grants itself are not guarded: `*` at every depth, `=` at one place. */
const exemptionsIn = (root: AbsolutePath, write: readonly PathPattern[]): readonly string[] => {
  const inRoot = plainGrants({ write }).filter(({ base }) => isBelow([root], base))
  return PROTECTED_NAMES.flatMap((entry) => {
    if (isNamedBy(write, entry, `${root}/any/depth/${entry.name}` as AbsolutePath)) return [`*${entry.name}`]
    const places = inRoot
      .filter(({ base }) => base.endsWith(`/${entry.name}`))
      .map(({ base }) => `=${base.slice(root.length + 1)}`)
    return isNamedBy(write, entry, `${root}/${entry.name}` as AbsolutePath) ? [`=${entry.name}`, ...places] : places
  })
}

/** Grants to write that are not patterns. */
export const plainGrants = ({ write }: Pick<Boundary, 'write'>): readonly PathPattern[] =>
  write.filter(({ negated, kind }) => !negated && kind !== 'pattern')

/** Carve-outs that do not exist yet: they must not appear either. */
export const missingCarveOuts = ({ read, write }: Pick<Boundary, 'read' | 'write'>): readonly AbsolutePath[] =>
  [...read, ...write]
    .filter(({ negated, kind, base }) => negated && kind !== 'pattern' && objectAt(base) === undefined)
    .map(({ base }) => base)

export const isBelow = (folders: readonly AbsolutePath[], path: AbsolutePath): boolean =>
  folders.some((folder) => path !== folder && isWithinPath(path, folder))
