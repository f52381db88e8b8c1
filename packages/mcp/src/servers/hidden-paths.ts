// A cell has its own empty /tmp. A server that keeps data there seems to save it, and everything is gone when it ends.
import { existsSync } from 'node:fs'
import { dirname, resolve } from 'node:path'

import { isReadable, isWithinPath, parseAbsolutePath } from 'cordon/policy'
import type { AbsolutePath } from 'cordon/policy'
import { visible, visibleWord } from 'cordon/commands'
import type { Environment } from 'cordon/commands'

import type { PreparedServer } from './start-server.js'

/** Folders of the host that a cell replaces by its own. */
const PRIVATE = ['/tmp', '/dev/shm'].map((path) => parseAbsolutePath(path))

/** A warning for each argument and variable of a server that names a path in such a folder. */
export const hiddenPathsOf = (prepared: PreparedServer, environment: Environment): readonly string[] => {
  const { server, prepared: run } = prepared
  if (server.transport.kind === 'remote') return []
  const { boundary } = run.tool
  const { cwd, home } = run.order
  const words = server.argv.slice(1).map((text) => ({ of: 'an argument', text: text.replace(/^--?[\w-]+=/, '') }))
  const variables = boundary.environment.map(({ name, value }) => ({
    of: `the variable ${name}`,
    text: value.kind === 'set' ? value.text : (environment[name] ?? ''),
  }))
  const found = [...words, ...variables].flatMap(({ of, text }) => {
    const path = pathIn(text, cwd, home)
    const isHidden =
      path !== undefined &&
      PRIVATE.some((folder) => path !== folder && isWithinPath(path, folder)) &&
      !isReadable(boundary, path) &&
      ![...boundary.read, ...boundary.write].some(({ negated, base }) => !negated && isWithinPath(base, path))
    return isHidden ? [{ of, path }] : []
  })
  return [...new Map(found.map((each) => [each.path, each])).values()].map(
    ({ of, path }) =>
      `the MCP server "${visible(server.name)}" gets ${visible(path)} (${of}), which its cell hides: what it writes ` +
      `there is lost when it ends; to keep it, ${keepingOf(path)}, or name a path outside of /tmp`,
  )
}

/** Only what exists can be granted. */
const keepingOf = (path: AbsolutePath): string => {
  const [word, folder] = [visibleWord(path), visibleWord(dirname(path))]
  const making = existsSync(dirname(path)) ? `touch ${word}` : `mkdir -p ${folder} && touch ${word}`
  return `${existsSync(path) ? '' : `run ${making}, and `}add --write ${word}`
}

const pathIn = (text: string, cwd: string, home: string): AbsolutePath | undefined => {
  const plain = text.replace(/^file:\/\/(?=\/)/, '').replace(/^~(?=\/)/, home)
  if (!/^\.{0,2}\//.test(plain) || plain.includes('\0')) return undefined
  return parseAbsolutePath(resolve(cwd, plain), 'a path of a server')
}
