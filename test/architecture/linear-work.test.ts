// Functions that read texts of tools, servers and files, called with repeated pieces. linear-time.test.ts checks
// their patterns.
import { expect, test } from 'vitest'

import { oneLine } from '../../packages/core/src/line/text/console-text.js'
import { readBoundedJson } from '../../packages/core/src/gate/input/bounded-json.js'
import { readCommand } from '../../packages/core/src/gate/commands/command-line.js'
import { redactText } from '../../packages/core/src/runtime/events/redact.js'
import { readEvents } from '../../packages/team/src/store/remote-access.js'
import { expectLinear } from '../linear.js'

const PIECES = [
  ' ',
  '\t',
  '\n',
  '\u00a0',
  'a',
  '/',
  '"',
  "'",
  '"\\',
  '$(',
  '`',
  ';',
  '-eyJ',
  'eyJ-',
  'eyJ',
  'a://b:',
  'token=',
  '-----BEGIN ',
  'sh -c ',
  '((',
  '$((',
  '${',
  'a[',
  '\\\n',
  'cat <<E\n',
  'case x in ',
]

const inPieces = (text: string): readonly string[] =>
  Array.from({ length: Math.ceil(text.length / 7) }, (_, at) => text.slice(7 * at, 7 * at + 7))

const WORK: Readonly<Record<string, (text: string) => unknown>> = {
  'redaction of records': (text) => redactText(`token ${text}`),
  'one line for a terminal': oneLine,
  'arguments in JSON': (text) =>
    readBoundedJson(
      Buffer.from(JSON.stringify({ text, list: [text] })),
      { bytes: Infinity, elements: Infinity, depth: Infinity },
      'unique',
    ),
  'a command line': readCommand,
  'events of a server': (text) => {
    const read = readEvents(() => undefined)
    for (const piece of inPieces(text)) read(piece)
  },
}

test.each(Object.entries(WORK))('%s takes linear time', async (name, work) => {
  for (const piece of PIECES)
    await expectLinear(`${name}, ${JSON.stringify(piece)}`, (size) => work(piece.repeat(size / piece.length)))
})

test('the fast functions still find the same things', () => {
  const token = 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmN'
  expect(redactText(`Cookie: id=${token}; x-${token}`)).not.toContain('eyJhbGci')
  expect(redactText('the word eyJ alone, and a.file.name')).toBe('the word eyJ alone, and a.file.name')
  expect(oneLine('a  \n\n b\tc \n')).toBe(oneLine('a b\tc '))
  const heard: string[] = []
  const read = readEvents(({ data }) => {
    heard.push(data)
  })
  for (const piece of [
    'event: a\ndata: 1\n',
    '\nevent: a\nda',
    'ta: 2\n\nevent: a\ndata: 3\n\n',
    'event: a\ndata: 4',
    '\n',
    '\n',
  ])
    read(piece)
  expect(heard).toEqual(['1', '2', '3', '4'])
})
