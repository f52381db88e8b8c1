// Attacks on the mounts of containers, and by images.
import { execFileSync, spawn } from 'node:child_process'
import { mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { describe, expect, test } from 'vitest'
import type { TestContext } from 'vitest'

import { containerTool } from '../../src/runtime/index.js'
import type { Cordon } from '../../src/runtime/index.js'
import { needs } from '../requirement.js'
import { openStage } from '../runtime/stage.js'

import { engineProblem, makeImageRoot, startEngine } from './engine.js'
import type { TestEngine } from './engine.js'

const problem = engineProblem()
const engine = problem === undefined ? await startEngine() : undefined
const stage = openStage()

const PROGRAMS = ['sh', 'cat', 'ls', 'mkdir', 'true']
const image = engine?.image(makeImageRoot(join(engine.folder, 'root'), PROGRAMS)) ?? ''

const here = (context: TestContext): TestEngine => {
  needs(context, engine !== undefined, problem ?? '')
  if (engine === undefined) throw new Error('no engine')
  return engine
}

const opened = async (
  context: TestContext,
  filesystem: Readonly<Record<string, readonly string[]>> = {},
  from = image,
): Promise<Cordon> => {
  const { socket } = here(context)
  const shell = containerTool({
    name: 'shell',
    image: from,
    policy: { filesystem },
    argumentGate: 'off',
    command: (input: { readonly script: string }) => ['sh', '-c', input.script],
  })
  const cordon = await stage.cordon({ tools: [shell], containers: { socket } })
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
  mkdirSync(join(folder, 'sub'))
  const cordon = await opened(context, { write: [join(folder, 'sub')] })
  const script = `
import ctypes, os, time
libc = ctypes.CDLL(None, use_errno=True)
one, other = b"${folder}/sub", b"${folder}/other"
os.symlink("${elsewhere}", other)
while True:
    time.sleep(0.1)
    libc.renameat2(-100, one, -100, other, 2)`
  const swapping = spawn('python3', ['-c', script], { stdio: 'ignore' })
  context.onTestFinished(() => {
    swapping.kill()
  })
  for (let calls = 0; calls < 8; calls += 1) {
    const { stdout } = await stdoutOf(cordon, `cat ${folder}/sub/secret; echo x > ${folder}/sub/written`)
    expect(stdout).not.toContain('SECRET')
  }
  expect(readdirSync(elsewhere)).toEqual(['secret'])
})

describe('an image', () => {
  test('with an annotation for the runtime is refused', async (context) => {
    const { podman, folder, image: importImage } = here(context)
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
