import type { Finding } from 'cordon/manifest'
import { jsonLine } from 'cordon/commands'

import type { Report } from './report-content.js'
import { plainSentence } from './sentence-text.js'
import { isFailing } from '../verify/verify.js'

export const jsonReport = (report: Report): string =>
  jsonLine({
    passed: !isFailing(report),
    baseline: report.baseline,
    manifest_hash: report.hash,
    findings: report.open.map(findingValue),
    accepted: report.accepted.map(({ finding, acceptance }) => ({
      ...findingValue(finding),
      reason: acceptance.reason,
    })),
    unused_acceptances: report.unused,
  })

const findingValue = ({
  id,
  severity,
  agent,
  server,
  tool,
  source,
  sentence,
  more,
  witnesses,
  fingerprint,
}: Finding) => ({
  id,
  severity,
  agent: agent ?? null,
  server: server ?? null,
  tool: tool ?? null,
  source: source ?? null,
  sentence: plainSentence(sentence),
  more: more.map(plainSentence),
  witnesses,
  fingerprint,
})
