// deploy/Dockerfile is pinned and ends as a user who is not root. test/deploy/image.matrix.test.ts builds it.
import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'

import { expect, test } from 'vitest'

import { DEPLOY, IMAGE, ROOT, deployFile } from './deploy-files.js'

const TEXT = deployFile('Dockerfile')
const LINES = TEXT.replaceAll('\\\n', ' ')
  .split('\n')
  .filter((line) => line !== '' && !line.startsWith('#'))
const wordsAfter = (instruction: string): readonly string[] =>
  LINES.flatMap((line) => (line.startsWith(`${instruction} `) ? [line.slice(instruction.length + 1)] : []))

test('the image is built from images of one version, by their digests', () => {
  const images = wordsAfter('ARG').map(
    (line) => /^(\w+)=docker\.io\/library\/node:([\d.]+-[a-z]+)(?:-slim)?@sha256:[0-9a-f]{64}$/.exec(line) ?? [line],
  )
  expect(images.map(([, name]) => name)).toEqual(['BUILD_IMAGE', 'BASE_IMAGE'])
  expect(new Set(images.map(([, , version]) => version)).size).toBe(1)
  expect(wordsAfter('FROM')).toEqual(['${BUILD_IMAGE} AS build', '${BASE_IMAGE}'])
})

test('nothing is fetched but the packages of package-lock.json', () => {
  const run = wordsAfter('RUN').flatMap((line) => line.split('&&').map((part) => part.trim()))
  expect(run.filter((line) => /^(?:npm (?:ci|install|exec)|npx|curl|wget|apt\S*|git)\b/.test(line))).toEqual(['npm ci'])
  expect(wordsAfter('ADD')).toEqual([])
})

test('it ends as a user who is not root, by number', () => {
  const [user = ''] = wordsAfter('USER').slice(-1)
  expect(user).toMatch(/^[1-9]\d*:[1-9]\d*$/)
  const after = LINES.slice(LINES.indexOf(`USER ${user}`))
  expect(after.filter((line) => line.startsWith('RUN'))).toEqual([])
})

test('the build sees no file but those that it needs', () => {
  const [first, ...rules] = readFileSync(join(ROOT, '.dockerignore'), 'utf8')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
  expect(first).toBe('*')
  const seen = rules.flatMap((rule) => (rule.startsWith('!') ? [rule.slice(1)] : []))
  for (const place of ['.git', 'deploy', 'test', 'node_modules', 'build', 'dist']) expect(seen).not.toContain(place)
  expect(seen).toEqual(expect.arrayContaining(['package.json', 'package-lock.json', 'packages', 'scripts']))
})

const PLAIN_TEXT = readdirSync(DEPLOY).filter((name) => name !== 'tools' && !name.endsWith('.json'))

test('every file of deploy/ is tried by some test', () => {
  expect(PLAIN_TEXT).toEqual([
    ...['Dockerfile', 'apparmor-cordon', 'cordon-runner.service', 'cordon-serve.service', 'docker-compose.yaml'],
    ...['kubernetes.yaml', 'logins.sql'],
  ])
})

test.each(PLAIN_TEXT.filter((name) => name !== 'apparmor-cordon'))(
  '%s asks for no privileges, and for nothing whose version is open',
  (name) => {
    const text = deployFile(name)
    expect(text).not.toMatch(/unconfined|privileged|hostNetwork|hostPID|hostPath|cap_add|CAP_|SYS_ADMIN/)
    expect(text).not.toMatch(/\bnpx\b|:latest\b/)
    for (const [name] of text.matchAll(/\bcordon:\d[\w.]*/g)) expect(name).toBe(IMAGE)
  },
)
