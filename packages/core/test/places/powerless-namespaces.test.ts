import { expect, test } from 'vitest'

import { imitated, powerlessNamespaces } from './place.js'
import { describePlace, expectNotRun, ran } from './visit.js'
import type { VisitRequest } from './visit.js'

const REQUEST: VisitRequest = {
  warm: true,
  calls: {
    plain: { argv: ['/bin/echo', 'well'] },
    namespaces: { argv: ['/bin/true'], form: 'namespaces' },
    required: { argv: ['/bin/true'], policy: { require: ['pid-namespace'] } },
    names: { argv: ['/bin/sh', '-c', 'stat /etc/shadow > /dev/null && cat /etc/shadow'] },
  },
}

describePlace(
  powerlessNamespaces,
  () => REQUEST,
  (found) => {
    test('namespaces that can be made but have no powers are not used, and the first failing step is named', () => {
      expect(found().host.namespaces).toEqual({
        held: false,
        stage: 'loopback',
        problem: expect.stringContaining('Operation not permitted') as string,
      })
      expect(found().host).toMatchObject({
        landlock: { held: true },
        listener: { held: true },
        borrowing: { held: true },
        measuring: { held: true },
      })
    })

    test('a cell takes the landlock form, cold and warm', () => {
      expect(ran(found(), 'plain')).toMatchObject({ exitCode: 0, stdout: 'well\n', profile: { form: 'landlock' } })
      expect(found().calls['warm']).toMatchObject({ exitCode: 0, stdout: 'warm\n' })
    })

    test('the profile does not claim that visible names are hidden', () => {
      const { exitCode, stdout, profile } = ran(found(), 'names')
      expect({ exitCode, stdout, claimed: profile.enforced['file_names'] }).toEqual({
        exitCode: 1,
        stdout: '',
        claimed: [],
      })
    })

    test('a policy that requires the namespaces form is refused, with the failed step and a fix', () => {
      expect(expectNotRun(found(), 'namespaces', 'host-cannot-hold').message).toContain('loopback')
      expect(expectNotRun(found(), 'required', 'host-cannot-hold')).toMatchObject({
        message: expect.stringContaining('pid-namespace') as string,
        fix: expect.stringContaining('cordon doctor') as string,
      })
    })
  },
)

// Other ways to be powerless: each must be found by the step that fails, and lead to the same form.
const OTHERS = [
  { place: imitated('namespaces that may not mount', ['no-mounts']), stage: 'mount-namespace' },
  {
    place: imitated('namespaces whose ids cannot be mapped', ['read-only-proc', 'container-capabilities']),
    stage: 'user-namespace',
  },
]

for (const { place, stage } of OTHERS) {
  describePlace(
    place,
    () => ({ calls: { plain: { argv: ['/bin/echo', 'well'] } } }),
    (found) => {
      test(`the step ${stage} is named, and a cell without namespaces runs`, () => {
        expect(found().host.namespaces).toMatchObject({ held: false, stage })
        expect(ran(found(), 'plain')).toMatchObject({ exitCode: 0, stdout: 'well\n', profile: { form: 'landlock' } })
      })
    },
  )
}
