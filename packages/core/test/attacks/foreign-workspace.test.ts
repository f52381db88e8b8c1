// Cordon runs as root in a workspace of another user, as in a container with a mounted workspace.
import { chmodSync, chownSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'

import { describe, expect, test } from 'vitest'

import { IS_ROOT, describeForms } from './harness.js'
import { playground } from './playground.js'

const OTHER = 65_534

const foreign = (): ReturnType<typeof playground> => {
  const ground = playground()
  chmodSync(ground.root, 0o755)
  chownSync(ground.inside, OTHER, OTHER)
  return ground
}

describe.runIf(IS_ROOT)("root's tools in a workspace of another user", () => {
  describeForms('the cell', (cell) => {
    test('can change it, and new files belong to its owner', async () => {
      const { inside } = foreign()
      const { stdout, result } = await cell.run(
        ['/bin/sh', '-c', 'id -u; echo x > made; echo again > /dev/stdout; mkdir d && git init -q d/r && echo done'],
        { policy: { filesystem: { write: [inside] } }, cwd: inside },
      )
      expect(stdout).toBe(`${String(OTHER)}\nagain\ndone\n`)
      expect(result.profile).toMatchObject({ runs_as: `${String(OTHER)}:${String(OTHER)}`, write_roots: [inside] })
      expect(statSync(join(inside, 'made'))).toMatchObject({ uid: OTHER, gid: OTHER })
    })

    test('cannot read or change files of root, or become root again', async () => {
      const { inside, file } = foreign()
      const [secret, own] = [file('shown/secret'), file('inside/of-root', 'original\n', 0o644)]
      chmodSync(join(secret, '..'), 0o755)
      const script = `cat ${secret}; echo planted >> ${own}; chmod 777 ${own}; python3 -c 'import os; os.setuid(0)'; true`
      const { stdout, stderr } = await cell.run(['/bin/sh', '-c', script], {
        policy: { filesystem: { read: [join(secret, '..')], write: [inside] } },
        cwd: inside,
      })
      expect(`${stdout}${stderr}`).not.toContain('SECRET')
      expect(readFileSync(own, 'utf8')).toBe('original\n')
      expect(statSync(own).mode & 0o777).toBe(0o644)
      expect(stderr).toMatch(/PermissionError|Invalid argument/)
    })

    test('are refused with a fix if its owner cannot reach another grant', async () => {
      const { inside, file, root } = foreign()
      const config = file('closed/config')
      chmodSync(join(root, 'closed'), 0o700)
      const call = await cell.call(['/bin/true'], {
        policy: { filesystem: { read: [config], write: [inside] } },
        cwd: inside,
      })
      expect(call).toMatchObject({
        kind: 'refused',
        error: { code: 'owner-shut-out', fix: expect.stringContaining(`setpriv --reuid=${String(OTHER)}`) as string },
      })
    })

    test('run as root in a workspace of root', async () => {
      const { inside } = playground()
      const { stdout, result } = await cell.run(['/bin/sh', '-c', 'id -u; echo x > made'], {
        policy: { filesystem: { write: [inside] } },
        cwd: inside,
      })
      expect([stdout, result.profile.runs_as, statSync(join(inside, 'made')).uid]).toEqual(['0\n', undefined, 0])
    })
  })
})
