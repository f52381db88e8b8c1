// Attacks on the mounts of containers, and by images.
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'

import { describe, expect, test } from 'vitest'
import type { TestContext } from 'vitest'

import type { Cordon } from '../../src/runtime/index.js'
import { openStage } from '../runtime/stage.js'

import { IS_PODMAN, engineProblem, makeImageRoot, requireEngine, startEngine } from './engine.js'
import type { TestEngine } from './engine.js'
import { listenBefore } from './listen-before.js'
import { shellTool } from './shell-tool.js'

const problem = engineProblem()
const engine = problem === undefined ? await startEngine() : undefined
const stage = openStage()

const PROGRAMS = ['sh', 'cat', 'ls', 'mkdir', 'mv', 'true']
const image = engine?.image(makeImageRoot(join(engine.folder, 'root'), PROGRAMS)) ?? ''

const here = (context: TestContext): TestEngine => requireEngine(context, engine, problem)

const opened = async (
  context: TestContext,
  filesystem: Readonly<Record<string, readonly string[]>> = {},
  from = image,
  socket = here(context).socket,
): Promise<Cordon> => {
  const cordon = await stage.cordon({ tools: [shellTool(from, { filesystem })], containers: { socket } })
  context.onTestFinished(() => cordon.close())
  return cordon
}

const stdoutOf = async (cordon: Cordon, script: string) => {
  const result = await cordon.call('shell', { script })
  const { stdout = '' } = (result.status === 'ok' ? result.output : {}) as { readonly stdout?: string }
  return { result, stdout }
}

const withSecret = (): string => {
  const folder = stage.newFolder()
  writeFileSync(join(folder, 'secret'), 'SECRET OF THE HOST\n')
  return folder
}

/** An engine whose settings mount a folder of the host into every container. */
const meddling = IS_PODMAN && engine ? await startEngine(`volumes = ["${withSecret()}:/data:ro"]\n`) : undefined

describe('a name of a protected file', () => {
  test('cannot make the engine mount another folder', async (context) => {
    const [folder, elsewhere] = [stage.newFolder(), withSecret()]
    const cordon = await opened(context, { write: [folder] })
    const named = `${folder}/q,source=/,consistency=x`
    await cordon.call('shell', { script: `mkdir -p '${named}/.git/objects' '${named}/.git/refs'` })
    writeFileSync(`${named}/.git/HEAD`, 'ref: refs/heads/main\n')
    writeFileSync(`${named}/.git/config`, '[core]\n')
    const { result, stdout } = await stdoutOf(cordon, `cat ${folder}/q${elsewhere}/secret; true`)
    expect(stdout).not.toContain('SECRET')
    expect(result).toMatchObject({ status: 'not_started', facts: { error: { code: 'grant-inexpressible' } } })
  })

  test('that engines can mount keeps its file as it is', async (context) => {
    const folder = stage.newFolder()
    mkdirSync(join(folder, 'a folder'))
    const sealed = join(folder, 'a folder/.bashrc')
    writeFileSync(sealed, 'as it was\n')
    const cordon = await opened(context, { write: [folder] })
    const { result } = await stdoutOf(cordon, `echo changed > '${sealed}'; echo new > ${folder}/new`)
    expect(result.status).toBe('ok')
    expect(readFileSync(sealed, 'utf8')).toBe('as it was\n')
    expect(readFileSync(join(folder, 'new'), 'utf8')).toBe('new\n')
  })
})

describe('a carved-out name', () => {
  test.for([
    ['with a colon', Buffer.from('secret:rw')],
    ['with a comma', Buffer.from('secret,consistency=x')],
    ['that is no UTF-8', Buffer.from('secret\xff', 'latin1')],
  ] as const)('%s is refused', async ([, name], context) => {
    const folder = stage.newFolder()
    const path = Buffer.concat([Buffer.from(`${folder}/`), name])
    mkdirSync(path)
    writeFileSync(Buffer.concat([path, Buffer.from('/file')]), 'CARVED OUT\n')
    const cordon = await opened(context, { read: [folder, `!${folder}/secret*`] })
    const { result, stdout } = await stdoutOf(cordon, `cat ${folder}/secret*/file; true`)
    expect(stdout).not.toContain('CARVED OUT')
    expect(result).toMatchObject({ status: 'not_started', facts: { error: { code: 'grant-inexpressible' } } })
  })

  test('that engines can mount is empty in the container', async (context) => {
    const folder = stage.newFolder()
    mkdirSync(join(folder, 'secret'))
    writeFileSync(join(folder, 'secret/file'), 'CARVED OUT\n')
    const cordon = await opened(context, { read: [folder, `!${folder}/secret*`] })
    const { result, stdout } = await stdoutOf(cordon, `cat ${folder}/secret/file; ls ${folder}`)
    expect({ status: result.status, stdout }).toEqual({ status: 'ok', stdout: 'secret\n' })
  })
})

