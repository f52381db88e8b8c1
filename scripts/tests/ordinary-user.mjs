// A second run of the tests as an ordinary user, if they run as root. It uses a copy of the checkout, because only root
// may be able to read the original.
import { spawnSync } from 'node:child_process'
import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const NAME = 'cordon-test'
const NOT_COPIED = new Set(['.git', 'coverage'])

const lookUp = (name) => {
  const line = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .find((entry) => entry.startsWith(`${name}:`))
  if (line === undefined) return undefined
  const [, , uid, gid, , home] = line.split(':')
  return { name, uid: Number(uid), gid: Number(gid), home }
}

/** A user with a home and, if useradd assigns them, subordinate ids for rootless containers. */
export const ordinaryUser = () => {
  if (lookUp(NAME) === undefined)
    spawnSync('useradd', ['--create-home', '--shell', '/bin/sh', NAME], { stdio: 'inherit' })
  return lookUp(NAME) ?? lookUp('nobody')
}

/** Calls `use` with a copy of the checkout that the user owns, and a node that the user can run. */
export const withCopyFor = async (user, checkout, use) => {
  const folder = mkdtempSync(join(tmpdir(), 'cordon-unprivileged-'))
  try {
    chmodSync(folder, 0o755)
    const entries = readdirSync(checkout)
      .filter((name) => !NOT_COPIED.has(name))
      .map((name) => join(checkout, name))
    const copied = spawnSync('cp', ['-a', '--reflink=auto', ...entries, folder], { stdio: 'inherit' })
    // Reports of the user's run.
    mkdirSync(join(folder, 'build'), { recursive: true })
    const owned = spawnSync('chown', ['-R', `${user.uid}:${user.gid}`, folder], { stdio: 'inherit' })
    const node = nodeFor(user, folder)
    // The native cordon knows the place for which it was made.
    const front = join(folder, 'packages/core/scripts/write-front.mjs')
    const made = spawnSync(node, [front], { uid: user.uid, gid: user.gid, cwd: folder, stdio: 'inherit' })
    if ([copied, owned, made].some(({ status }) => status !== 0))
      throw new Error(`the checkout could not be copied for the user ${user.name}`)
    return await use(folder, node)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** What vitest needs to run as this user in that copy. */
export const asUser = (user) => ({
  as: { uid: user.uid, gid: user.gid },
  env: {
    PATH: process.env.PATH,
    HOME: user.home,
    USER: user.name,
    LOGNAME: user.name,
    LANG: 'C.UTF-8',
    ...(process.env.CI ? { CI: 'true' } : {}),
  },
})

const nodeFor = (user, folder) => {
  const tried = spawnSync(process.execPath, ['--version'], { uid: user.uid, gid: user.gid, cwd: '/', stdio: 'ignore' })
  if (tried.status === 0) return process.execPath
  const copy = join(folder, 'node')
  copyFileSync(process.execPath, copy)
  chmodSync(copy, 0o755)
  return copy
}
