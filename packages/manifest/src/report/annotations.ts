// Workflow commands of GitHub Actions, which show findings beside the code.
import type { Finding } from 'cordon/manifest'

import type { Report } from './report-content.js'
import { placeOf, plainSentence, shown } from './sentence-text.js'

export const annotations = ({ open, accepted }: Report): string =>
  [
    ...open.map((finding) => command(LEVELS[finding.severity], finding, messageOf(finding))),
    ...accepted.map(({ finding, acceptance: { reason } }) =>
      command('notice', finding, `accepted: ${messageOf(finding)} (${shown(reason)})`),
    ),
  ]
    .map((line) => `${line}\n`)
    .join('')

const messageOf = ({ sentence, more }: Finding): string => [sentence, ...more].map(plainSentence).join('\n')

const LEVELS = { error: 'error', warning: 'warning', info: 'notice' } as const

const command = (level: string, { id, source }: Finding, message: string): string => {
  const place = source === undefined ? undefined : placeOf(source)
  const properties = [
    ...(place === undefined ? [] : [`file=${property(place.file)}`]),
    ...(place?.line === undefined ? [] : [`line=${String(place.line)}`]),
    `title=${property(id)}`,
  ]
  return `::${level} ${properties.join(',')}::${data(message)}`
}

// As @actions/core escapes them.
const data = (text: string): string => text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A')
const property = (text: string): string => data(text).replaceAll(':', '%3A').replaceAll(',', '%2C')