test('a folder that another program replaces by a link is never another folder', async (context) => {
  const [folder, elsewhere] = [stage.newFolder(), withSecret()]
  const [sub, other] = [join(folder, 'sub'), join(folder, 'other')]
  mkdirSync(sub)
  symlinkSync(elsewhere, other)
  const cordon = await opened(context, { write: [sub] })
  const swap = `
import ctypes, time
libc = ctypes.CDLL(None, use_errno=True)
while True:
    time.sleep(0.1)
    libc.renameat2(-100, b"${sub}", -100, b"${other}", 2)`
  const swapping = spawn('python3', ['-c', swap], { stdio: 'ignore' })
  context.onTestFinished(() => {
    swapping.kill()
  })
  const isLink = () => lstatSync(sub).isSymbolicLink()
  await expect.poll(isLink, { interval: 10, timeout: 20_000 }).toBe(true)
  const script = `cat ${sub}/secret; echo x > ${sub}/written`
  for (let calls = 0; calls < 8; calls += 1) expect((await stdoutOf(cordon, script)).stdout).not.toContain('SECRET')
  swapping.kill()
  await once(swapping, 'exit')
  expect(readdirSync(elsewhere)).toEqual(['secret'])

  if (isLink()) {
    rmSync(sub)
    renameSync(other, sub)
  }
  // A mount that showed something else has stopped the tool of the first runtime.
  const next = await opened(context, { write: [sub] })
  expect((await stdoutOf(next, script)).result.facts.error).toBeNull()
  expect(readdirSync(sub)).toEqual(['written'])
})

describe.runIf(IS_PODMAN)(
  'a folder that is a link when the engine mounts it, and a folder again before the tool starts',
  () => {
    const callWith = async (context: TestContext, replace: (sub: string, aside: string, elsewhere: string) => void) => {
      const [folder, elsewhere] = [stage.newFolder(), withSecret()]
      const [sub, aside] = [join(folder, 'sub'), join(folder, 'aside')]
      mkdirSync(sub)
      writeFileSync(join(sub, 'secret'), 'granted\n')
      // The next container is made during a call, so several may be between these two requests.
      const mounting = new Set<string>()
      const socket = await listenBefore(here(context).socket, stage.newFolder(), (line) => {
        const [, container = '', request] = /containers\/([0-9a-f]+)\/(attach|start)/.exec(line) ?? []
        // Podman mounts before it answers this.
        if (request === 'attach') {
          mounting.add(container)
          if (!existsSync(aside)) replace(sub, aside, elsewhere)
        }
        if (request !== 'start' || !mounting.delete(container) || mounting.size > 0 || !existsSync(aside)) return
        rmSync(sub)
        renameSync(aside, sub)
      })
      return stdoutOf(await opened(context, { read: [sub] }, image, socket), `cat ${sub}/secret`)
    }

    test('is refused', async (context) => {
      const { result, stdout } = await callWith(context, (sub, aside, elsewhere) => {
        renameSync(sub, aside)
        symlinkSync(elsewhere, sub)
      })
      expect(stdout).toBe('')
      expect(result).toMatchObject({
        status: 'not_started',
        facts: {
          error: { code: 'profile-mismatch', message: expect.stringContaining('shows something else') as string },
        },
      })
    })

    test('is mounted if nobody replaces it', async (context) => {
      const { result, stdout } = await callWith(context, () => undefined)
      expect({ status: result.status, stdout }).toEqual({ status: 'ok', stdout: 'granted\n' })
    })
  },
)

