import type { Finding } from 'cordon/manifest'
import { counted, paintFor, STDOUT } from 'cordon/commands'
import type { Paint } from 'cordon/commands'

import type { Report } from './report-content.js'
import { UNUSED_FIX, ownerText, plainSentence, shown } from './sentence-text.js'
import { isFailing } from '../verify/verify.js'

export const textReport = (report: Report): string => {
  const { open, accepted, unused, environment } = report
  const paint = paintFor(STDOUT, environment)
  const lines = [
    ...open.flatMap((finding) => findingLines(finding, paint)),
    ...accepted.flatMap(({ finding, acceptance: { reason } }) => [
      `${paint('green', 'accepted')} ${plainSentence(finding.sentence)}`,
      ...indented(paint, `${finding.id} · reason: ${shown(reason)}`),
    ]),
    summary(report),
    ...(unused.length === 0
      ? []
      : [
          ...unused.map(
            ({ finding, fingerprint }) => `no longer needed: the acceptance ${shown(fingerprint)} of ${shown(finding)}`,
          ),
          UNUSED_FIX,
        ]),
    ...(isFailing(report)
      ? ['To accept a finding: cordon manifest verify --baseline … --accept FINGERPRINT --reason TEXT']
      : []),
  ]
  return `${lines.join('\n')}\n`
}

const COLOURS = { error: 'red', warning: 'yellow', info: 'dim' } as const

const findingLines = (finding: Finding, paint: Paint): readonly string[] => {
  const { id, severity, sentence, more, source, fingerprint } = finding
  return [
    `${paint(COLOURS[severity], severity)} ${plainSentence(sentence)}`,
    ...more.flatMap((each) => indented(paint, plainSentence(each))),
    ...indented(
      paint,
      [id, ownerText(finding), source === undefined ? '' : shown(source), fingerprint]
        .filter((text) => text !== '')
        .join(' · '),
    ),
  ]
}

const indented = (paint: Paint, text: string): readonly string[] => [`  ${paint('dim', text)}`]

const summary = ({ open, accepted, baseline }: Report): string =>
  open.length === 0 && accepted.length === 0
    ? `No tool can do more than in ${shown(baseline)}.`
    : `${counted(open.length, 'finding')}, ${String(accepted.length)} accepted, compared with ${shown(baseline)}.`
