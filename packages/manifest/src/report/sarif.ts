// SARIF 2.1.0, for code scanning.
import { FINDING_IDS, FINDINGS } from 'cordon/manifest'
import type { Finding, Severity } from 'cordon/manifest'
import { jsonLine, version } from 'cordon/commands'

import type { Report } from './report-content.js'
import { placeOf, plainSentence } from './sentence-text.js'
import type { Acceptance } from '../verify/verify.js'

const LEVELS: Readonly<Record<Severity, string>> = { error: 'error', warning: 'warning', info: 'note' }

export const sarif = ({ open, accepted, manifestFile }: Report): string =>
  jsonLine({
    $schema: 'https://json.schemastore.org/sarif-2.1.0.json',
    version: '2.1.0',
    runs: [
      {
        tool: { driver: { name: 'cordon', version: version(), rules: FINDING_IDS.map(rule) } },
        columnKind: 'utf16CodeUnits',
        results: [
          ...open.map((finding) => result(finding, manifestFile)),
          ...accepted.map(({ finding, acceptance }) => ({
            ...result(finding, manifestFile),
            suppressions: [suppression(acceptance)],
          })),
        ],
      },
    ],
  })

const rule = (id: Finding['id']) => ({
  id,
  shortDescription: { text: FINDINGS[id].means },
  defaultConfiguration: { level: LEVELS[FINDINGS[id].severity] },
})

const result = (finding: Finding, manifestFile: string) => {
  const { id, severity, agent, server, tool, sentence, more, source, witnesses, fingerprint } = finding
  const { file, line = 1 } = placeOf(source ?? manifestFile)
  return {
    ruleId: id,
    ruleIndex: FINDING_IDS.indexOf(id),
    level: LEVELS[severity],
    message: { text: [sentence, ...more].map((each) => inMessage(plainSentence(each))).join('. ') },
    locations: [
      {
        physicalLocation: {
          artifactLocation: { uri: uriOf(file), uriBaseId: '%SRCROOT%' },
          region: { startLine: line },
        },
      },
    ],
    partialFingerprints: { 'cordonFinding/v1': fingerprint },
    properties: { agent: agent ?? null, server: server ?? null, tool: tool ?? null, witnesses },
  }
}

/** In a message, brackets make links and braces are placeholders. */
const inMessage = (text: string): string =>
  text
    .replace(/[\\[\]]/g, (character) => `\\${character}`)
    .replaceAll('{', '{{')
    .replaceAll('}', '}}')

const uriOf = (file: string): string => file.split('/').map(encodeURIComponent).join('/')

const suppression = ({ reason }: Acceptance) => ({ kind: 'external', status: 'accepted', justification: reason })