describe('a mount that nobody asked for', () => {
  test.runIf(IS_PODMAN)('by the settings of the engine is refused', async (context) => {
    here(context)
    if (meddling === undefined) return
    const made = meddling.image(makeImageRoot(join(meddling.folder, 'root'), PROGRAMS))
    const { result, stdout } = await stdoutOf(await opened(context, {}, made, meddling.socket), 'cat /data/secret')
    expect(stdout).toBe('')
    expect(result).toMatchObject({ status: 'not_started', facts: { error: { code: 'container-mount-unasked' } } })
  })

  test('by a volume of the image inside a granted folder is refused, and one beside it is empty', async (context) => {
    const { folder, image: importImage } = here(context)
    const granted = stage.newFolder()
    mkdirSync(join(granted, 'inside'))
    writeFileSync(join(granted, 'inside/file'), 'of the host\n')
    const root = makeImageRoot(join(folder, 'with-volumes'), PROGRAMS)
    const inside = importImage(root, [`VOLUME ${granted}/inside`])
    const covered = await stdoutOf(await opened(context, { read: [granted] }, inside), `cat ${granted}/inside/file`)
    expect(covered.result).toMatchObject({ facts: { error: { code: 'container-mount-unasked' } } })
    const beside = importImage(root, ['VOLUME /volume'])
    const cordon = await opened(context, { read: [granted] }, beside)
    const { result, stdout } = await stdoutOf(cordon, `cat ${granted}/inside/file; ls /volume`)
    expect({ status: result.status, stdout }).toEqual({ status: 'ok', stdout: 'of the host\n' })
  })
})

describe('a folder between a write root and something sealed or hidden', () => {
  test('cannot be moved away, and another folder can', async (context) => {
    const folder = stage.newFolder()
    for (const made of ['sub/.git/hooks', 'sub/.git/objects', 'sub/.git/refs', 'deep/secret', 'other'])
      mkdirSync(join(folder, made), { recursive: true })
    writeFileSync(join(folder, 'sub/.git/HEAD'), 'ref: refs/heads/main\n')
    writeFileSync(join(folder, 'sub/.git/config'), '[core]\n')
    writeFileSync(join(folder, 'deep/secret/key'), 'KEY\n')
    const cordon = await opened(context, { write: [folder], read: [`!${folder}/deep/secret`] })
    const moves = 'for each in sub/.git sub deep other; do mv $each $each-2 && echo moved $each; done'
    const script = `cd ${folder}; ${moves}; true`
    const { result, stdout } = await stdoutOf(cordon, script)
    expect({ status: result.status, stdout }).toEqual({ status: 'ok', stdout: 'moved other\n' })
    expect(readdirSync(folder).sort()).toEqual(['deep', 'other-2', 'sub'])
    expect(readdirSync(join(folder, 'sub'))).toEqual(['.git'])
  })
})

