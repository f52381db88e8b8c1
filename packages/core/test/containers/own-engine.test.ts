// The engine of the user who runs Cordon: that of root, and a rootless one of another user.
import { statSync } from 'node:fs'
import { join } from 'node:path'

import { describe, expect, test } from 'vitest'

import { containerTool } from '../../src/runtime/index.js'
import { engineSockets } from 'cordon/sandbox'
import { needs } from '../../../../test/requirement.js'
import { cordon } from '../cli/cordon.js'
import type { Diagnosis } from '../cli/printed.js'
import { openStage } from '../runtime/stage.js'

import { ENGINE_KIND, IS_PODMAN, engineProblem, makeImageRoot, startEngine } from './engine.js'

const problem = engineProblem()
const engine = problem === undefined ? await startEngine() : undefined
const stage = openStage()
const image = engine?.image(makeImageRoot(join(engine.folder, 'root'), ['sh', 'mkdir'])) ?? ''
const runtimeFolder = join(engine?.folder ?? '', 'run')

describe(`a ${ENGINE_KIND} engine`, () => {
  test('is found in the runtime folder of this user, and files of its tools belong to this user', async (context) => {
    needs(context, engine !== undefined, problem ?? '')
    const folder = stage.newFolder()
    const shell = containerTool({
      name: 'shell',
      image,
      policy: { filesystem: { write: [folder] }, limits: { memory: '200M' } },
      argumentGate: 'off',
      command: () => ['sh', '-c', `echo made > ${folder}/file; mkdir ${folder}/folder`],
    })
    const cordon = await stage.cordon({ tools: [shell], environment: { XDG_RUNTIME_DIR: runtimeFolder } })
    const { facts } = await cordon.call('shell')
    expect(facts.error).toBeNull()
    const owners = ['file', 'folder'].map((name) => statSync(join(folder, name)))
    expect(owners.map(({ uid }) => uid)).toEqual(owners.map(() => process.getuid?.()))
    expect(owners.map(({ gid }) => gid)).toEqual(owners.map(() => process.getgid?.()))

    // A limit that the engine would ignore is not recorded as one of the engine.
    const { enforced } = facts.sandbox_profile as { readonly enforced: Record<string, readonly string[]> }
    const info = IS_PODMAN
      ? '{{.Host.CgroupControllers}}'
      : '{{if .MemoryLimit}}memory{{end}} {{if .PidsLimit}}pids{{end}}'
    const controllers = engine?.command('info', '--format', info) ?? ''
    const isLimited = (limit: string) => enforced[limit]?.includes('container: cgroup')
    expect(isLimited('limits.memory')).toBe(controllers.includes('memory'))
    expect(isLimited('limits.processes')).toBe(controllers.includes('pids'))
  })

  test('says whether it is rootless', (context) => {
    needs(context, engine !== undefined, problem ?? '')
    const { stdout } = cordon(['doctor', '--json'], { environment: { XDG_RUNTIME_DIR: runtimeFolder } })
    const { found } = (JSON.parse(stdout) as Diagnosis).engine
    expect(found).toMatchObject({ name: IS_PODMAN ? 'podman' : 'docker', rootless: ENGINE_KIND === 'rootless' })
  })
})

test('the sockets of a user come before those of the system, and a named one is the only one', () => {
  expect(engineSockets({}, 1000)).toEqual([
    '/run/user/1000/podman/podman.sock',
    '/run/user/1000/docker.sock',
    '/run/podman/podman.sock',
    '/var/run/docker.sock',
  ])
  expect(engineSockets({ DOCKER_HOST: 'unix:///named.sock' }, 1000)).toEqual(['/named.sock'])
  expect(engineSockets({ DOCKER_HOST: 'tcp://10.0.0.1:2375' }, 1000)).toEqual([])
})
