// For the comment on a pull request.
import type { Finding, Sentence } from 'cordon/manifest'

import type { Report } from './report-content.js'
import { UNUSED_FIX, shown } from './sentence-text.js'
import { counted } from 'cordon/commands'

/** GitHub refuses comments of more than 65,536 characters. */
const MOST_CHARACTERS = 60_000

export const markdown = ({ open, accepted, unused, baseline }: Report): string => {
  const title =
    open.length === 0
      ? `### Permissions: ${accepted.length === 0 ? 'nothing new' : `${counted(accepted.length, 'finding')}, all accepted`}`
      : `### Permissions: ${counted(open.length, 'finding')}${open.some(({ severity }) => severity === 'error') ? '' : ', no error'}`
  const blocks = [
    ...open.map(
      (finding) => `${item(finding)}  \n  ${details(finding)} · ${code(finding.fingerprint)}${more(finding)}`,
    ),
  ]
  const agreed = accepted.map(
    ({ finding, acceptance: { reason, by } }) =>
      `- ${sentenceOf(finding.sentence)}  \n  ${details(finding)} · accepted${by === undefined ? '' : ` by ${code(by)}`}: ${code(reason)}`,
  )
  return [
    title,
    '',
    `Compared with ${code(baseline)}.`,
    ...(blocks.length === 0 ? [] : ['', ...fitting(blocks)]),
    ...(agreed.length === 0 ? [] : ['', `#### Accepted`, '', ...fitting(agreed)]),
    ...(unused.length === 0
      ? []
      : [
          '',
          ...unused.map(
            ({ finding, fingerprint }) => `- no longer needed: the acceptance ${code(fingerprint)} of ${code(finding)}`,
          ),
          '',
          UNUSED_FIX,
        ]),
    ...(open.length === 0
      ? []
      : ['', 'To accept a finding: `cordon manifest verify --baseline … --accept FINGERPRINT --reason TEXT`']),
    '',
  ].join('\n')
}

const MARKS = { error: '**error**', warning: '**warning**', info: 'info' } as const

const item = ({ severity, sentence }: Finding): string => `- ${MARKS[severity]}: ${sentenceOf(sentence)}`

const details = ({ id, agent, server, source }: Finding): string =>
  [
    code(id),
    ...(agent === undefined ? [] : [`agent ${code(agent)}`]),
    ...(server === undefined ? [] : [`server ${code(server)}`]),
    ...(source === undefined ? [] : [code(source)]),
  ].join(' · ')

const more = ({ more: sentences }: Finding): string =>
  sentences.map((sentence) => `\n  - ${sentenceOf(sentence)}`).join('')

export const sentenceOf = (sentence: Sentence): string =>
  sentence.map((part) => (typeof part === 'string' ? part : code('name' in part ? part.name : part.value))).join('')

/** A code span, in which nothing is a link, a mention or HTML. Its fence is longer than any run of backticks inside. */
export const code = (text: string): string => {
  const seen = shown(text)
  if (seen === '') return '(empty)'
  const longest = Math.max(0, ...Array.from(seen.matchAll(/`+/g), ([run]) => run.length))
  const fence = '`'.repeat(longest + 1)
  const edge = /^[` ]|[` ]$/.test(seen) ? ' ' : ''
  return `${fence}${edge}${seen}${edge}${fence}`
}

const fitting = (blocks: readonly string[]): readonly string[] => {
  let left = MOST_CHARACTERS / 2
  const kept = blocks.filter((block) => (left -= block.length + 1) >= 0)
  return kept.length === blocks.length ? blocks : [...kept, `- … and ${String(blocks.length - kept.length)} more`]
}