describe('an image', () => {
  test('with a volume in /proc gets no wider rules by its links', async (context) => {
    const { folder, image: importImage } = here(context)
    const root = makeImageRoot(join(folder, 'with-proc'), PROGRAMS)
    mkdirSync(join(root, 'proc/sys/vm'), { recursive: true })
    symlinkSync('/', join(root, 'proc/sys/vm/overcommit_memory'))
    writeFileSync(join(root, 'proc/sys/vm/max_map_count'), '1\n')
    const cordon = await opened(context, {}, importImage(root, ['VOLUME /proc/sys/vm']))
    const { result, stdout } = await stdoutOf(cordon, 'cat /proc/1/cmdline')
    expect({ status: result.status, stdout }).toEqual({ status: 'not_started', stdout: '' })
  })

  test('with a volume in the place of a device gets no folder to write to', async (context) => {
    const { folder, image: importImage } = here(context)
    const root = makeImageRoot(join(folder, 'with-device'), PROGRAMS)
    mkdirSync(join(root, 'dev/full'), { recursive: true })
    const cordon = await opened(context, {}, importImage(root, ['VOLUME /dev/full']))
    const { result } = await stdoutOf(cordon, 'echo x > /dev/full/x')
    expect(result.status).toBe('not_started')
  })

  test.runIf(IS_PODMAN)('with an annotation for the runtime is refused', async (context) => {
    const { command: podman, folder, image: importImage } = here(context)
    // An image of its own: Podman knows one by its configuration, whatever annotations it comes with.
    const plain = importImage(makeImageRoot(join(folder, 'annotated'), PROGRAMS), ['ENV ANNOTATED=yes'])
    // Podman names the image by this path, and takes lower case only.
    const layout = `/var/tmp/cordon-layout-${process.pid}`
    context.onTestFinished(() => {
      rmSync(layout, { recursive: true, force: true })
    })
    podman('save', '--quiet', '--format', 'oci-dir', '-o', layout, plain)
    // As a manifest of a registry would have it.
    execFileSync('python3', ['-c', ANNOTATE, layout])
    writeFileSync(join(folder, 'trust.json'), '{"default":[{"type":"insecureAcceptAnything"}]}')
    const pulled = podman('pull', '--quiet', '--signature-policy', join(folder, 'trust.json'), `oci:${layout}`)
    const cordon = await opened(context, {}, `sha256:${pulled.split('\n').at(-1)?.trim() ?? ''}`)
    const { result } = await stdoutOf(cordon, 'true')
    expect(result).toMatchObject({ status: 'not_started', facts: { error: { code: 'image-annotated' } } })
  })

  test('with a health check runs none in the container of a tool, and one in another container', async (context) => {
    const { folder, image: importImage, command, containers } = here(context)
    const root = makeImageRoot(join(folder, 'checked'), PROGRAMS)
    const line = 'HEALTHCHECK CMD ["/bin/sh", "-c", "true"]'
    // Podman imports none.
    const checked = IS_PODMAN ? buildImage(command, folder, importImage(root), line) : importImage(root, [line])
    const checkOf = (container: string): unknown =>
      JSON.parse(command('inspect', '--format', '{{json .Config.Healthcheck.Test}}', container))
    const cordon = await opened(context, {}, checked)
    expect((await stdoutOf(cordon, 'echo ran')).stdout).toBe('ran\n')
    // The next one waits for its call.
    await expect.poll(() => containers().length, { timeout: 20_000 }).toBe(1)
    expect(checkOf(containers()[0] ?? '')).toEqual(['NONE'])
    await cordon.close()
    const other = command('create', checked, 'true')
    expect(checkOf(other)).toEqual(['CMD', '/bin/sh', '-c', 'true'])
    command('rm', '--force', other)
  })

  test('with too many names in its root is refused, and this process lives on', async (context) => {
    const { folder, image: importImage } = here(context)
    const root = makeImageRoot(join(folder, 'crowded'), PROGRAMS)
    for (let names = 0; names < 400; names += 1) mkdirSync(join(root, `${'n'.repeat(100)}${names}`))
    const cordon = await opened(context, {}, importImage(root))
    const { result } = await stdoutOf(cordon, 'true')
    expect(result).toMatchObject({ status: 'not_started', facts: { error: { code: 'launcher-died' } } })
    const other = (await stdoutOf(await opened(context), 'true')).result
    expect({ status: other.status, error: other.facts.error }).toEqual({ status: 'ok', error: null })
  })
})

/** Makes an image of another one and one more line. */
const buildImage = (command: TestEngine['command'], folder: string, from: string, line: string): string => {
  const context = join(folder, 'context')
  mkdirSync(context)
  const [trust, file] = [join(folder, 'trust.json'), join(context, 'Dockerfile')]
  writeFileSync(trust, '{"default":[{"type":"insecureAcceptAnything"}]}')
  writeFileSync(file, `FROM ${from}\n${line}\n`)
  const words = ['--quiet', '--pull-never', '--signature-policy', trust, '--format', 'docker', '--file', file]
  return `sha256:${
    command('build', ...words, context)
      .split('\n')
      .at(-1)
      ?.trim() ?? ''
  }`
}

const ANNOTATE = `
import hashlib, json, sys
layout = sys.argv[1]
index = json.load(open(layout + '/index.json'))
entry = index['manifests'][0]
manifest = json.load(open(layout + '/blobs/sha256/' + entry['digest'][7:]))
manifest['annotations'] = {'run.oci.keep_original_groups': '1'}
text = json.dumps(manifest).encode()
name = hashlib.sha256(text).hexdigest()
open(layout + '/blobs/sha256/' + name, 'wb').write(text)
entry['digest'] = 'sha256:' + name
entry['size'] = len(text)
json.dump(index, open(layout + '/index.json', 'w'))`
