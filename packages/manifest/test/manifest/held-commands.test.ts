// `cordon run --manifest` and `cordon why`.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { expect, test } from 'vitest'

import { cordon as commandLine } from '../../../core/test/cli/cordon.js'

import { project } from './project-stage.js'

test('a command runs within a policy of the manifest, and cordon why names manifest, hash and verdict', () => {
  const folder = project({
    'cordon.config.json': '{ "policies": ["policies/build.yaml"] }',
    'policies/build.yaml': 'presets: [system]\nfilesystem: { read: [./src] }\nenvironment: [PIN=1234]\n',
    'src/a.txt': 'hello',
  })
  const environment = { HOME: '/var/empty', CORDON_AUDIT: join(folder, '..', 'audit.jsonl') }
  const cordon = (...words: readonly string[]) => commandLine(words, { cwd: folder, environment })
  expect(cordon('manifest', 'generate').status).toBe(0)
  const file = join(folder, 'cordon.manifest.json')
  const { hash } = JSON.parse(readFileSync(file, 'utf8')) as { readonly hash: string }
  const run = (...words: readonly string[]) => cordon('run', '--manifest', 'cordon.manifest.json', ...words)

  const policy = ['--policy', './policies/build.yaml']
  expect(run(...policy, '--', 'cat', 'src/a.txt')).toMatchObject({ status: 0, stdout: 'hello' })
  expect(cordon('why', 'last').stdout).toMatch(new RegExp(`manifest +within cordon\\.manifest\\.json \\(${hash}\\)`))

  const beyond = run(...policy, '--read', '/etc', '--', 'true')
  expect(beyond.status).toBe(125)
  expect(beyond.stderr).toContain('manifest-exceeded')
  expect(beyond.stderr).toContain('/etc')
  expect(run(...policy, '--env', 'PIN=5678', '--', 'true').status).toBe(125)

  const missing = cordon('run', '--manifest', 'missing.json', '--', 'true')
  expect(missing).toMatchObject({ status: 125, stderr: expect.stringContaining('there is no such file') as string })
  writeFileSync(join(folder, 'none.config.json'), '{}')
  expect(cordon('manifest', 'generate', '--config', 'none.config.json', '--out', 'none.json').status).toBe(0)
  expect(cordon('run', '--manifest', 'none.json', ...policy, '--', 'true').stderr).toMatch(/fix: .*under policies in/)

  const above = run('--workspace', '/', '--read', 'src', '--', 'true')
  expect(above).toMatchObject({ status: 125, stderr: expect.stringContaining('holds the home') as string })

  writeFileSync(file, readFileSync(file, 'utf8').replace('./src', './'))
  expect(run(...policy, '--', 'true')).toMatchObject({ status: 125, stderr: expect.stringContaining('hash') as string })
})
